//! Splits the time one thread of a width spends on an operation into parts, so that two widths can be compared. A part
//! that only one of the two can measure goes to `unseen` on both sides.

use super::types::{Point, Run, SliceKind};
use crate::analysis::Cause;
use crate::model::Measure;
use std::collections::BTreeMap;

/// Seconds per operation; all parts add up to `whole`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parts {
    pub whole: f64,
    pub running: f64,
    /// `None` if it cannot be separated from `unseen`; the same for the next two.
    pub queued: Option<f64>,
    pub throttled: Option<f64>,
    pub blocked: Option<BTreeMap<Cause, f64>>,
    pub unseen: f64,
}

impl Parts {
    /// The parts of a point's mean time per operation, in the proportions of its runs on average. `None` without
    /// operations or CPU time.
    pub fn of(point: &Point) -> Option<Parts> {
        let rate = point.numbers.ops_per_s.value()?.mean;
        let shares: Option<Vec<Parts>> = point.runs.iter().map(shares).collect();
        let shares = shares.filter(|shares| !shares.is_empty())?;
        let whole = f64::from(point.n) / rate;
        let sane = rate > 0.0 && whole > 0.0 && whole.is_finite();
        sane.then(|| Parts::mean(whole, shares))
    }

    fn mean(whole: f64, mut shares: Vec<Parts>) -> Parts {
        let Some(mut all) = shares.pop() else { return Parts { whole, ..NOTHING } };
        for share in &mut shares {
            level(&mut all, share);
        }
        // Only now is it known which parts every run can measure.
        let count = (shares.len() + 1) as f64;
        for mut share in shares {
            level(&mut all, &mut share);
            all.add(&share);
        }
        all.scale(whole / count);
        all.whole = whole;
        all
    }

    /// Adds parts that have been levelled with these.
    fn add(&mut self, other: &Parts) {
        let sum = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a + b);
        self.running += other.running;
        self.queued = sum(self.queued, other.queued);
        self.throttled = sum(self.throttled, other.throttled);
        self.unseen += other.unseen;
        for (cause, time) in other.blocked.iter().flatten() {
            if let Some(blocked) = &mut self.blocked {
                *blocked.entry(*cause).or_default() += time;
            }
        }
    }

    fn scale(&mut self, factor: f64) {
        let blocked = self.blocked.iter_mut().flat_map(BTreeMap::values_mut);
        let some = [&mut self.queued, &mut self.throttled].into_iter().flatten();
        let all = [&mut self.running, &mut self.unseen].into_iter().chain(some).chain(blocked);
        all.for_each(|part| *part *= factor);
    }

    /// How much more this has than `other`, part by part. Both must have been levelled.
    pub fn more_than(&self, other: &Parts) -> Vec<(SliceKind, f64)> {
        let growth = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a - b);
        let mut slices = vec![];
        slices.extend(growth(self.queued, other.queued).map(|time| (SliceKind::RunQueue, time)));
        slices.extend(growth(self.throttled, other.throttled).map(|time| (SliceKind::Throttled, time)));
        if let (Some(here), Some(there)) = (&self.blocked, &other.blocked) {
            for cause in Cause::ALL.into_iter().filter(|cause| here.contains_key(cause) || there.contains_key(cause)) {
                let time = |of: &BTreeMap<Cause, f64>| of.get(&cause).copied().unwrap_or_default();
                slices.push((SliceKind::Blocked(cause), time(here) - time(there)));
            }
        }
        slices.push((SliceKind::Unseen, self.unseen - other.unseen));
        slices
    }
}

const NOTHING: Parts = Parts { whole: 0.0, running: 0.0, queued: None, throttled: None, blocked: None, unseen: 0.0 };

/// Reduces both to the parts that both can measure.
pub(super) fn level(a: &mut Parts, b: &mut Parts) {
    fn merge(part: &mut Option<f64>, other: Option<f64>, unseen: &mut f64) {
        if other.is_none() {
            *unseen += part.take().unwrap_or_default();
        }
    }
    let (queued, throttled) = (a.queued, a.throttled);
    merge(&mut a.queued, b.queued, &mut a.unseen);
    merge(&mut b.queued, queued, &mut b.unseen);
    merge(&mut a.throttled, b.throttled, &mut a.unseen);
    merge(&mut b.throttled, throttled, &mut b.unseen);
    if a.blocked.is_some() != b.blocked.is_some() {
        for parts in [a, b] {
            parts.unseen += parts.blocked.take().iter().flat_map(BTreeMap::values).sum::<f64>();
        }
    }
}

/// A run's parts of its workers' time, which add up to one.
fn shares(run: &Run) -> Option<Parts> {
    let split = &run.split;
    let known = |part: Measure<f64>| part.value().copied();
    let mut parts = Parts {
        whole: 1.0,
        running: known(split.running)?,
        queued: known(split.queued),
        throttled: known(split.throttled),
        blocked: run.blocked.as_ref().map(|_| BTreeMap::new()),
        unseen: known(split.unseen)?,
    };
    for (cause, time) in &split.blocked {
        match &mut parts.blocked {
            Some(blocked) => *blocked.entry(*cause).or_default() += time,
            None => parts.unseen += time,
        }
    }
    let some = parts.queued.unwrap_or_default() + parts.throttled.unwrap_or_default();
    let blocked: f64 = parts.blocked.iter().flat_map(BTreeMap::values).sum();
    let sum = parts.running + parts.unseen + some + blocked;
    (sum > 0.0 && sum.is_finite()).then(|| {
        parts.scale(1.0 / sum);
        parts
    })
}
