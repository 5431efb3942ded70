//! Turns an assessment into lines of the log.

use super::{Cleared, Clocked, Factor, Reason, Standing, Suspected, Trouble};
use crate::analysis::attribution::{Alarm, Assessment, Moved, Step, Suspect};

/// Maximum number of suspects and of quantities in one line, because lines go into logs.
const MOST_SUSPECTS: usize = 10;
const MOST_FACTORS: usize = 40;

/// The result of a window.
#[must_use]
pub fn window(assessment: &Assessment, step: &Step, clock: Clocked) -> Standing {
    Standing {
        at: clock.at(step.window.to),
        seconds: step.window.span().seconds(),
        state: step.state,
        load: step.load.filter(|load| load.is_finite()),
        axis: assessment.axis,
        primary: assessment.primary.name(),
        ratio: step.ratio.filter(|ratio| ratio.is_finite()),
    }
}

/// The alarm, as far as it is known now.
#[must_use]
pub fn trouble(assessment: &Assessment, alarm: &Alarm, update: bool, clock: Clocked) -> Trouble {
    Trouble {
        update,
        since: clock.at(alarm.window.from),
        cause: alarm.cause,
        cause_text: alarm.cause.label(),
        confidence: alarm.confidence,
        place: assessment.place,
        primary: assessment.primary.name(),
        worst: alarm.worst,
        load: assessment.load.filter(|load| load.is_finite()),
        axis: assessment.axis,
        level: assessment.level,
        evidence: assessment
            .evidence
            .iter()
            .map(|it| Reason { cause: it.cause, share: it.share, confidence: it.confidence, text: it.text.clone() })
            .collect(),
        suspects: assessment.suspects.iter().take(MOST_SUSPECTS).map(suspected).collect(),
        factors: factors(assessment),
        unknown: assessment.unknown.clone(),
    }
}

/// The primary quantity, then those that moved, then the others.
fn factors(assessment: &Assessment) -> Vec<Factor> {
    let mut all: Vec<&Moved> = assessment.quantities.iter().filter(|moved| sound(moved)).collect();
    all.sort_by_key(|moved| (moved.quantity.id != assessment.primary, !moved.moved));
    all.into_iter().take(MOST_FACTORS).map(factor).collect()
}

/// JSON has no infinities, so such quantities are left out.
fn sound(moved: &Moved) -> bool {
    let Moved { now, expected, band: (low, high), deviations, .. } = *moved;
    [now, expected, low, high, deviations].iter().all(|value| value.is_finite())
}

fn factor(moved: &Moved) -> Factor {
    Factor {
        quantity: moved.quantity.name,
        label: moved.quantity.label,
        unit: moved.quantity.unit,
        now: moved.now,
        expected: moved.expected,
        band: moved.band,
        deviations: moved.deviations,
        moved: moved.moved,
    }
}

fn suspected(suspect: &Suspect) -> Suspected {
    let who = &suspect.who;
    Suspected {
        kind: who.kind,
        name: who.name.clone(),
        pid: who.pid,
        cgroup: who.cgroup.clone(),
        score: suspect.score,
        above_threshold: suspect.above_threshold,
        cores: suspect.cores,
        cores_before: suspect.cores_before,
        evidence: suspect.evidence.clone(),
    }
}

/// The end of an alarm.
#[must_use]
pub fn cleared(alarm: &Alarm, clock: Clocked) -> Cleared {
    Cleared {
        since: clock.at(alarm.window.from),
        seconds: alarm.window.span().seconds(),
        cause: alarm.cause,
        confidence: alarm.confidence,
        worst: alarm.worst,
        suspect: alarm.suspect.clone(),
    }
}

/// Name of the first suspect above the threshold, if any.
#[must_use]
pub fn first_suspect(assessment: &Assessment) -> Option<&str> {
    assessment.suspects.iter().find(|suspect| suspect.above_threshold).map(|suspect| suspect.who.name.as_str())
}
