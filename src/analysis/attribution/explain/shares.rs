//! Splits what made an operation take longer into the law's factors, over the windows of a pool. Only factors that grew
//! share it: an operation that costs less CPU time does not make its waits more than all of the slowdown. Growths too
//! small to split have no shares. Time that the hypervisor took is a part of CPU time where the kernel counts it there,
//! and a time of its own where it does not; if that is unknown, it has no share.

use super::super::pooled::PooledWindows;
use super::super::reference::WaitRatio;
use super::super::types::{Cause, Evidence, QuantityDeviation};
use super::super::words::comparison;
use crate::analysis::diff::PRIMARY;
use crate::analysis::finding::Confidence;
use crate::analysis::{LEAST_CHANGE, Law, LawFactor, Part, Slowdown, Totals};
use crate::model::{Measure, MetricId, Why};

/// Shares of what grew; together they are 1, and a factor that shrank has 0.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct SlowdownShares {
    /// The logarithm of all growths together; `None` if nothing grew or it is unknown.
    pub total: Option<f64>,
    pub path: Option<f64>,
    pub cpi: Option<f64>,
    pub frequency: Option<f64>,
    /// Replaces the three above.
    pub cpu: Option<f64>,
    pub waits: Option<f64>,
}

impl SlowdownShares {
    pub fn of(pool: &PooledWindows) -> SlowdownShares {
        let Some(Slowdown { parts, .. }) = slowdown(pool) else { return SlowdownShares::default() };
        let grown = |part: &Part| part.ratio.ln().max(0.0);
        let total: f64 = parts.iter().map(grown).sum();
        if total <= LEAST_CHANGE {
            return SlowdownShares::default();
        }
        let share = |factor| parts.iter().find(|part| part.factor == factor).map(|part| grown(part) / total);
        SlowdownShares {
            total: Some(total),
            path: share(LawFactor::PathLength),
            cpi: share(LawFactor::Cpi),
            frequency: share(LawFactor::Frequency),
            cpu: share(LawFactor::CpuTime),
            waits: share(LawFactor::Utilisation),
        }
    }

    /// The same shares of a slowdown that is larger by `added`, a logarithm that the law does not contain.
    pub fn with_added(&self, added: f64) -> SlowdownShares {
        let Some(total) = self.total else { return *self };
        let of = |share: Option<f64>| share.map(|share| share * total / (total + added));
        SlowdownShares {
            total: Some(total + added),
            path: of(self.path),
            cpi: of(self.cpi),
            frequency: of(self.frequency),
            cpu: of(self.cpu),
            waits: of(self.waits),
        }
    }

    /// The share of CPU time, all of its factors together.
    pub fn cpu_side(&self) -> f64 {
        self.cpu.unwrap_or_else(|| [self.path, self.cpi, self.frequency].into_iter().flatten().sum())
    }
}

/// The law over the pool compared with the usual values. Without operations an instruction counts as an operation, and
/// without instructions a unit of CPU time does: then only waits show.
fn slowdown(pool: &PooledWindows) -> Option<Slowdown> {
    law(pool, |moved| moved.now, |s| s.now)?.slowdown(&law(pool, |moved| moved.expected, |s| s.usual)?)
}

fn law(pool: &PooledWindows, side: fn(&QuantityDeviation) -> f64, waits: fn(&WaitRatio) -> f64) -> Option<Law> {
    let read = |id| pool.get(id).map(side).filter(|value| *value > 0.0);
    let measure = |value: Option<f64>| value.map_or(Measure::Missing(Why::NotRecorded), Measure::exact);
    let (cpi, frequency) = (read(MetricId::Cpi), read(MetricId::Frequency));
    let counted = cpi.map(|cpi| cpi / frequency.unwrap_or(1.0));
    let (cpu, path) = match read(PRIMARY) {
        Some(nanos) => (nanos * 1e-9, read(MetricId::PathLength)),
        None => (counted.unwrap_or(1.0), counted.map(|_| 1.0)),
    };
    let wait_ratio = pool.wait_ratio.as_ref().map_or(1.0, waits);
    Some(Law::of(&Totals {
        wall: 1.0,
        ops: Measure::exact(1.0),
        cpu: Measure::exact(cpu),
        threads: Measure::exact(cpu * wait_ratio),
        instructions: measure(path),
        cpi: measure(cpi),
        frequency: measure(frequency),
    }))
}

/// Stolen time in a slowdown.
pub(super) struct StolenTime {
    pub evidence: Option<Evidence>,
    /// The share of the slowdown that shows as CPU time only because of it.
    pub in_cpu_time: f64,
    /// All shares, adjusted for stolen time.
    pub shares: SlowdownShares,
}

/// `in_cpu_time`: whether a task's CPU time includes time taken while it ran, if known.
pub(super) fn stolen(pool: &PooledWindows, shares: SlowdownShares, in_cpu_time: Option<bool>) -> StolenTime {
    let none = StolenTime { evidence: None, in_cpu_time: 0.0, shares };
    let Some((moved, growth)) = growth(pool) else { return none };
    // `min` and `max` skip NaN.
    let (share, shares) = match (in_cpu_time, shares.total) {
        // Taken time is CPU time without cycles: where cycles are counted, it shows as a slower clock alone.
        (Some(true), Some(total)) => {
            (Some((growth / total).min(shares.frequency.unwrap_or_else(|| shares.cpu_side())).max(0.0)), shares)
        }
        (Some(false), Some(total)) => (Some(growth / (total + growth)), shares.with_added(growth)),
        _ => (None, shares),
    };
    let surely = share.is_some_and(|share| share >= 0.5) || in_cpu_time == Some(false) && share.is_none();
    let place = match in_cpu_time {
        Some(true) => "",
        Some(false) => " This kernel does not count that as CPU time.",
        None => " Whether this kernel counts that as CPU time is not known, nor how much of the slowdown it is.",
    };
    StolenTime {
        evidence: Some(Evidence {
            cause: Cause::Steal,
            share,
            confidence: if surely { Confidence::High } else { Confidence::Medium },
            text: format!("{}: the hypervisor ran others while this machine had work.{place}", comparison(moved)),
        }),
        in_cpu_time: share.filter(|_| in_cpu_time == Some(true)).unwrap_or(0.0),
        shares,
    }
}

/// The logarithm of how much longer work takes because of stolen time.
fn growth(pool: &PooledWindows) -> Option<(&QuantityDeviation, f64)> {
    let moved = pool.grown(MetricId::StealShare)?;
    let busy = pool.get(MetricId::HostBusy)?;
    let wait_ratio = |busy: f64, stolen: f64| (busy > stolen && stolen >= 0.0).then(|| busy / (busy - stolen));
    let ratio = wait_ratio(busy.now, moved.now)? / wait_ratio(busy.expected, moved.expected)?;
    Some((moved, ratio.ln().max(0.0)))
}
