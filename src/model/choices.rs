//! What can be profiled on a machine, as a user chooses from it.

use crate::model::{Measure, Why};
use serde::Serialize;

/// A process.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProcessChoice {
    /// Process id.
    pub pid: u32,
    /// Its parent's id; 0 for processes that the kernel started.
    pub parent: u32,
    /// Its name, as truncated by the kernel.
    pub comm: String,
    /// Its command line; empty for kernel threads.
    pub command: String,
    /// Number of threads.
    pub threads: u32,
    /// CPUs it kept busy since the last listing, on average.
    pub cpu: Measure<f64>,
    /// Resident memory, bytes.
    pub memory: Measure<u64>,
    /// Whether the user is likely to want it: a process of the same user, or any process if the user is root.
    pub ours: bool,
    /// Whether it is an ancestor of this program: its shell, the terminal, init.
    pub above: bool,
}

/// A control group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CgroupChoice {
    /// Its path below the hierarchy's root, e.g. `/system.slice/redis.service`.
    pub path: String,
    /// Number of processes in it and below it.
    pub processes: usize,
    /// CPUs it kept busy since the last listing, on average.
    pub cpu: Measure<f64>,
}

/// The machine as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MachineChoice {
    /// CPUs that are online.
    pub cpus: usize,
    /// CPUs that were busy since the last listing, on average.
    pub cpu: Measure<f64>,
}

impl Default for MachineChoice {
    fn default() -> Self {
        MachineChoice { cpus: 0, cpu: Measure::Missing(Why::NotRecorded) }
    }
}
