//! Where off-CPU time went: by cause, and by the call path that waited. Blocked time and run-queue time after the
//! wake-up are always separate numbers.

use super::causes::{Cause, cause};
use super::names::{Call, CodeKind, Names};
use super::observe::{Observation, spans};
use super::selection::Selection;
use super::tasks::Tasks;
use super::wait_coverage::WaitCoverage;
use crate::model::profile::Profile;
use crate::model::{OffCpu, StackId, TaskState, WaitBegan};
use crate::units::Nanos;
use rustc_hash::FxHashMap;

/// The spans of one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CauseTotal {
    /// The cause.
    pub cause: Cause,
    /// Spans.
    pub count: u64,
    /// Time blocked; for preempted threads, time waiting for a CPU.
    pub total: Nanos,
    /// The longest span.
    pub max: Nanos,
}

impl CauseTotal {
    /// The mean length of a span; zero without spans.
    #[must_use]
    pub fn mean(&self) -> Nanos {
        Nanos(self.total.0.checked_div(self.count).unwrap_or_default())
    }
}

/// All spans of a selection.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OffCpuTotals {
    /// By cause, largest first; without causes that have no spans.
    pub causes: Vec<CauseTotal>,
    /// Time waiting for a CPU after a wake-up, not part of `causes`.
    pub queued_after_wake: Nanos,
    /// The longest such wait.
    pub longest_queue: Nanos,
    /// Wake-ups with such a wait.
    pub wakes: u64,
    /// Spans without a recorded wake-up: their blocked time includes any run-queue time.
    pub without_wakeup: u64,
    /// How much of the blocked time has a known cause.
    pub coverage: WaitCoverage,
}

/// How old the oldest of some waits was that began before the capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WaitAge {
    /// The time since the thread ran.
    pub age: Nanos,
    /// Whether it is that, and not only the least that it can be.
    pub known: bool,
}

impl WaitAge {
    /// The age of a wait at the end of this span, if it began before the capture.
    #[must_use]
    pub fn of(span: &OffCpu) -> Option<WaitAge> {
        match span.began {
            WaitBegan::Seen => None,
            WaitBegan::Before => Some(WaitAge { age: span.longest, known: true }),
            WaitBegan::LongBefore => Some(WaitAge { age: span.longest, known: false }),
        }
    }
}

/// A call path that waited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockedPath {
    /// The cause.
    pub cause: Cause,
    /// The program's functions, innermost first.
    pub frames: Vec<String>,
    /// Spans.
    pub count: u64,
    /// Time blocked.
    pub total: Nanos,
    /// The longest span.
    pub max: Nanos,
    /// The age of the oldest wait that began before the capture, if any did.
    pub age: Option<WaitAge>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    count: u64,
    total: Nanos,
    max: Nanos,
    age: Option<WaitAge>,
}

impl Sum {
    /// Adds the selected part of a span, of this length.
    fn add(&mut self, span: &OffCpu, length: Nanos) {
        self.count = self.count.saturating_add(span.count);
        self.total = Nanos(self.total.0.saturating_add(length.0));
        self.max = self.max.max(longest(span, length));
        self.age = self.age.max(WaitAge::of(span));
    }
}

/// The longest wait in this part of a span. Of a sum only the whole length of its longest wait is known. A wait that began
/// before the capture comes in parts, each with its age.
fn longest(span: &OffCpu, part: Nanos) -> Nanos {
    match span.began {
        WaitBegan::Seen if span.count > 1 => span.longest.min(part),
        WaitBegan::Seen => part,
        WaitBegan::Before | WaitBegan::LongBefore => span.longest,
    }
}

/// A preempted thread was not blocked: its whole span is run-queue time.
fn length(state: TaskState, seen: &Observation) -> Nanos {
    if state == TaskState::Runnable { Nanos(seen.weight.saturating_add(seen.queued)) } else { Nanos(seen.weight) }
}

