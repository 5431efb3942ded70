//! How a target usually behaves: the windows of recordings that were called normal, and where its CPU time went in them.
//! It holds no statistics: those are worked out of the windows, so that a baseline can be extended.

use super::{HostFacts, OpsSpec};
use serde::{Deserialize, Serialize};

/// The version of the file; readers refuse a higher major number.
pub const BASELINE_FORMAT: (u16, u16) = (1, 1);

/// A baseline: one JSON document, `NAME.baseline`, or `baseline.json` within a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Format version.
    pub format: (u16, u16),
    /// Version of the program that wrote it.
    pub tool: String,
    /// Whose behaviour it is, and where.
    pub key: BaselineKey,
    /// The recordings it was made of.
    pub sources: Vec<BaselineSource>,
    /// Names of the quantities (as of `analysis::compare`), in the order of the windows' cells.
    pub quantities: Vec<String>,
    /// The windows, in the order of their sources.
    pub windows: Vec<BaselineWindow>,
    /// Where the CPU time went, most first; the rarest stacks are left out.
    pub stacks: Vec<BaselineStack>,
    /// CPU time of all windows, nanoseconds, that of left out stacks included.
    pub cpu_ns: f64,
    /// Operations of all windows; `None` where they were not counted.
    pub ops: Option<f64>,
}

/// What must be alike for a baseline to speak of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineKey {
    /// The machine.
    pub host: HostFacts,
    /// What was profiled, as its target's label.
    pub target: String,
    /// The program most samples were taken in: path as the target saw it.
    pub program: Option<String>,
    /// What it was started by, where that is another name of the same file: for people.
    #[serde(default)]
    pub called: Option<String>,
    /// Its build-id in hexadecimal.
    pub build_id: Option<String>,
    /// The CPUs it was confined to, by the target or a sweep; empty: not confined.
    pub cpus: Vec<u32>,
    /// The CPUs that its own affinity and its control group left it; empty: all of them. `None`: not known.
    #[serde(default)]
    pub allowed: Option<Vec<u32>>,
    /// How operations were counted.
    pub ops: Option<OpsSpec>,
}

/// A recording that a baseline was made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineSource {
    /// What the user called it.
    pub name: String,
    /// Start, nanoseconds since the Unix epoch: two of the same are one recording.
    pub started_unix_ns: u64,
    /// Its length, seconds.
    pub seconds: f64,
    /// How many of the windows are its.
    pub windows: usize,
}

/// One window of a source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineWindow {
    /// Position in the sources.
    pub source: u32,
    /// When it ended, since its recording's start, nanoseconds.
    pub at_ns: u64,
    /// Its length, nanoseconds.
    pub span_ns: u64,
    /// For each quantity what was spent and what it was spent on; `None` where it was not measured.
    pub cells: Vec<Option<[f64; 2]>>,
}

/// A call path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineStack {
    /// Function names, outermost first.
    pub frames: Vec<String>,
    /// CPU time spent in it, nanoseconds.
    pub cpu_ns: f64,
    /// The samples that say so; `None` in what was learnt before they were kept (format 1.0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
}
