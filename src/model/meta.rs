//! A recording's metadata: `meta.json`.
//! The format only gains fields. Readers accept unknown fields and missing optional ones.

use super::{EventSpec, HardwarePlan, HostFacts, Plan, RecordCount, SampleSource, TargetFacts, WaitSource};
use serde::{Deserialize, Serialize};

/// A note for the reader of a recording: a fallback, a limit that was reached, a missing permission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// Short machine-readable name, e.g. `no-pmu`, `kernel-symbols-hidden`.
    pub topic: String,
    /// What happened, in a sentence.
    pub text: String,
    /// The fix, if there is one.
    pub fix: Option<String>,
}

impl Note {
    /// Topic of the note that samples were taken at a lower frequency than planned.
    pub const SAMPLING_SLOWED: &str = "sampling-slowed";
}

/// How much of the time an event was counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// The event's name.
    pub event: String,
    /// Running over enabled time, 0 to 1.
    pub share: f64,
}

/// A recording's metadata.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    /// Format version. Readers reject a higher major number.
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
    /// The events that were really sampled, in the order of `Sample::event`.
    pub events: Vec<EventSpec>,
    /// Share of the time that each event was really counted.
    #[serde(default)]
    pub coverage: Vec<Coverage>,
    /// The hardware counters; no groups if none were counted.
    #[serde(default)]
    pub hardware: HardwarePlan,
    /// Time that a sample took from the sampled thread, measured before the recording on a thread of ironlaw's own; `None`
    /// if that was not possible, and in older recordings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_cost_ns: Option<u64>,
    /// Time that sampling added to a switch to a thread of the target, measured in the same way; `None` also if its events were
    /// on CPUs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampling_switch_cost_ns: Option<u64>,
    /// The source of off-CPU spans; `None` if there was none. Older recordings do not store it: they used tracepoints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<WaitSource>,
    /// Where samples were taken; `None` in older recordings, which do not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub samples: Option<SampleSource>,
    /// The kernel's records by kind, with the number lost of each; empty while recording, and in older recordings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub records: Vec<RecordCount>,
    /// Start, nanoseconds since the Unix epoch.
    pub started_unix_ns: u64,
    /// Start on `CLOCK_MONOTONIC`. All other times are relative to it.
    pub started_mono_ns: u64,
    /// Length; `None` while recording, or if the recording was killed.
    #[serde(default)]
    pub duration_ns: Option<u64>,
    /// Exit status of a started command: its exit code, or 128 plus the signal; `None` if it was ended because the planned
    /// time was over.
    #[serde(default)]
    pub exit_status: Option<i32>,
    /// Fallbacks taken and limits reached.
    #[serde(default)]
    pub notes: Vec<Note>,
}

impl Meta {
    /// The metadata of a recording that sampled what was planned, by this program on an unknown machine, without times.
    #[must_use]
    pub fn new(format: (u16, u16), plan: Plan) -> Meta {
        Meta {
            format,
            tool: env!("CARGO_PKG_VERSION").to_string(),
            host: HostFacts::default(),
            target: TargetFacts::default(),
            events: plan.events.clone(),
            plan,
            coverage: Vec::new(),
            hardware: HardwarePlan::default(),
            sample_cost_ns: None,
            sampling_switch_cost_ns: None,
            waits: None,
            samples: None,
            records: Vec::new(),
            started_unix_ns: 0,
            started_mono_ns: 0,
            duration_ns: None,
            exit_status: None,
            notes: Vec::new(),
        }
    }
}
