//! What a source counted, as a row.

use super::Row;
use crate::collect::sampler::{OpsClass, OpsSource, OpsTrial};
use crate::error::{Error, Result};
use crate::ops::Meter;
use crate::sys::clock::Clock;

/// An error with its remedy.
pub(super) fn noted(error: &Error) -> String {
    error.remedy().map_or_else(|| error.to_string(), |remedy| format!("{error}. {remedy}"))
}

/// What a page counted since its first reading.
pub(super) fn read(meter: &mut Meter, clock: &Clock) -> Result<OpsTrial> {
    let (time, hits) = meter.read(|| clock.now())?;
    Ok(OpsTrial { hits: hits.0, time, cost_ns: None })
}

impl Row {
    /// `load` is the CPU time used per second, at least one CPU.
    pub(super) fn of(source: &OpsSource, trial: Result<OpsTrial>, load: f64) -> Row {
        let why = trial.as_ref().err().map(noted);
        let trial = trial.ok();
        let share = trial.as_ref().and_then(OpsTrial::load).filter(|_| load > 0.0).map(|cost| cost / load);
        Row {
            ops: source.spec.written(),
            class: source.class,
            counts: source.counts,
            hits: trial.map(|trial| trial.hits),
            counted_s: trial.map(|trial| trial.time.seconds()),
            rate: trial.as_ref().map(OpsTrial::rate),
            cost_ns: trial.and_then(|trial| trial.cost_ns),
            cpu_share: share,
            why,
        }
    }

    pub(super) fn is_hit(&self) -> bool {
        self.hits.is_some_and(|hits| hits > 0)
    }

    /// What was hit comes first, then by class; of the other probes the most frequent.
    pub(super) fn order(&self) -> (bool, OpsClass, f64) {
        let rate = if self.class == OpsClass::OtherProbe { self.rate.unwrap_or_default() } else { 0.0 };
        (!self.is_hit(), self.class, -rate)
    }
}
