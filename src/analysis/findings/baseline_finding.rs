//! The finding of a session that is slower than its baseline. It comes before the findings of the session's own
//! windows, whatever their weight.

use super::{Evidence, Finding};
use crate::analysis::attribution::{Assessment, CauseLocation, QuantityDeviation};

/// The stable name of the rule that compares a session with its baseline.
pub const SLOWER_THAN_BASELINE: &str = "slower-than-baseline";

/// Maximum number of evidence rows.
const MOST: usize = 6;

/// The finding for the last alarm of a session; `None` without an alarm.
#[must_use]
pub fn baseline_finding(assessment: &Assessment) -> Option<Finding> {
    let alarm = assessment.alarms.last()?;
    let diagnosis = &assessment.diagnosis;
    let lead = diagnosis.evidence.first();
    let cause = capitalized(lead.map_or(alarm.cause, |lead| lead.cause).label());
    let why = lead.map_or_else(|| "no measurement explains it.".to_string(), |lead| lead.text.clone());
    let suspect = diagnosis.suspects.first().map_or(String::new(), |suspect| {
        format!(
            " Correlated with it, not proven: {} (score {:.2}).",
            crate::analysis::text::name(&suspect.name),
            suspect.score
        )
    });
    Some(Finding {
        rule: SLOWER_THAN_BASELINE,
        title: "slower than its baseline",
        share: lead.and_then(|lead| lead.share),
        claim: format!("{cause}: {why}{suspect}"),
        evidence: diagnosis.quantities.iter().filter(|moved| moved.moved).take(MOST).filter_map(number).collect(),
        confidence: alarm.confidence,
        place: None,
        culprits: Vec::new(),
        refuted_by: match diagnosis.suspects.is_empty() {
            true => "the same load under the baseline's conditions is as slow",
            false => "the same load without the suspect is as slow",
        },
        next_step: next_step(assessment),
    })
}

type NumberWithEdge = fn(&'static str, f64, crate::model::Unit, f64) -> Evidence;

fn number(moved: &QuantityDeviation) -> Option<Evidence> {
    let (low, high) = moved.band;
    let sound = moved.now.is_finite() && low.is_finite() && high.is_finite();
    let row = if moved.deviations > 0.0 { (Evidence::of as NumberWithEdge, high) } else { (Evidence::up_to as _, low) };
    sound.then(|| row.0(moved.quantity.label, moved.now, moved.quantity.unit, row.1))
}

fn next_step(assessment: &Assessment) -> String {
    match assessment.diagnosis.location {
        Some(CauseLocation::Program) => {
            "Compare the code: `ironlaw diff` with a recording of the baseline.".to_string()
        }
        Some(CauseLocation::OwnLimits) => {
            "Raise the quota (cpu.max) of its control group, or run fewer threads.".to_string()
        }
        Some(CauseLocation::Neighbours) => {
            "Stop or move the first suspect for a moment (SIGSTOP, cpu.max) and see whether the target recovers."
                .to_string()
        }
        Some(CauseLocation::Outside) => {
            "Nothing on this machine explains it: check the other guests of its host, or move the machine.".to_string()
        }
        Some(CauseLocation::Unknown) | None => {
            "Record with --neighbours and --probe, also for the baseline, to narrow it down.".to_string()
        }
    }
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
