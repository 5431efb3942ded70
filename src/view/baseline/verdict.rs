//! The verdict on a session against its baseline, in sentences.
//! Every sentence follows from the assessment. Suspects are always reported as correlated only.

use crate::analysis::attribution::{Alarm, Assessment, QuantityDeviation, Suspect, WindowState};
use crate::analysis::baseline::{KeyChange, Strength};
use crate::analysis::diff::RATE;
use crate::model::MetricId;
use crate::view::number;
use serde::Serialize;

/// Facts about the baseline itself.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BaselineSummary {
    /// Recordings it was built from.
    pub sources: usize,
    /// Windows in it.
    pub windows: usize,
    /// Number of known load levels.
    pub known_levels: usize,
    /// What it lacks, in sentences.
    pub weaknesses: Vec<String>,
    /// What has changed since it was built.
    pub stale: Vec<KeyChange>,
}

/// Number of windows by state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct WindowCounts {
    /// All windows.
    pub all: usize,
    /// Windows compared with the baseline.
    pub compared: usize,
    /// Judged windows with a quantity outside its band.
    pub unusual: usize,
    /// Judged windows within an alarm.
    pub in_alarm: usize,
    /// Windows at a load that the baseline does not cover.
    pub unknown_load: usize,
    /// Windows in which the target demanded too little CPU.
    pub idle: usize,
}

impl BaselineSummary {
    /// Builds the head for a baseline of this strength.
    #[must_use]
    pub fn of(strength: Strength, stale: Vec<KeyChange>) -> BaselineSummary {
        let Strength { sources, windows, known_levels, weaknesses, .. } = strength;
        BaselineSummary { sources, windows, known_levels, weaknesses, stale }
    }
}

impl WindowCounts {
    pub(super) fn of(assessment: &Assessment) -> WindowCounts {
        let count =
            |states: &[WindowState]| assessment.timeline.iter().filter(|result| states.contains(&result.state)).count();
        WindowCounts {
            all: assessment.timeline.len(),
            compared: count(&[WindowState::Usual, WindowState::Unusual, WindowState::Alarm]),
            unusual: count(&[WindowState::Unusual, WindowState::Alarm]),
            in_alarm: count(&[WindowState::Alarm]),
            unknown_load: count(&[WindowState::UnknownLoad]),
            idle: count(&[WindowState::Idle]),
        }
    }
}

/// The answer, then its qualifications.
pub(super) fn verdict(assessment: &Assessment, windows: &WindowCounts, baseline: &BaselineSummary) -> Vec<String> {
    let mut all = match assessment.alarms.last() {
        Some(last) => with_alarm(assessment, last),
        None => vec![without_alarm(assessment, windows)],
    };
    let refusing: Vec<&str> =
        baseline.stale.iter().filter(|stale| stale.incompatible).map(|stale| stale.what).collect();
    if !refusing.is_empty() {
        all.push(format!("The baseline may not apply: {} changed since it was built.", refusing.join(", ")));
    }
    all
}

fn with_alarm(assessment: &Assessment, last: &Alarm) -> Vec<String> {
    let count = assessment.alarms.len();
    let of = if count == 1 { String::new() } else { format!(", the last of {count} times") };
    let from = number::seconds(last.window.from.seconds()).joined();
    let to = if last.active {
        "on".to_string()
    } else {
        format!("to {}", number::seconds(last.window.to.seconds()).joined())
    };
    // Without an explanation, the quantities are the current ones, not those of the alarm.
    let numbers = if assessment.diagnosis.location.is_some() { worst(assessment) } else { String::new() };
    let mut all = vec![format!("Slower than usual from {from} {to}{of}{numbers}.")];
    let share = assessment.diagnosis.evidence.first().and_then(|lead| lead.share);
    let share =
        share.map_or(String::new(), |share| format!("{} of it, ", number::percent(share.clamp(0.0, 1.0)).joined()));
    all.push(format!("Most probably: {} ({share}confidence {}).", last.cause.label(), last.confidence.word()));
    if let Some(location) = assessment.diagnosis.location {
        all.push(format!("Where to look: {}.", location.label()));
    }
    if let Some(suspect) = assessment.diagnosis.suspects.first() {
        all.push(suspect_sentence(suspect));
    }
    all
}

/// The quantities that got worst: the operation rate if it fell, then the cost per operation or else the first other
/// quantity in `waits` that moved.
fn worst(assessment: &Assessment) -> String {
    let moved = |id: MetricId| assessment.diagnosis.quantities.iter().find(|it| it.moved && it.quantity.id == id);
    let waits = [
        MetricId::ThrottledShare,
        MetricId::RunQueueDelay,
        MetricId::RunQueueDelayPerOp,
        MetricId::BlockIoDelay,
        MetricId::StealShare,
        MetricId::Cpi,
        MetricId::LatencyP99,
    ];
    let fewer = moved(RATE).filter(|rate| rate.now < rate.expected);
    let worst = moved(assessment.diagnosis.primary).or_else(|| waits.into_iter().find_map(moved));
    let shown = |moved: &QuantityDeviation| {
        let [now, then] = [moved.now, moved.expected].map(|value| moved.format(value));
        format!("{} {now}, usually {then} ({})", moved.quantity.label, moved.change())
    };
    let all: Vec<String> = fewer.into_iter().chain(worst).map(shown).collect();
    if all.is_empty() { String::new() } else { format!(": {}", all.join("; ")) }
}

fn suspect_sentence(suspect: &Suspect) -> String {
    let name = suspect.title();
    let cores = |value: f64| number::three_digits(value);
    format!(
        "Correlated, not proven: {name} (score {:.2}), {} CPUs while it was slow, {} before.",
        suspect.score,
        cores(suspect.cores),
        cores(suspect.cores_before)
    )
}

fn without_alarm(assessment: &Assessment, windows: &WindowCounts) -> String {
    let WindowCounts { all, compared, unusual, unknown_load, idle, .. } = *windows;
    let was = |count: usize| if count == 1 { "was" } else { "were" };
    let rest = match (unknown_load, idle) {
        (0, 0) => String::new(),
        (load, 0) => format!("; {load} {} at a load that the baseline does not know", was(load)),
        (0, idle) => format!("; in {idle} the target wanted too little CPU"),
        (load, idle) => {
            format!(
                "; {load} {} at a load that the baseline does not know, in {idle} the target wanted too little CPU",
                was(load)
            )
        }
    };
    match assessment.diagnosis.state {
        WindowState::Waiting => "Nothing to judge: the recording contains no complete window.".to_string(),
        _ if compared == 0 => format!("Not compared: none of {all} windows can be compared with the baseline{rest}."),
        _ if unusual == 0 => format!("As usual in {compared} of {all} windows{rest}."),
        _ => format!(
            "As usual: of {all} windows {compared} {} compared, {unusual} of them unusual, but not for long enough{rest}.",
            was(compared)
        ),
    }
}
