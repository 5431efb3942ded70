//! Where the threads' time goes: running, waiting for a CPU, or blocked, and on what.
//! A wait whose end was not seen gets no cause.

use super::factor::{Factor, Sources};
use crate::analysis::{Cause, off_cpu_totals};
use crate::model::MetricId;
use crate::view::context::ViewContext;
use serde::Serialize;

/// Blocked time of one cause.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Wait {
    /// Label for display.
    pub label: &'static str,
    /// Share of the threads' time, 0 to 1.
    pub share: f64,
}

/// The shares of the threads' time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Split {
    /// Running, waiting for a CPU, blocked; they add up to 1.
    pub parts: Vec<Factor>,
    /// Mean number of threads alive.
    pub threads: Box<Factor>,
    /// Blocked time by cause, as far as known, largest first; empty if off-CPU time was not recorded.
    pub waits: Vec<Wait>,
}

/// A smaller remainder of blocked time is rounding.
const LEAST_REST: f64 = 0.001;

impl Split {
    pub(super) fn of(context: &ViewContext<'_>, from: &Sources<'_>) -> Split {
        let parts =
            [(MetricId::RunShare, "run"), (MetricId::RunQueueDelay, "queue"), (MetricId::BlockedShare, "blocked")];
        let parts: Vec<_> = parts.iter().map(|(id, label)| Factor::metric(*id, label, from)).collect();
        let threads = Box::new(Factor::metric(MetricId::Threads, "threads", from));
        let blocked = parts[2].value.value().copied();
        let waits = threads.value.value().map_or_else(Vec::new, |threads| waits(context, *threads, blocked));
        Split { parts, threads, waits }
    }
}

fn waits(context: &ViewContext<'_>, threads: f64, blocked: Option<f64>) -> Vec<Wait> {
    let time = context.selection.time;
    let span = time.to.unwrap_or(context.bounds.now) - time.from;
    let whole = threads * span.as_f64();
    if whole <= 0.0 || (context.profile.off_cpu.is_empty() && !context.profile.meta.plan.off_cpu) {
        return Vec::new();
    }
    let totals = off_cpu_totals(context.profile, &context.names, &context.tasks, &context.selection);
    let causes = totals.causes.iter().filter(|total| total.cause != Cause::RunQueue);
    let mut waits: Vec<_> =
        causes.map(|total| Wait { label: short(total.cause), share: total.total.as_f64() / whole }).collect();
    let seen: f64 = waits.iter().map(|wait| wait.share).sum();
    // If its wake-up was not seen, a span includes run-queue time: the parts are scaled down to fit the whole.
    if let Some(blocked) = blocked.filter(|blocked| *blocked < seen) {
        waits.iter_mut().for_each(|wait| wait.share *= blocked / seen);
    }
    // A thread that has not been woken yet has no span: only the length of its wait is known.
    if let Some(rest) = blocked.map(|blocked| blocked - seen).filter(|rest| *rest > LEAST_REST) {
        waits.push(Wait { label: "still waiting", share: rest });
    }
    waits.sort_by(|a, b| b.share.total_cmp(&a.share));
    waits
}

fn short(cause: Cause) -> &'static str {
    match cause {
        Cause::Lock => "lock",
        Cause::BlockIo => "block I/O",
        Cause::Network => "network",
        Cause::Sleep => "sleep",
        Cause::RunQueue => "preempted",
        Cause::Events => "events",
        Cause::Pipe => "pipe",
        Cause::Other => "other",
        Cause::Unknown => "unknown",
    }
}
