//! View model: what the user can choose from if no target was named.

mod arrange;
mod matching;
mod words;

pub use arrange::{CgroupRow, ProcessRow, cgroups, processes, recordings};
pub use matching::Filter;
pub use words::{age, length};

pub use crate::model::{CgroupChoice, MachineChoice, ProcessChoice};

use serde::Serialize;
use std::path::PathBuf;

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
    /// A recording, or a sweep on disk.
    File(PathBuf),
    /// A sweep to start: the arguments of `ironlaw sweep` as typed.
    Sweep(String),
    /// The recording of a run of the open sweep, by its width; the widest without one.
    Run(Option<u32>),
}
