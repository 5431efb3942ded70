//! The lines of a watch: one per event. They carry the assessment as it is, with wall-clock times.

use super::{Moment, WallClock};
use crate::analysis::attribution::{Alarm, Assessment, Diagnosis, WindowResult};
use crate::analysis::baseline::{KeyChange, LoadAxis, Strength};
use crate::model::MetricId;
use serde::Serialize;
use std::path::PathBuf;

/// The version of the lines' schema. Adding fields does not raise it.
pub const SCHEMA_VERSION: u32 = 2;

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Line {
    /// When it happened.
    pub time: Moment,
    /// The event.
    #[serde(flatten)]
    pub event: WatchEvent,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum WatchEvent {
    /// The watch began.
    Start(Box<Start>),
    /// A window ended.
    Window(WindowLine),
    /// The target has been unusual for long enough, or more is known about the cause.
    Alarm(Box<AlarmRaised>),
    /// The target is as usual again.
    Cleared(AlarmCleared),
    /// A recording was written.
    Recorded(Recorded),
    /// The alarm command ended.
    Command(CommandResult),
    /// Something was skipped, or is worth knowing.
    Note(Message),
    /// Something failed, but the watch continues.
    Error(Message),
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
    /// The baseline it is compared with; null if it only collects.
    pub baseline: Option<BaselineFacts>,
    /// The data set that rows are written to; null if they are not.
    pub dataset: Option<PathBuf>,
    /// Where the baseline does not match the current target or machine.
    pub stale: Vec<KeyChange>,
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
    pub notes: Vec<Message>,
}

/// Facts about the baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BaselineFacts {
    /// Its file.
    pub path: PathBuf,
    /// The quantity that measures load.
    pub axis: LoadAxis,
    /// How reliable it is.
    pub strength: Strength,
}

/// A window ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WindowLine {
    /// When it ended.
    pub at: Moment,
    /// The quantity that measures load.
    pub axis: LoadAxis,
    /// The quantity that decides whether the target is slow.
    pub primary: MetricId,
    /// Its result.
    #[serde(flatten)]
    pub result: WindowResult,
}

/// An alarm, as far as it is known now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlarmRaised {
    /// False when the alarm is raised, true when more is known about it.
    pub update: bool,
    /// Start of its first unusual window.
    pub since: Moment,
    /// The cause in words.
    pub cause_text: &'static str,
    /// The alarm.
    #[serde(flatten)]
    pub alarm: Alarm,
    /// The state of the target and what explains it.
    #[serde(flatten)]
    pub diagnosis: Diagnosis,
}

/// The end of an alarm.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlarmCleared {
    /// Start of its first unusual window.
    pub since: Moment,
    /// The alarm.
    #[serde(flatten)]
    pub alarm: Alarm,
}

/// A recording made because of an alarm.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Recorded {
    /// Its directory.
    pub path: PathBuf,
    /// The period it covers.
    pub period: RecordedPeriod,
    /// Its size on disk.
    pub bytes: u64,
    /// Older recordings of the watch that were removed to make room.
    pub removed: Vec<PathBuf>,
}

/// The period that a recording covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordedPeriod {
    /// The time before the alarm, until it was raised.
    #[serde(rename = "before")]
    BeforeAlarm,
    /// A detailed capture while the alarm was on.
    Alarm,
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CommandResult {
    /// Its exit code, or 128 plus the signal.
    pub status: i32,
    /// How long it ran, seconds.
    pub seconds: f64,
    /// Whether it was terminated because its time was up.
    pub timed_out: bool,
}

/// A message, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
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

impl Message {
    /// The message of an error, with its remedy.
    #[must_use]
    pub fn of(error: &crate::error::Error) -> Message {
        Message { text: error.to_string(), fix: error.remedy().map(ToString::to_string) }
    }

    /// A message without a remedy.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Message {
        Message { text: text.into(), fix: None }
    }
}

impl WindowLine {
    /// The line about a window of an assessment.
    #[must_use]
    pub fn of(assessment: &Assessment, result: WindowResult, clock: WallClock) -> WindowLine {
        let Diagnosis { axis, primary, .. } = assessment.diagnosis;
        WindowLine { at: clock.at(result.window.to), axis, primary, result }
    }
}

impl AlarmRaised {
    /// The line about an alarm: its quantities are the primary, then those that moved, then the others.
    #[must_use]
    pub fn of(assessment: &Assessment, alarm: &Alarm, update: bool, clock: WallClock) -> AlarmRaised {
        // Lines go into logs.
        const MOST_QUANTITIES: usize = 40;
        let mut diagnosis = assessment.diagnosis.clone();
        let primary = diagnosis.primary;
        diagnosis.quantities.sort_by_key(|deviation| (deviation.quantity.id != primary, !deviation.moved));
        diagnosis.quantities.truncate(MOST_QUANTITIES);
        let (since, cause_text) = (clock.at(alarm.window.from), alarm.cause.label());
        AlarmRaised { update, since, cause_text, alarm: alarm.clone(), diagnosis }
    }
}

impl AlarmCleared {
    /// The line about the end of an alarm.
    #[must_use]
    pub fn of(alarm: &Alarm, clock: WallClock) -> AlarmCleared {
        AlarmCleared { since: clock.at(alarm.window.from), alarm: alarm.clone() }
    }
}

/// Name of the first suspect above the threshold, if any.
#[must_use]
pub fn first_suspect(assessment: &Assessment) -> Option<&str> {
    let suspects = &assessment.diagnosis.suspects;
    suspects.iter().find(|suspect| suspect.above_threshold).map(|suspect| suspect.name.as_str())
}
