//! Where samples are taken, and what of a capture's records was lost.

use super::LossKind;
use serde::{Deserialize, Serialize};

/// Where samples are taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SampleSource {
    /// On each thread: what it has run since its last sample is lost when it ends.
    #[default]
    Threads,
    /// On whole CPUs, and of others' samples none is kept: how long a thread lives makes no difference.
    Cpus,
}

/// One kind of the kernel's records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordCount {
    /// As a loss of it is called.
    pub kind: LossKind,
    /// Records that were read.
    pub read: u64,
    /// Records that were lost because a buffer was full.
    pub lost: u64,
}
