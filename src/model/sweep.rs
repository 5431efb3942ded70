//! What a sweep says about itself: `sweep.json` in its folder, beside the recordings of its runs.
//! Fields are only added; a reader meets unknown fields and missing optional ones without complaint.

use super::{HostFacts, Note, OpsSpec, Region, Target};
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// What changes from point to point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Width {
    /// The program's threads: its command line is told.
    Threads,
    /// The CPUs it may run on.
    Cpus,
}

/// How runs get their CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// One per physical core first, a node after the other, siblings last.
    Cores,
    /// A core's siblings first, then the next core.
    Smt,
    /// One per physical core, the nodes in turn.
    Spread,
    /// Nothing is pinned.
    None,
}

/// A sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepMeta {
    /// Format version: readers refuse a higher major number.
    pub format: (u16, u16),
    /// Version of the program that wrote it.
    pub tool: String,
    /// The machine.
    pub host: HostFacts,
    /// Command and arguments as typed, `{threads}` and `{cpus}` in place; empty for something that ran already.
    pub command: Vec<String>,
    /// What was swept while it ran; `None` for a command.
    #[serde(default)]
    pub target: Option<Target>,
    /// What changes.
    pub width: Width,
    /// The widths, ascending.
    pub widths: Vec<u32>,
    /// Runs of each.
    pub repeats: u32,
    /// What the random order came from.
    pub seed: u64,
    /// How runs get their CPUs.
    pub placement: Placement,
    /// How operations are counted.
    #[serde(default)]
    pub ops: Option<OpsSpec>,
    /// How long each run is measured; `None`: until it ends.
    #[serde(default)]
    pub duration: Option<Nanos>,
    /// The beginning of each run that is not measured.
    #[serde(default)]
    pub leave_out: Nanos,
    /// Start, nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// The runs in the order they are made.
    pub runs: Vec<RunMeta>,
    /// Fallbacks taken and limits met.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// Whether it was ended before its last run.
    #[serde(default)]
    pub stopped: bool,
}

/// One run of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunMeta {
    /// Threads, or CPUs.
    pub n: u32,
    /// Which repeat of this width, from 1.
    pub repeat: u32,
    /// The CPUs it may run on; empty: all.
    pub cpus: Vec<u32>,
    /// What these CPUs are.
    pub region: Region,
    /// Its recording, relative to the sweep's folder.
    pub recording: String,
    /// How it fares.
    pub state: RunState,
}

/// How a run fares.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It is still to come, or never came.
    Planned,
    /// It is being made, or was when the sweep was killed.
    Running,
    /// It is over, and its recording counts.
    Done {
        /// Its length, nanoseconds.
        wall_ns: u64,
    },
    /// It does not count.
    Failed {
        /// Why, in a sentence.
        reason: String,
    },
}

impl SweepMeta {
    /// Runs that are over, whether they count or not.
    #[must_use]
    pub fn over(&self) -> usize {
        self.runs.iter().filter(|run| matches!(run.state, RunState::Done { .. } | RunState::Failed { .. })).count()
    }
}
