//! The verdict on a session against its baseline, in sentences.
//! Every sentence follows from the assessment. Suspects are always reported as correlated only.

use crate::analysis::attribution::{
    Alarm, Assessment, Cause, Diagnosis, NoAlarm, QuantityDeviation, Suspect, UnusualPeriod, WindowState,
};
use crate::analysis::baseline::{KeyChange, LEAST_RECORDINGS, Strength};
use crate::analysis::finding::Confidence;
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
    let mut all = assessment.diagnosis.unusual.map_or_else(Vec::new, |period| unusual(assessment, &period, baseline));
    match assessment.alarms.last() {
        Some(last) => all.extend(with_alarm(assessment, last)),
        None => all.push(without_alarm(assessment, windows)),
    }
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
    let diagnosis = &assessment.diagnosis;
    // Without an explanation, the quantities are the current ones, not those of the alarm.
    let is_explained = diagnosis.location.is_some() && diagnosis.unusual.is_none();
    let numbers = if is_explained { worst(diagnosis, last.cause) } else { String::new() };
    let what = if is_explained && !diagnosis.is_slower() { "Waiting longer" } else { "Slower" };
    let mut all = vec![format!("{what} than usual from {from} {to}{of}{numbers}.")];
    let lead = diagnosis.evidence.first().filter(|_| is_explained);
    all.push(cause_sentence(last.cause, lead.and_then(|lead| lead.share), last.confidence));
    if is_explained {
        all.extend(diagnosis.location.map(|location| format!("Where to look: {}.", location.label())));
        all.extend(diagnosis.suspects.first().map(suspect_sentence));
    }
    all
}

/// Unusual windows without an alarm: since when, by how much, why it is none, and what explains them.
fn unusual(assessment: &Assessment, period: &UnusualPeriod, baseline: &BaselineSummary) -> Vec<String> {
    let diagnosis = &assessment.diagnosis;
    let lead = diagnosis.evidence.first();
    let numbers = sentence_of(diagnosis.fewer().into_iter().chain(diagnosis.most_unusual()));
    let [span, from] = [period.window.span(), period.window.from].map(|time| number::seconds(time.seconds()).joined());
    let few = match (period.no_alarm, baseline.sources) {
        (NoAlarm::MayBeChance, 1) => "; with one recording, how far runs differ is not known",
        (NoAlarm::MayBeChance, 0..LEAST_RECORDINGS) => "; with two recordings, how far runs differ is hardly known",
        _ => "",
    };
    let mut all = vec![
        format!("Unusual for {span}, from {from} on{numbers}."),
        format!("Not an alarm, because {}{few}.", period.no_alarm.reason()),
    ];
    all.extend(lead.map(|lead| cause_sentence(lead.cause, lead.share, lead.confidence)));
    all.extend(diagnosis.suspects.first().map(suspect_sentence));
    all
}

fn cause_sentence(cause: Cause, share: Option<f64>, confidence: Confidence) -> String {
    let share = share.map_or(String::new(), |share| format!("{} of the slowdown, ", number::percent(share).joined()));
    format!("Most probably: {} ({share}confidence {}).", cause.label(), confidence.word())
}

/// The quantities that got worse: the operation rate if it fell, and the one that the cause raised.
fn worst(diagnosis: &Diagnosis, cause: Cause) -> String {
    sentence_of(diagnosis.fewer().into_iter().chain(diagnosis.worse(cause)))
}

fn sentence_of<'a>(quantities: impl Iterator<Item = &'a QuantityDeviation>) -> String {
    let all: Vec<String> = quantities.map(QuantityDeviation::against_usual).collect();
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
        _ if assessment.diagnosis.unusual.is_some() => {
            format!("Of {all} windows {compared} {} compared, {unusual} of them unusual{rest}.", was(compared))
        }
        _ => format!(
            "As usual: of {all} windows {compared} {} compared, {unusual} of them unusual, but not for long enough{rest}.",
            was(compared)
        ),
    }
}
