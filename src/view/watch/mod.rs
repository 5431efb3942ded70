//! What a watch tells: one line for each thing that happened, and the gauges of how it stands.
//! It never decides that something is to be told.

mod build;
mod gauges;
mod moment;

pub use crate::analysis::attribution::{Cause, Confidence, State, Where};
pub use crate::analysis::baseline::{LoadAxis, Strength};
pub use crate::analysis::compare::{PRIMARY, QuantityUnit, RATE};
pub use crate::model::NeighbourKind;
pub use build::{cleared, first_suspect, trouble, window};
pub use gauges::{Gauge, Gauges, Score, gauges};
pub use moment::{Clocked, Moment};

use serde::Serialize;
use std::path::PathBuf;

/// The version of the lines' schema; fields may be added without raising it.
pub const SCHEMA_VERSION: u32 = 1;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// When it happened.
    pub time: Moment,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum What {
    /// The watch begins.
    Start(Box<Start>),
    /// A window ended.
    Window(Standing),
    /// The target has been unusual for long enough, or more is known of why.
    Alarm(Box<Trouble>),
    /// It is as usual again.
    Cleared(Cleared),
    /// A recording was written.
    Recorded(Recorded),
    /// The command for alarms has ended.
    Command(Ran),
    /// Something was not done, or is to be known.
    Note(Said),
    /// Something failed that the watch goes on without.
    Error(Said),
    /// The watch is over.
    End(End),
}

/// How a watch begins.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Start {
    /// Of these lines.
    pub schema_version: u32,
    /// Version of ironlaw.
    pub tool: String,
    /// What is watched.
    pub target: String,
    /// What it is held against.
    pub baseline: Known,
    /// Where the baseline does not fit today's target or machine.
    pub stale: Vec<StalePoint>,
    /// What counts its operations; null: nothing does.
    pub operations: Option<String>,
    /// Length of a window, seconds.
    pub interval_s: f64,
    /// Samples per second of running time; null: none are taken.
    pub rate_hz: Option<u64>,
    /// Whether memory is probed.
    pub probe: bool,
    /// What is done on an alarm.
    pub on_alarm: Vec<String>,
    /// Address of the metrics; null: they are not offered.
    pub metrics: Option<String>,
    /// Limits met and fallbacks taken.
    pub notes: Vec<Said>,
}

/// What is known of the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Known {
    /// Its file.
    pub path: PathBuf,
    /// What load is measured by.
    pub axis: LoadAxis,
    /// How far it can be relied on.
    pub strength: Strength,
}

/// One thing in which a baseline is not of today.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StalePoint {
    /// Which, e.g. `build_id`.
    pub what: String,
    /// As it was.
    pub then: String,
    /// As it is.
    pub now: String,
    /// In a sentence.
    pub text: String,
    /// Whether the watch is refused for it, unless told otherwise.
    pub refuses: bool,
}

/// How a window stands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Standing {
    /// When it ended.
    pub at: Moment,
    /// How long it was.
    pub seconds: f64,
    /// How it stands.
    pub state: State,
    /// Its load; null where it is not known.
    pub load: Option<f64>,
    /// What load is measured by.
    pub axis: LoadAxis,
    /// The quantity that says whether it is slow.
    pub primary: &'static str,
    /// That over its usual value; null where either is not known.
    pub ratio: Option<f64>,
}

