//! A sweep's metadata: `sweep.json` in its folder, next to the recordings of its runs.
//! The format only gains fields. Readers accept unknown fields and missing optional ones.

use super::{HostFacts, Note, OpsSpec, Target};
use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// The quantity that varies between points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Width {
    /// The program's threads, passed on its command line.
    Threads,
    /// The CPUs it may run on.
    Cpus,
}

/// How runs get their CPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// One per physical core first, node by node, siblings last.
    Cores,
    /// A core's siblings first, then the next core.
    Smt,
    /// One per physical core, alternating between nodes.
    Spread,
    /// No pinning.
    None,
}

/// A sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SweepMeta {
    /// Format version. Readers reject a higher major number.
    pub format: (u16, u16),
    /// Version of the program that wrote it.
    pub tool: String,
    /// The machine.
    pub host: HostFacts,
    /// Command and arguments as typed, including `{threads}` and `{cpus}`; empty for a running target.
    pub command: Vec<String>,
    /// The running target that was swept; `None` for a command.
    #[serde(default)]
    pub target: Option<Target>,
    /// The quantity that varies.
    pub width: Width,
    /// The widths, ascending.
    pub widths: Vec<u32>,
    /// Runs per width.
    pub repeats: u32,
    /// The seed of the random order.
    pub seed: u64,
    /// How runs get their CPUs.
    pub placement: Placement,
    /// How operations are counted.
    #[serde(default)]
    pub ops: Option<OpsSpec>,
    /// Measured duration of each run; `None` means until it ends.
    #[serde(default)]
    pub duration: Option<Nanos>,
    /// Length of the unmeasured beginning of each run.
    #[serde(default)]
    pub leave_out: Nanos,
    /// Start, nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// The runs in order of execution.
    pub runs: Vec<RunMeta>,
    /// Fallbacks taken and limits reached.
    #[serde(default)]
    pub notes: Vec<Note>,
    /// Whether it was stopped before its last run.
    #[serde(default)]
    pub stopped: bool,
}

/// One run of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunMeta {
    /// Number of threads or CPUs.
    pub n: u32,
    /// The repeat of this width, from 1.
    pub repeat: u32,
    /// The CPUs it may run on; empty means all.
    pub cpus: Vec<u32>,
    /// The region of these CPUs.
    pub region: Region,
    /// Its recording, relative to the sweep's folder.
    pub recording: String,
    /// Its state.
    pub state: RunState,
}

/// The state of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Not started yet, or never started.
    Planned,
    /// In progress, or in progress when the sweep was killed.
    Running,
    /// Finished, and its recording counts.
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
    /// Number of finished runs, whether they count or not.
    #[must_use]
    pub fn over(&self) -> usize {
        self.runs.iter().filter(|run| matches!(run.state, RunState::Done { .. } | RunState::Failed { .. })).count()
    }
}

/// What a run's CPUs add to those of the next smaller run. Capacity changes where siblings or another node join: no law
/// is fitted across that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Region {
    /// One thread per physical core of one node.
    Cores,
    /// Additional nodes have joined: this many are in use.
    Nodes(u32),
    /// SMT siblings share cores.
    Smt,
    /// More threads than CPUs.
    Oversubscribed,
    /// Nothing was pinned, or the machine's topology is unknown.
    Unplaced,
}

impl Region {
    /// A word for charts.
    #[must_use]
    pub fn label(self) -> String {
        match self {
            Region::Cores => "cores".to_string(),
            Region::Nodes(nodes) => format!("{nodes} nodes"),
            Region::Smt => "SMT".to_string(),
            Region::Oversubscribed => "oversubscribed".to_string(),
            Region::Unplaced => "unplaced".to_string(),
        }
    }
}