/// Sums the selection's spans by cause.
#[must_use]
pub fn off_cpu_totals(profile: &Profile, names: &Names, tasks: &Tasks, selection: &Selection) -> OffCpuTotals {
    let mut causes: FxHashMap<Cause, Sum> = FxHashMap::default();
    let mut totals = OffCpuTotals::default();
    each(profile, names, tasks, selection, |span, seen, cause| {
        causes.entry(cause).or_default().add(span, length(span.state, seen));
        totals.coverage.add(span, seen.weight);
        if span.state == TaskState::Runnable {
            return;
        }
        totals.without_wakeup += if span.queued.is_none() { span.count } else { 0 };
        if seen.queued > 0 {
            totals.wakes = totals.wakes.saturating_add(span.count);
            totals.queued_after_wake = Nanos(totals.queued_after_wake.0.saturating_add(seen.queued));
            totals.longest_queue = totals.longest_queue.max(Nanos(seen.queued / span.count.max(1)));
        }
    });
    let rows = causes.into_iter();
    totals.causes =
        rows.map(|(cause, sum)| CauseTotal { cause, count: sum.count, total: sum.total, max: sum.max }).collect();
    totals.causes.sort_unstable_by(|a, b| b.total.cmp(&a.total).then(a.cause.cmp(&b.cause)));
    totals
}

/// The call paths that waited, longest first. A path is identified by the program's functions and the cause. Preemption
/// is left out: where a thread happened to be preempted explains nothing.
#[must_use]
pub fn blocked_paths(profile: &Profile, names: &Names, tasks: &Tasks, selection: &Selection) -> Vec<BlockedPath> {
    let mut paths: FxHashMap<(Cause, Vec<u32>), Sum> = FxHashMap::default();
    each(profile, names, tasks, selection, |span, seen, cause| {
        if span.state != TaskState::Runnable {
            let functions = user(profile, names, span.stack).map(|call| call.function).collect();
            paths.entry((cause, functions)).or_default().add(span, length(span.state, seen));
        }
    });
    let name = |function: &u32| names.functions[*function as usize].name.clone();
    let rows = paths.into_iter().map(|((cause, functions), sum)| BlockedPath {
        cause,
        frames: functions.iter().map(name).collect(),
        count: sum.count,
        total: sum.total,
        max: sum.max,
        age: sum.age,
    });
    let mut rows: Vec<_> = rows.collect();
    rows.sort_unstable_by(|a, b| b.total.cmp(&a.total).then_with(|| (a.cause, &a.frames).cmp(&(b.cause, &b.frames))));
    rows
}

/// How long each thread was blocked, by cause, largest first. Preemption is left out: it is run-queue time.
#[must_use]
pub fn waits_by_thread(
    profile: &Profile,
    names: &Names,
    tasks: &Tasks,
    selection: &Selection,
) -> FxHashMap<u32, Vec<(Cause, Nanos)>> {
    let mut waits: FxHashMap<u32, Vec<(Cause, Nanos)>> = FxHashMap::default();
    each(profile, names, tasks, selection, |span, seen, cause| {
        if span.state != TaskState::Runnable {
            let causes = waits.entry(span.tid).or_default();
            match causes.iter_mut().find(|(other, _)| *other == cause) {
                Some((_, total)) => *total = Nanos(total.0.saturating_add(seen.weight)),
                None => causes.push((cause, Nanos(seen.weight))),
            }
        }
    });
    for causes in waits.values_mut() {
        causes.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    }
    waits
}

/// Visits every span of the selection with its cause.
pub(super) fn each(
    profile: &Profile,
    names: &Names,
    tasks: &Tasks,
    selection: &Selection,
    mut visit: impl FnMut(&OffCpu, &Observation, Cause),
) {
    let who = selection.who(tasks);
    let mut known: FxHashMap<_, Cause> = FxHashMap::default();
    for (span, seen) in spans(profile, selection.time, &who) {
        let known = known.entry((span.stack, span.state));
        visit(&span, &seen, *known.or_insert_with(|| cause_of(profile, names, span.stack, span.state)));
    }
}

/// Why a thread that left the CPU in this state with this stack did not run.
#[must_use]
pub fn cause_of(profile: &Profile, names: &Names, stack: Option<StackId>, state: TaskState) -> Cause {
    let text = |call: Call| names.text(call.label);
    cause(state, kernel(profile, names, stack).map(text), user(profile, names, stack).map(text))
}

