//! What keeps a target from running: its quota, others on its CPUs, storage. Idle time does not count as waiting.

use super::super::pooled::PooledWindows;
use super::super::types::{Cause, Evidence, QuantityDeviation};
use super::super::words::comparison;
use super::shares::SlowdownShares;
use crate::analysis::finding::Confidence;
use crate::analysis::text::percent;
use crate::model::MetricId;

/// How much each wait grew, relative to CPU time.
struct Added {
    queue: f64,
    io: f64,
}

/// The causes that fit.
pub(super) fn evidence(pool: &PooledWindows, shares: &SlowdownShares) -> Vec<Evidence> {
    let added = added(pool);
    let part = |wait: f64| {
        let both = added.queue.max(0.0) + added.io.max(0.0);
        shares.waits.filter(|_| both > 0.0).map(|share| share * wait.max(0.0) / both)
    };
    let mut all = Vec::new();
    let throttled = pool.grown(MetricId::ThrottledShare);
    all.extend(throttled.map(|moved| throttling(moved, part(added.queue))));
    if throttled.is_none() {
        let queued = pool.grown(MetricId::RunQueueDelay).or_else(|| pool.grown(MetricId::RunQueueDelayPerOp));
        all.extend(queued.map(|moved| run_queue(pool, moved, part(added.queue))));
    }
    all.extend(io(pool, part(added.io)));
    all.extend(waiting(pool));
    all
}

fn added(pool: &PooledWindows) -> Added {
    let running = pool.get(MetricId::Utilisation).map(|moved| (moved.now, moved.expected));
    let grown = |id| match (pool.get(id), running) {
        (Some(moved), Some((now, then))) if now > 0.0 && then > 0.0 => moved.now / now - moved.expected / then,
        _ => 0.0,
    };
    Added { queue: grown(MetricId::RunQueueDelay), io: grown(MetricId::BlockIoDelay) }
}

fn throttling(moved: &QuantityDeviation, share: Option<f64>) -> Evidence {
    Evidence {
        cause: Cause::Throttling,
        share,
        confidence: Confidence::High,
        text: format!("{}: its control group's CPU quota stopped it.", comparison(moved)),
    }
}

fn run_queue(pool: &PooledWindows, moved: &QuantityDeviation, share: Option<f64>) -> Evidence {
    let busy = pool.get(MetricId::HostBusy).map_or(String::new(), |host| {
        format!(" All CPUs together were {} busy, usually {}.", percent(host.now), percent(host.expected))
    });
    Evidence {
        cause: Cause::RunQueue,
        share,
        confidence: Confidence::High,
        text: format!("{}: its threads could run and had no CPU.{busy}", comparison(moved)),
    }
}

/// Where the kernel does not count threads' waits for storage, uses the pressure of their control group.
fn io(pool: &PooledWindows, share: Option<f64>) -> Option<Evidence> {
    let direct = pool.grown(MetricId::BlockIoDelay);
    let pressure = pool.grown(MetricId::PsiIoSome);
    let moved = direct.or(pressure)?;
    Some(Evidence {
        cause: Cause::Io,
        share: share.filter(|_| direct.is_some()),
        confidence: if direct.is_some() { Confidence::High } else { Confidence::Medium },
        text: format!("{}: it waited longer for storage.", comparison(moved)),
    })
}

/// Blocked longer while less was completed, and not on storage.
fn waiting(pool: &PooledWindows) -> Option<Evidence> {
    let blocked = pool.grown(MetricId::BlockedShare)?;
    let fewer = pool.get(crate::analysis::diff::RATE).filter(|rate| rate.moved && rate.deviations < 0.0)?;
    Some(Evidence {
        cause: Cause::Waiting,
        share: None,
        confidence: Confidence::Low,
        text: format!(
            "{}, and {}: it waited for something, or had less to do.",
            comparison(blocked),
            comparison(fewer)
        ),
    })
}
