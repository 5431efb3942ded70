//! View model: what the user can choose from if no target was named.

mod arrange;
mod matching;
mod words;

pub use arrange::{CgroupRow, ProcessRow, cgroups, processes, recordings};
pub use matching::Filter;
pub use words::{age, length};

use crate::model::{Measure, Why};
use serde::Serialize;
use std::path::PathBuf;

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

/// A recording.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecordingChoice {
    /// Its directory.
    pub path: PathBuf,
    /// What was profiled.
    pub target: String,
    /// Start, nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// Length, seconds; `None` if the capture was killed.
    pub duration_s: Option<f64>,
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

/// All choices.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Choices {
    /// The machine.
    pub machine: MachineChoice,
    /// Processes, by id; without kernel threads and this program.
    pub processes: Vec<ProcessChoice>,
    /// Control groups with processes, by path; a parent comes before its children.
    pub cgroups: Vec<CgroupChoice>,
    /// Recordings in the listed directory, newest first.
    pub recordings: Vec<RecordingChoice>,
    /// Current time, nanoseconds since the Unix epoch, to compute the age of recordings.
    pub unix_ns: u64,
    /// What could not be listed, and why.
    pub problem: Option<String>,
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// A process with all its threads.
    Process(u32),
    /// A control group, by its path.
    Cgroup(String),
    /// The whole machine.
    Machine,
    /// A command to start, as typed.
    Command(String),
    /// A recording.
    Recording(PathBuf),
}