fn of_kind<'a>(
    profile: &'a Profile,
    names: &'a Names,
    stack: Option<StackId>,
    kernel: bool,
) -> impl Iterator<Item = Call> + 'a {
    let is_kernel = |call: &Call| names.kind(call.label) == CodeKind::Kernel;
    names.walk(profile, stack).filter(move |call| is_kernel(call) == kernel)
}

/// Kernel functions with a name: an unresolved kernel stack is no better than none.
pub(super) fn kernel<'a>(
    profile: &'a Profile,
    names: &'a Names,
    stack: Option<StackId>,
) -> impl Iterator<Item = Call> + 'a {
    of_kind(profile, names, stack, true).filter(|call| !call.faceless)
}

pub(super) fn user<'a>(
    profile: &'a Profile,
    names: &'a Names,
    stack: Option<StackId>,
) -> impl Iterator<Item = Call> + 'a {
    of_kind(profile, names, stack, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use TaskState::{Runnable, Sleeping};

    const FUTEX: &str = "app!main;libc!pthread_cond_wait;[kernel]!do_futex;[kernel]!futex_wait;[kernel]!schedule";

    fn profile() -> Profile {
        let mut synthetic = Synthetic::new();
        synthetic
            .off_cpu(0, 41, Sleeping, 30, Some(2), FUTEX)
            .off_cpu(100, 41, Sleeping, 10, None, FUTEX)
            .off_cpu(200, 41, Runnable, 0, Some(7), "app!main")
            .off_cpu(300, 42, Sleeping, 50, Some(0), "app!main;[kernel]!do_nanosleep");
        synthetic.finish()
    }

    #[test]
    fn blocked_and_queued_time_are_split_and_preemption_is_a_cause() {
        let profile = profile();
        let totals = off_cpu_totals(&profile, &Names::of(&profile), &Tasks::of(&profile), &Selection::default());
        let rows: Vec<_> =
            totals.causes.iter().map(|row| (row.cause, row.count, row.total, row.mean(), row.max)).collect();
        assert_eq!(
            rows,
            [
                (Cause::Sleep, 1, ms(50), ms(50), ms(50)),
                (Cause::Lock, 2, ms(40), ms(20), ms(30)),
                (Cause::RunQueue, 1, ms(7), ms(7), ms(7)),
            ]
        );
        assert_eq!((totals.queued_after_wake, totals.wakes, totals.without_wakeup), (ms(2), 1, 1));
    }

    #[test]
    fn a_blocked_path_holds_the_programs_own_functions() {
        let profile = profile();
        let selection = Selection { tids: vec![41], ..Selection::default() };
        let paths = blocked_paths(&profile, &Names::of(&profile), &Tasks::of(&profile), &selection);
        let expected = BlockedPath {
            cause: Cause::Lock,
            frames: vec!["pthread_cond_wait".to_string(), "main".to_string()],
            count: 2,
            total: ms(40),
            max: ms(30),
            age: None,
        };
        assert_eq!(paths, [expected]);
    }

    #[test]
    fn a_wait_that_began_before_the_capture_has_its_age_and_counts_in_full() {
        let mut synthetic = Synthetic::new();
        synthetic.earlier_wait(41, Some(60_000), 2_000, FUTEX).earlier_wait(42, None, 2_000, FUTEX);
        let profile = synthetic.finish();
        let (names, tasks) = (Names::of(&profile), Tasks::of(&profile));
        let totals = off_cpu_totals(&profile, &names, &tasks, &Selection::default());
        let rows: Vec<_> = totals.causes.iter().map(|row| (row.cause, row.count, row.total, row.max)).collect();
        assert_eq!(rows, [(Cause::Lock, 2, ms(4_000), ms(62_000))]);
        assert_eq!(totals.without_wakeup, 0, "threads that are still blocked wait for no CPU");
        for (tid, age) in
            [(41, WaitAge { age: ms(62_000), known: true }), (42, WaitAge { age: ms(2_000), known: false })]
        {
            let selection = Selection { tids: vec![tid], ..Selection::default() };
            let paths = blocked_paths(&profile, &names, &tasks, &selection);
            assert_eq!(paths.iter().map(|path| (path.total, path.age)).collect::<Vec<_>>(), [(ms(2_000), Some(age))]);
        }
    }
}
