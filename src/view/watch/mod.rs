//! The output of a watch: one line per event, and gauges of its current state.

mod build;
mod gauges;
mod moment;

pub use crate::analysis::attribution::{Cause, Confidence, State, Where};
pub use crate::analysis::baseline::{LoadAxis, Strength};
pub use crate::analysis::diff::{PRIMARY, RATE};
pub use crate::model::NeighbourKind;
pub use build::{cleared, first_suspect, trouble, window};
#[cfg(test)]
pub use gauges::Score;
pub use gauges::{Gauge, Gauges, gauges};
pub use moment::{Clocked, Moment};

use crate::model::Unit;
use serde::Serialize;
use std::path::PathBuf;

/// The version of the lines' schema. Adding fields does not raise it.
pub const SCHEMA_VERSION: u32 = 1;

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// When it happened.
    pub time: Moment,
    /// The event.
    #[serde(flatten)]
    pub what: What,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// The watch began.
    Start(Box<Start>),
    /// A window ended.
    Window(Standing),
    /// The target has been unusual for long enough, or more is known about the cause.
    Alarm(Box<Trouble>),
    /// The target is as usual again.
    Cleared(Cleared),
    /// A recording was written.
    Recorded(Recorded),
    /// The alarm command ended.
    Command(Ran),
    /// Something was skipped, or is worth knowing.
    Note(Said),
    /// Something failed, but the watch continues.
    Error(Said),
    /// The watch ended.
    End(End),
}

/// The start of a watch.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Start {
    /// Version of the lines' schema.
    pub schema_version: u32,
    /// Version of ironlaw.
    pub tool: String,
    /// The target.
    pub target: String,
    /// The baseline it is compared with.
    pub baseline: Known,
    /// Where the baseline does not match the current target or machine.
    pub stale: Vec<StalePoint>,
    /// How operations are counted; null if nothing counts them.
    pub operations: Option<String>,
    /// Length of a window, seconds.
    pub interval_s: f64,
    /// Samples per second of running time; null if none are taken.
    pub rate_hz: Option<u64>,
    /// Whether memory is probed.
    pub probe: bool,
    /// Actions on an alarm.
    pub on_alarm: Vec<String>,
    /// Address of the metrics; null if they are not served.
    pub metrics: Option<String>,
    /// Limits that were reached and fallbacks that were used.
    pub notes: Vec<Said>,
}

/// Facts about the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Known {
    /// Its file.
    pub path: PathBuf,
    /// The quantity that measures load.
    pub axis: LoadAxis,
    /// How reliable it is.
    pub strength: Strength,
}

/// One property in which a baseline does not match the current target or machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StalePoint {
    /// Its name, e.g. `build_id`.
    pub what: String,
    /// Its value in the baseline.
    pub then: String,
    /// Its current value.
    pub now: String,
    /// The mismatch in one sentence.
    pub text: String,
    /// Whether the watch refuses to start because of it, unless overridden.
    pub refuses: bool,
}

/// The result of a window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// When it ended.
    pub at: Moment,
    /// Its length, seconds.
    pub seconds: f64,
    /// Its state.
    pub state: State,
    /// Its load; null if unknown.
    pub load: Option<f64>,
    /// The quantity that measures load.
    pub axis: LoadAxis,
    /// The quantity that decides whether the target is slow.
    pub primary: &'static str,
    /// The primary quantity relative to its usual value; null if either is unknown.
    pub ratio: Option<f64>,
}

