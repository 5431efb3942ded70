//! What the threads of recorded operations did within them: waits and samples, each assigned to the operation in which it
//! lies.

use crate::analysis::causes::Cause;
use crate::analysis::names::Names;
use crate::analysis::offcpu::each;
use crate::analysis::selection::{Axis, Selection};
use crate::analysis::tasks::Tasks;
use crate::analysis::time::{TimeRange, Window};
use crate::model::profile::Profile;
use crate::model::{StackId, TaskState, TimedOperation, WaitSource};
use crate::units::Nanos;
use rustc_hash::FxHashMap;

/// An operation with what was seen in it, nanoseconds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JoinedOperation {
    pub operation: TimedOperation,
    /// Time blocked, by cause and stack, as far as its waits were recorded one by one.
    pub waits: Vec<(Cause, Option<StackId>, u64)>,
    /// Samples, by stack.
    pub samples: Vec<(Option<StackId>, u64)>,
    /// The sums of blocked and queued time of the waits that were recorded one by one.
    seen: (u64, u64),
}

impl JoinedOperation {
    /// The time blocked and queued; `every_wait` tells whether all waits are recorded one by one.
    pub fn waited(&self, every_wait: bool) -> Option<(u64, u64)> {
        match (self.operation.blocked, self.operation.queued) {
            (Some(blocked), Some(queued)) => Some((blocked.0, queued.0)),
            _ if every_wait => Some(self.seen),
            _ => None,
        }
    }
}

/// The operations that ended in the window.
pub(super) fn joined(profile: &Profile, names: &Names, tasks: &Tasks, window: Window) -> Vec<JoinedOperation> {
    let chosen = profile.operations.iter().filter(|it| it.end() > window.from && it.end() <= window.to);
    let mut found: Vec<JoinedOperation> = chosen
        .map(|operation| JoinedOperation { operation: *operation, waits: vec![], samples: vec![], seen: (0, 0) })
        .collect();
    found.sort_unstable_by_key(|it| (it.operation.tid, it.operation.at));
    let threads = by_thread(&found);
    join_waits(profile, names, tasks, &threads, &mut found);
    join_samples(profile, &threads, &mut found);
    found
}

/// Whether all waits of the recording are there one by one.
pub(super) fn has_every_wait(profile: &Profile) -> bool {
    profile.meta.plan.off_cpu && matches!(profile.meta.waits, None | Some(WaitSource::Tracepoints))
}

/// The positions of each thread's operations, in the order in which they began.
fn by_thread(found: &[JoinedOperation]) -> FxHashMap<u32, (usize, usize)> {
    let mut threads: FxHashMap<u32, (usize, usize)> = FxHashMap::default();
    for (at, it) in found.iter().enumerate() {
        threads.entry(it.operation.tid).or_insert((at, at)).1 = at + 1;
    }
    threads
}

/// The operations of a thread that may overlap `from` to `to`: those that began before `to`, from the last one that began
/// before `from` on. Operations of a thread follow one another.
fn overlapping(
    threads: &FxHashMap<u32, (usize, usize)>,
    found: &[JoinedOperation],
    tid: u32,
    from: Nanos,
    to: Nanos,
) -> std::ops::Range<usize> {
    let Some(&(first, end)) = threads.get(&tid) else { return 0..0 };
    let began = |limit: Nanos| first + found[first..end].partition_point(|it| it.operation.at <= limit);
    began(from).saturating_sub(1).max(first)..began(to)
}

fn join_waits(
    profile: &Profile,
    names: &Names,
    tasks: &Tasks,
    threads: &FxHashMap<u32, (usize, usize)>,
    found: &mut [JoinedOperation],
) {
    let selection = Selection { axis: Axis::OffCpu, ..Selection::default() };
    each(profile, names, tasks, &selection, |span, _, cause| {
        // A record of several waits has no single moment.
        if span.count != 1 || span.estimated || span.longest != span.whole() {
            return;
        }
        let end = Nanos(span.at.0.saturating_add(span.whole().0));
        for at in overlapping(threads, found, span.tid, span.at, end) {
            let within = TimeRange { from: found[at].operation.at, to: Some(found[at].operation.end()) };
            let woken = Nanos(span.at.0.saturating_add(span.blocked.0));
            let blocked = within.overlap(span.at, span.blocked).0;
            let queued = within.overlap(woken, span.queued.unwrap_or_default()).0;
            let it = &mut found[at];
            it.seen = (it.seen.0.saturating_add(blocked), it.seen.1.saturating_add(queued));
            if blocked > 0 && span.state != TaskState::Runnable {
                it.waits.push((cause, span.stack, blocked));
            }
        }
    });
}

fn join_samples(profile: &Profile, threads: &FxHashMap<u32, (usize, usize)>, found: &mut [JoinedOperation]) {
    for sample in profile.samples.iter().filter(|sample| sample.event == 0) {
        for at in overlapping(threads, found, sample.tid, sample.at, sample.at) {
            let it = &mut found[at];
            if it.operation.at <= sample.at && sample.at < it.operation.end() {
                it.samples.push((sample.stack, sample.weight));
            }
        }
    }
}
