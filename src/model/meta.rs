//! What a recording says about itself: `meta.json`.
//! Fields are only added; a reader meets unknown fields and missing optional ones without complaint.

use super::{EventSpec, HardwarePlan, HostFacts, Plan, RecordCount, SampleSource, TargetFacts, WaitSource};
use serde::{Deserialize, Serialize};

/// Something the reader of a recording should know: a fallback, a limit that bit, a missing permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Short machine name, e.g. `no-pmu`, `kernel-symbols-hidden`.
    pub topic: String,
    /// What happened, in a sentence.
    pub text: String,
    /// What to do about it, if anything can be done.
    pub fix: Option<String>,
}

/// How an event fared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// The event's name.
    pub event: String,
    /// Running over enabled time, 0 to 1.
    pub share: f64,
}

/// A recording's description of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// Format version: readers refuse a higher major number.
    pub format: (u16, u16),
    /// Version of the program that wrote it.
    pub tool: String,
    /// The machine.
    pub host: HostFacts,
    /// The target.
    #[serde(default)]
    pub target: TargetFacts,
    /// The request.
    pub plan: Plan,
    /// Events really sampled, in the order `Sample::event` counts.
    pub events: Vec<EventSpec>,
    /// Share of the time each event was really counted.
    #[serde(default)]
    pub coverage: Vec<Coverage>,
    /// What hardware counted; no group where nothing did.
    #[serde(default)]
    pub hardware: HardwarePlan,
    /// What recorded time off the CPU; `None` where nothing did. Older recordings do not say: theirs were tracepoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitSource>,
    /// Where samples were taken; `None` in older recordings, which do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<SampleSource>,
    /// The kernel's records by kind, and how many of each were lost; empty while recording, and in older recordings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<RecordCount>,
    /// Start, nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// Start on `CLOCK_MONOTONIC`; every other time counts from here.
    pub started_mono_ns: u64,
    /// Length; `None` while recording, or when it was killed.
    #[serde(default)]
    pub duration_ns: Option<u64>,
    /// How a started command ended: its exit code, or 128 plus the signal.
    #[serde(default)]
    pub exit_status: Option<i32>,
    /// Fallbacks taken and limits met.
    #[serde(default)]
    pub notes: Vec<Note>,
}
