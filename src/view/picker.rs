//! View model: what there is to choose from when no target was named. It never opens anything.

use crate::model::Measure;
use serde::Serialize;
use std::path::PathBuf;

/// A process.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProcessChoice {
    /// Process id.
    pub pid: u32,
    /// Its parent's id; 0 for those the kernel started.
    pub parent: u32,
    /// Its name, as the kernel cuts it.
    pub comm: String,
    /// Its command line; empty for kernel threads.
    pub command: String,
    /// Threads.
    pub threads: u32,
    /// CPUs it kept busy since the last listing, mean.
    pub cpu: Measure<f64>,
    /// Resident memory, bytes.
    pub memory: Measure<u64>,
}

/// A control group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CgroupChoice {
    /// Its path below the hierarchy's root, e.g. `/system.slice/redis.service`.
    pub path: String,
    /// Processes in it and below.
    pub processes: usize,
    /// CPUs it kept busy since the last listing, mean.
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
    /// Length, seconds; `None` if it was killed.
    pub duration_s: Option<f64>,
}

/// All of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Choices {
    /// Processes, by id.
    pub processes: Vec<ProcessChoice>,
    /// Control groups with processes, by path; a parent comes before its children.
    pub cgroups: Vec<CgroupChoice>,
    /// Recordings here, newest first.
    pub recordings: Vec<RecordingChoice>,
    /// Now, nanoseconds since the Unix epoch: recordings are shown with their age.
    pub unix_ns: u64,
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// A process, all its threads.
    Process(u32),
    /// A control group, by its path.
    Cgroup(String),
    /// Everything that runs.
    Machine,
    /// A command to start, as typed.
    Command(String),
    /// A recording.
    Recording(PathBuf),
}
