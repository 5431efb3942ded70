//! Where samples are taken, and how many of a capture's records were lost.

use super::LossKind;
use serde::{Deserialize, Serialize};

/// Where samples are taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SampleSource {
    /// On each thread. When a thread ends, its run time since its last sample is lost.
    #[default]
    Threads,
    /// On whole CPUs, dropping the samples of other processes. The lifetime of a thread makes no difference.
    Cpus,
}

/// Counts of one kind of kernel record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordCount {
    /// The kind, as in losses.
    pub kind: LossKind,
    /// Number of records read.
    pub read: u64,
    /// Number of records lost because a buffer was full.
    pub lost: u64,
}