/// An alarm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trouble {
    /// False when it is raised, true when more is known of one that was.
    pub update: bool,
    /// When its first unusual window began.
    pub since: Moment,
    /// The most probable cause.
    pub cause: Cause,
    /// The same for people.
    pub cause_text: &'static str,
    /// How sure that is.
    pub confidence: Confidence,
    /// Where to look for the culprit; null where nothing tells.
    pub place: Option<Where>,
    /// The quantity that says whether it is slow.
    pub primary: &'static str,
    /// The time per operation, waits and all, over its usual value, at the worst.
    pub worst: f64,
    /// The load now.
    pub load: Option<f64>,
    /// What load is measured by.
    pub axis: LoadAxis,
    /// The load's level: from, to.
    pub level: Option<(f64, f64)>,
    /// What explains it, most first.
    pub evidence: Vec<Reason>,
    /// Who moved with it, most first: correlated, not proven.
    pub suspects: Vec<Suspected>,
    /// What moved, the primary quantity first.
    pub factors: Vec<Factor>,
    /// What could not be told, in sentences.
    pub unknown: Vec<String>,
}

/// One thing that speaks for a cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reason {
    /// Which.
    pub cause: Cause,
    /// Its share of the slowdown, 0 to 1; null where the law gives none.
    pub share: Option<f64>,
    /// How sure.
    pub confidence: Confidence,
    /// In a sentence.
    pub text: String,
}

/// A neighbour whose use moved with the slowdown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suspected {
    /// What it is.
    pub kind: NeighbourKind,
    /// Its name, as it calls itself.
    pub name: String,
    /// Of a process, its id.
    pub pid: Option<u32>,
    /// Of a process, its control group.
    pub cgroup: Option<String>,
    /// The correlation, -1 to 1.
    pub score: f64,
    /// Whether that is above the threshold.
    pub above_threshold: bool,
    /// Its busy CPUs while the target was slow.
    pub cores: f64,
    /// The same before.
    pub cores_before: f64,
    /// What else speaks for it.
    pub evidence: Vec<String>,
}

/// A quantity against what is usual.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Factor {
    /// Its name.
    pub quantity: &'static str,
    /// The same for people.
    pub label: &'static str,
    /// Its unit.
    pub unit: QuantityUnit,
    /// Its value over the last windows.
    pub now: f64,
    /// What is usual at this load.
    pub expected: f64,
    /// The band it usually stays in: from, to.
    pub band: (f64, f64),
    /// How many usual deviations it is away.
    pub deviations: f64,
    /// Whether it is believed to have moved.
    pub moved: bool,
}

/// The end of an alarm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cleared {
    /// When its first unusual window began.
    pub since: Moment,
    /// How long it lasted.
    pub seconds: f64,
    /// The most probable cause.
    pub cause: Cause,
    /// How sure that is.
    pub confidence: Confidence,
    /// The time per operation, waits and all, over its usual value, at the worst.
    pub worst: f64,
    /// The first suspect's name; null where there was none.
    pub suspect: Option<String>,
}

/// A recording that an alarm made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recorded {
    /// Its directory.
    pub path: PathBuf,
    /// What it holds.
    pub holds: Holds,
    /// Its size on disk.
    pub bytes: u64,
    /// Older recordings of the watch that were removed for it.
    pub removed: Vec<PathBuf>,
}

/// What a recording holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Holds {
    /// The time before the alarm, and until it was raised.
    Before,
    /// A detailed capture while the alarm was on.
    Alarm,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ran {
    /// Its exit code, or 128 plus the signal.
    pub status: i32,
    /// How long it ran.
    pub seconds: f64,
    /// Whether it was ended because its time was over.
    pub cut_short: bool,
}

/// A sentence, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Said {
    /// What is the case.
    pub text: String,
    /// What would change it; null where nothing is known to.
    pub fix: Option<String>,
}

/// The last line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct End {
    /// Why the watch is over.
    pub reason: String,
    /// Windows that were judged.
    pub windows: u64,
    /// Alarms that were raised.
    pub alarms: u64,
    /// Records lost.
    pub lost: u64,
}

impl Said {
    /// An error with its remedy.
    #[must_use]
    pub fn of(error: &crate::error::Error) -> Said {
        Said { text: error.to_string(), fix: error.remedy().map(ToString::to_string) }
    }

    /// A sentence alone.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Said {
        Said { text: text.into(), fix: None }
    }
}
