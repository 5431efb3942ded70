//! Where samples and waits come from, and how many of a capture's records were lost.

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

/// A source of off-CPU records, the most complete one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitSource {
    /// Sums that programs in the kernel keep: every duration and wake-up by thread and state, and the stacks of a part.
    KernelSums,
    /// The scheduler's tracepoints: state and stack of every thread that switches out, and every wake-up.
    Tracepoints,
    /// The software event `context-switches`: the stack of every thread that switches out.
    SwitchEvents,
    /// Context-switch records of the user's own processes: every duration. Causes are sampled from `/proc`.
    SwitchRecords,
}

impl WaitSource {
    /// A short description of what it records.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            WaitSource::KernelSums => {
                "sums kept in the kernel: every duration and wake-up; the stacks of all long waits and of a part of the short ones"
            }
            WaitSource::Tracepoints => "scheduler tracepoints: every switch with its stack, every wake-up",
            WaitSource::SwitchEvents => "context-switch events: every switch with its stack",
            WaitSource::SwitchRecords => {
                "context-switch records: every duration; cause and call path sampled from /proc"
            }
        }
    }

    /// What it cannot observe; empty for the source without blind spots.
    #[must_use]
    pub fn blind_spot(self) -> &'static str {
        match self {
            WaitSource::KernelSums => "causes and call paths of short waits are shared out by those that were seen",
            WaitSource::Tracepoints => "",
            WaitSource::SwitchEvents => "wake-ups are not seen, so time blocked includes the wait for a CPU after them",
            WaitSource::SwitchRecords => {
                "wake-ups are not seen, so time blocked includes the wait for a CPU after them; causes and call paths \
                 of short waits are estimates"
            }
        }
    }
}
