//! A target's normal behaviour: the windows of recordings that the user declared normal, and where their CPU time went.
//! Stores windows instead of statistics. Statistics are computed from the windows, so that a baseline can be extended.

use super::{HostFacts, LatencySpec, OpsSpec};
use serde::{Deserialize, Serialize};

/// The version of the file. Readers reject a higher major number.
pub const BASELINE_FORMAT: (u16, u16) = (1, 1);

/// A baseline: one JSON document, `NAME.baseline`, or `baseline.json` within a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Baseline {
    /// Format version.
    pub format: (u16, u16),
    /// Version of the program that wrote it.
    pub tool: String,
    /// The target and machine it describes.
    pub key: BaselineKey,
    /// The recordings it was built from.
    pub sources: Vec<BaselineSource>,
    /// Names of the quantities (as in `analysis::diff`), in the order of the windows' cells.
    pub quantities: Vec<String>,
    /// The windows, in the order of their sources.
    pub windows: Vec<BaselineWindow>,
    /// Where the CPU time went, largest first. The rarest stacks are left out.
    pub stacks: Vec<BaselineStack>,
    /// CPU time of all windows, nanoseconds, including that of left out stacks.
    pub cpu_ns: f64,
    /// Operations in all windows; `None` if they were not counted.
    pub ops: Option<f64>,
}

/// The properties that must match for a baseline to apply to a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineKey {
    /// The machine.
    pub host: HostFacts,
    /// The profiled target, as its label.
    pub target: String,
    /// The program with the most samples: its path as the target saw it.
    pub program: Option<String>,
    /// The name it was started by, if that is another name of the same file; for display.
    #[serde(default)]
    pub called: Option<String>,
    /// Its build-id in hexadecimal.
    pub build_id: Option<String>,
    /// The CPUs that the target or a sweep confined it to; empty means not confined.
    pub cpus: Vec<u32>,
    /// The CPUs that its own affinity and its cgroup allowed; empty means all, `None` means unknown.
    #[serde(default)]
    pub allowed: Option<Vec<u32>>,
    /// How operations were counted.
    pub ops: Option<OpsSpec>,
    /// How the latency of operations was measured; `None` if it was not, or by an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencySpec>,
}

/// A recording that a baseline was built from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineSource {
    /// The name that the user gave it.
    pub name: String,
    /// Start, nanoseconds since the Unix epoch. Two sources with the same start are one recording.
    pub started_unix_ns: u64,
    /// Its length, seconds.
    pub seconds: f64,
    /// Number of the baseline's windows that come from it.
    pub windows: usize,
}

/// One window of a source.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineWindow {
    /// Position in the sources.
    pub source: u32,
    /// The end of the window, nanoseconds since its recording's start.
    pub at_ns: u64,
    /// Its length, nanoseconds.
    pub span_ns: u64,
    /// Cost and base of each quantity (numerator and denominator); `None` if it was not measured.
    pub cells: Vec<Option<[f64; 2]>>,
}

/// A call path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BaselineStack {
    /// Function names, outermost first.
    pub frames: Vec<String>,
    /// CPU time spent in it, nanoseconds.
    pub cpu_ns: f64,
    /// Number of samples in it; `None` in baselines from before they were stored (format 1.0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<u64>,
}
