//! The verdict on a session against its baseline, in sentences.
//! Every sentence follows from the assessment. Suspects are always reported as correlated only.

use super::{BaselineHead, WindowCounts};
use crate::analysis::attribution::{Alarm, Assessment, Moved, State, Suspect, amount, change};
use crate::analysis::diff::RATE;
use crate::model::{MetricId, NeighbourKind};
use crate::view::number;

/// The answer, then its qualifications.
pub(super) fn verdict(assessment: &Assessment, windows: &WindowCounts, baseline: &BaselineHead) -> Vec<String> {
    let mut all = match assessment.alarms.last() {
        Some(last) => slow(assessment, last),
        None => vec![quiet(assessment, windows)],
    };
    let refusing: Vec<&str> = baseline.stale.iter().filter(|stale| stale.refuses).map(|stale| stale.what).collect();
    if !refusing.is_empty() {
        all.push(format!("The baseline may not speak for this: {} changed since it was made.", refusing.join(", ")));
    }
    all
}

fn slow(assessment: &Assessment, last: &Alarm) -> Vec<String> {
    let count = assessment.alarms.len();
    let of = if count == 1 { String::new() } else { format!(", the last of {count} times") };
    let from = number::seconds(last.window.from.seconds()).joined();
    let to =
        if last.on { "on".to_string() } else { format!("to {}", number::seconds(last.window.to.seconds()).joined()) };
    // Without an explanation, the quantities are the current ones, not those of the alarm.
    let numbers = if assessment.place.is_some() { worst(assessment) } else { String::new() };
    let mut all = vec![format!("Slower than usual from {from} {to}{of}{numbers}.")];
    let share = assessment.evidence.first().and_then(|lead| lead.share);
    let share =
        share.map_or(String::new(), |share| format!("{} of it, ", number::percent(share.clamp(0.0, 1.0)).joined()));
    all.push(format!("Most probably: {} ({share}confidence {}).", last.cause.label(), last.confidence.word()));
    if let Some(place) = assessment.place {
        all.push(format!("Where to look: {}.", place.label()));
    }
    if let Some(suspect) = assessment.suspects.first() {
        all.push(accused(suspect));
    }
    all
}

/// The quantities that got worst: the operation rate if it fell, then the cost per operation or else the first other
/// quantity in `waits` that moved.
fn worst(assessment: &Assessment) -> String {
    let moved = |id: MetricId| assessment.quantities.iter().find(|it| it.moved && it.quantity.id == id);
    let waits = [
        MetricId::ThrottledShare,
        MetricId::RunQueueDelay,
        MetricId::RunQueueDelayPerOp,
        MetricId::BlockIoDelay,
        MetricId::StealShare,
        MetricId::Cpi,
    ];
    let fewer = moved(RATE).filter(|rate| rate.now < rate.expected);
    let worst = moved(assessment.primary).or_else(|| waits.into_iter().find_map(moved));
    let shown = |moved: &Moved| {
        let [now, then] = [moved.now, moved.expected].map(|value| amount(&moved.quantity, value));
        format!("{} {now}, usually {then} ({})", moved.quantity.label, change(moved))
    };
    let all: Vec<String> = fewer.into_iter().chain(worst).map(shown).collect();
    if all.is_empty() { String::new() } else { format!(": {}", all.join("; ")) }
}

fn accused(suspect: &Suspect) -> String {
    let name = title(suspect.who.kind, &suspect.who.name, suspect.who.pid);
    let cores = |value: f64| number::three_digits(value);
    format!(
        "Correlated, not proven: {name} (score {:.2}), {} CPUs while it was slow, {} before.",
        suspect.score,
        cores(suspect.cores),
        cores(suspect.cores_before)
    )
}

fn quiet(assessment: &Assessment, windows: &WindowCounts) -> String {
    let WindowCounts { all, judged, unusual, unknown_load, idle, .. } = *windows;
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
    match assessment.state {
        State::Waiting => "Nothing to judge: the recording holds no whole window.".to_string(),
        _ if judged == 0 => format!("Not judged: none of {all} windows can be held against the baseline{rest}."),
        _ if unusual == 0 => format!("As usual in {judged} of {all} windows{rest}."),
        _ => format!(
            "As usual: of {all} windows {judged} were judged, {unusual} of them unusual but never for long enough{rest}."
        ),
    }
}

/// Name of a neighbour for display.
pub(super) fn title(kind: NeighbourKind, name: &str, pid: Option<u32>) -> String {
    match (kind, pid) {
        (NeighbourKind::Process, Some(pid)) => format!("{name} {pid}"),
        (NeighbourKind::Process, None) => name.to_string(),
        (NeighbourKind::Cgroup, _) => format!("group {name}"),
        (NeighbourKind::Resctrl, _) => format!("resctrl group {name}"),
        (NeighbourKind::Rest, _) => "short-lived processes".to_string(),
    }
}
