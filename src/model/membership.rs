//! Which control group each thread was in, and from when.

use crate::units::Nanos;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// Where a membership comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum MembershipSource {
    /// A sample carried it: exact at that moment.
    Sample,
    /// `/proc/PID/cgroup`, when the task was first seen.
    Process,
    /// The task that created it: a task is born into its parent's group.
    Parent,
}

/// The control group of a thread from a moment on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Membership {
    /// Time since the recording's start.
    pub at: Nanos,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// The group's path from the root of its hierarchy, `/` for the root.
    #[serde(serialize_with = "path", deserialize_with = "shared_path")]
    pub cgroup: Arc<str>,
    /// Where it comes from.
    pub source: MembershipSource,
}

fn path<S: Serializer>(cgroup: &Arc<str>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(cgroup)
}

fn shared_path<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<str>, D::Error> {
    String::deserialize(from).map(Arc::from)
}
