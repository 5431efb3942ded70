//! Time that the hypervisor took: a part of CPU time where the kernel counts it there, a time of its own where it does
//! not. If that is unknown, no share is computed.

use super::super::pooled::PooledWindows;
use super::super::types::{Cause, Confidence, Evidence};
use super::super::words::against;
use super::shares::Shares;
use super::worse;
use crate::model::MetricId;

/// Stolen time in a slowdown.
pub(super) struct Stolen {
    pub evidence: Option<Evidence>,
    /// The share of the slowdown that shows as CPU time only because of it.
    pub in_cpu_time: f64,
    /// All shares, adjusted for stolen time.
    pub shares: Shares,
}

/// `in_cpu_time`: whether a task's CPU time includes time taken while it ran, if known.
pub(super) fn stolen(pool: &PooledWindows, shares: Shares, in_cpu_time: Option<bool>) -> Stolen {
    let none = Stolen { evidence: None, in_cpu_time: 0.0, shares };
    let Some((moved, longer)) = longer(pool) else { return none };
    // `min` and `max` skip NaN.
    let (share, shares) = match (in_cpu_time, shares.total) {
        (Some(true), Some(total)) => (Some((longer / total).min(shares.cpu_side().min(1.0)).max(0.0)), shares),
        (Some(false), Some(total)) => (Some(longer / (total + longer)), shares.beside(longer)),
        _ => (None, shares),
    };
    let surely = share.is_some_and(|share| share >= 0.5) || in_cpu_time == Some(false) && share.is_none();
    let place = match in_cpu_time {
        Some(true) => "",
        Some(false) => " This kernel does not count that as CPU time.",
        None => " Whether this kernel counts that as CPU time is not known, nor how much of the slowdown it is.",
    };
    Stolen {
        evidence: Some(Evidence {
            cause: Cause::Steal,
            share,
            confidence: if surely { Confidence::High } else { Confidence::Medium },
            text: format!("{}: the hypervisor ran others while this machine had work.{place}", against(moved)),
        }),
        in_cpu_time: share.filter(|_| in_cpu_time == Some(true)).unwrap_or(0.0),
        shares,
    }
}

/// The logarithm of how much longer work takes because of stolen time.
fn longer(pool: &PooledWindows) -> Option<(&super::super::types::Moved, f64)> {
    let moved = worse(pool, MetricId::StealShare)?;
    let busy = pool.get(MetricId::HostBusy)?;
    let stretch = |busy: f64, stolen: f64| (busy > stolen && stolen >= 0.0).then(|| busy / (busy - stolen));
    let ratio = stretch(busy.now, moved.now)? / stretch(busy.expected, moved.expected)?;
    Some((moved, ratio.ln().max(0.0)))
}