/// An alarm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trouble {
    /// False when the alarm is raised, true when more is known about it.
    pub update: bool,
    /// Start of its first unusual window.
    pub since: Moment,
    /// The most probable cause.
    pub cause: Cause,
    /// The cause in words.
    pub cause_text: &'static str,
    /// Confidence in that cause.
    pub confidence: Confidence,
    /// Where to look for the cause; null if unknown.
    pub place: Option<Where>,
    /// The quantity that decides whether the target is slow.
    pub primary: &'static str,
    /// The worst time per operation, waits included, relative to its usual value.
    pub worst: f64,
    /// The current load.
    pub load: Option<f64>,
    /// The quantity that measures load.
    pub axis: LoadAxis,
    /// The level of load: from, to.
    pub level: Option<(f64, f64)>,
    /// What explains it, strongest first.
    pub evidence: Vec<Reason>,
    /// Neighbours whose activity correlates with it, strongest first. Correlation is not proof.
    pub suspects: Vec<Suspected>,
    /// The primary quantity, then those that moved, then the others.
    pub factors: Vec<Factor>,
    /// What could not be determined, in sentences.
    pub unknown: Vec<String>,
}

/// One piece of evidence for a cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reason {
    /// The cause it supports.
    pub cause: Cause,
    /// Share of the slowdown it explains, 0 to 1; null if the law does not yield one.
    pub share: Option<f64>,
    /// Confidence in this evidence.
    pub confidence: Confidence,
    /// The evidence in one sentence.
    pub text: String,
}

/// A neighbour whose activity correlates with the slowdown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suspected {
    /// Its kind.
    pub kind: NeighbourKind,
    /// The name it gives itself.
    pub name: String,
    /// Process id, for a process.
    pub pid: Option<u32>,
    /// Control group, for a process.
    pub cgroup: Option<String>,
    /// The correlation, -1 to 1.
    pub score: f64,
    /// Whether the score is above the threshold.
    pub above_threshold: bool,
    /// CPUs it kept busy while the target was slow.
    pub cores: f64,
    /// CPUs it kept busy before.
    pub cores_before: f64,
    /// Further evidence, in sentences.
    pub evidence: Vec<String>,
}

/// A quantity compared with its usual value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Factor {
    /// Its name.
    pub quantity: &'static str,
    /// Label for display.
    pub label: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// Its value over the last windows.
    pub now: f64,
    /// The usual value at this load.
    pub expected: f64,
    /// Its usual band: from, to.
    pub band: (f64, f64),
    /// Distance from the usual value, in usual deviations.
    pub deviations: f64,
    /// Whether it is believed to have moved.
    pub moved: bool,
}

/// The end of an alarm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cleared {
    /// Start of its first unusual window.
    pub since: Moment,
    /// Its length, seconds.
    pub seconds: f64,
    /// The most probable cause.
    pub cause: Cause,
    /// Confidence in that cause.
    pub confidence: Confidence,
    /// The worst time per operation, waits included, relative to its usual value.
    pub worst: f64,
    /// Name of the first suspect; null if there was none.
    pub suspect: Option<String>,
}

/// A recording made because of an alarm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recorded {
    /// Its directory.
    pub path: PathBuf,
    /// What it contains.
    pub holds: Holds,
    /// Its size on disk.
    pub bytes: u64,
    /// Older recordings of the watch that were removed to make room.
    pub removed: Vec<PathBuf>,
}

/// What a recording contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// The time before the alarm, until it was raised.
    Before,
    /// A detailed capture while the alarm was on.
    Alarm,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ran {
    /// Its exit code, or 128 plus the signal.
    pub status: i32,
    /// How long it ran, seconds.
    pub seconds: f64,
    /// Whether it was terminated because its time was up.
    pub cut_short: bool,
}

/// A message, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Said {
    /// The message.
    pub text: String,
    /// The remedy; null if none is known.
    pub fix: Option<String>,
}

/// The last line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct End {
    /// Why the watch ended.
    pub reason: String,
    /// Number of windows judged.
    pub windows: u64,
    /// Number of alarms raised.
    pub alarms: u64,
    /// Records lost.
    pub lost: u64,
}

impl Said {
    /// The message of an error, with its remedy.
    #[must_use]
    pub fn of(error: &crate::error::Error) -> Said {
        Said { text: error.to_string(), fix: error.remedy().map(ToString::to_string) }
    }

    /// A message without a remedy.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Said {
        Said { text: text.into(), fix: None }
    }
}
