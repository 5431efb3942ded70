//! Reduces one run of a sweep to its results, so that its recording need not be kept in memory.

use super::cost::Sums;
use super::split::{Clocks, split};
use super::types::{Cost, Run, RunLatency, Split};
use crate::analysis::observe::Observation;
use crate::analysis::parked::parked;
use crate::analysis::{
    Axis, Cause, Counters, Names, Selection, StackCounts, Tasks, ThreadRow, ThreadSet, TimeRange, Totals, Window,
    cpu_users, metrics, offcpu, operations, summary, threads,
};
use crate::model::profile::Profile;
use crate::model::{LockCode, Measure, Scope, TaskState, Unit, Why};
use std::collections::BTreeMap;

impl Run {
    /// Analyses one run from its recording: `n` threads (or CPUs), measured in the smallest window between readings
    /// that contains `window`.
    ///
    /// Its workers are the `n` threads with most CPU time; [`Totals::threads`] is `n` times the window's length,
    /// whatever threads there were, so that helpers that only wait do not count as idle workers.
    #[must_use]
    pub fn of(profile: &Profile, n: u32, window: Window) -> Run {
        Run::with_locks(profile, n, window, &LockCode::default())
    }

    /// The same, with the part of each call path that a lock has.
    #[must_use]
    pub fn with_locks(profile: &Profile, n: u32, window: Window, locks: &LockCode) -> Run {
        // Counts between two readings cannot be split, so the window grows to where counters were read.
        let window = window.range().window(&profile.ticks, profile.duration());
        let (tasks, counters, names) = (Tasks::of(profile), Counters::of(profile), Names::of(profile));
        let wall = window.span().seconds();
        let whole = f64::from(n) * wall;
        // What happened at the very end is a part of the whole.
        let time = TimeRange { from: window.from, to: Some(window.to).filter(|to| *to < profile.duration()) };
        let counted = |axis| StackCounts::of(profile, &tasks, &Selection { time, axis, ..Selection::default() });
        let first = counted(Axis::Event(0));
        let seen = summary(profile, &counters, &first, window);
        let metrics = metrics(&counters, &ThreadSet::All, window, Some(&seen));
        let totals =
            Totals { threads: Measure::exact(whole), ..Totals::of(&metrics, operations(profile, window), wall) };
        let cpu = cpu_axis(profile);
        let clocked = match cpu {
            Some((axis, _)) if axis != first.selection.axis => counted(axis),
            _ => first,
        };
        let rows = threads(&tasks, &counters, &clocked, window);
        let (workers, parked) = workers(&rows, &counters, n, window);
        let waits = waits(profile, (&names, &tasks, locks), &workers, window);
        let seconds = |name| counters.delta(name, Scope::Target, window).map(|ns| ns * 1e-9);
        let delay = delay(seconds("run-delay"), waits.as_ref());
        let (blocked, causes) = waits.map_or((None, vec![]), |waits| (Some(waits.cost), waits.causes));
        let clocks = Clocks { cpu: totals.cpu, delay, throttled: seconds("cgroup-throttled-time") };
        let split: Split = split(whole, &clocks, &causes);
        let sampled = |unit| Sums::of(&clocked).cost_by(profile, &names, unit, locks).in_samples();
        let cpu = cpu.map_or_else(Cost::default, |(_, unit)| sampled(unit));
        Run {
            n,
            totals,
            metrics,
            split,
            balance: balance(&workers),
            parked,
            workers: workers.iter().filter_map(|worker| worker.cpu.value().copied()).collect(),
            virtual_machine: profile.meta.host.virtual_machine,
            stolen_in_cpu_time: profile.meta.host.stolen_in_cpu_time,
            cpu,
            blocked,
            latency: RunLatency::of(profile, window),
            cpu_users: cpu_users(profile, &counters, (&ThreadSet::All, &rows), window),
        }
    }
}

/// Time in the run queue while others ran. Each source misses some: the scheduler's count misses threads that ended
/// between two readings, the spans off the CPU miss threads that are not workers.
fn delay(scheduler: Measure<f64>, waits: Option<&Waits>) -> Measure<f64> {
    match (scheduler, waits) {
        (Measure::Known { value, quality }, Some(waits)) => {
            Measure::Known { value: (value - waits.waking).max(waits.queued), quality }
        }
        (Measure::Missing(_), Some(waits)) => Measure::exact(waits.queued),
        (delay, None) => delay,
    }
}

/// A thread that worked.
struct Worker {
    tid: u32,
    /// CPU time, seconds.
    cpu: Measure<f64>,
}

/// The `n` threads with most CPU time, and how many of these hardly ran and are no workers. A thread that came and went between
/// two readings has its part of the samples instead.
fn workers(rows: &[ThreadRow], counters: &Counters, n: u32, window: Window) -> (Vec<Worker>, u32) {
    let samples = rows.iter().map(|row| row.samples).fold(0, u64::saturating_add);
    let all = counters.delta("task-clock", Scope::Target, window).map(|ns| ns * 1e-9);
    let sampled = |row: &ThreadRow| {
        all.ratio(Measure::exact(samples as f64), |all, whole| (whole > 0.0).then(|| all * row.samples as f64 / whole))
    };
    let cpu = |row: &ThreadRow| if row.cpu_time.value().is_some() { row.cpu_time } else { sampled(row) };
    let mut workers: Vec<_> = rows.iter().map(|row| Worker { tid: row.task.tid, cpu: cpu(row) }).collect();
    // Stable: without any CPU time the rows keep their order by samples.
    let known = |worker: &Worker| worker.cpu.value().copied().unwrap_or(-1.0);
    workers.sort_by(|a, b| known(b).total_cmp(&known(a)));
    workers.truncate(n as usize);
    let (parked, wanted) = (parked(rows), workers.len());
    workers.retain(|worker| !parked.contains(&worker.tid));
    let parked = u32::try_from(wanted - workers.len()).unwrap_or(n);
    (workers, parked)
}

/// Missing threads do not count: starting fewer threads than requested is not imbalance.
fn balance(workers: &[Worker]) -> Measure<f64> {
    let times: Vec<f64> = workers.iter().filter_map(|worker| worker.cpu.value().copied()).collect();
    let most = times.iter().copied().fold(0.0, f64::max);
    if times.is_empty() {
        let why = workers.iter().find_map(|worker| worker.cpu.why());
        return Measure::Missing(why.unwrap_or(Why::NotRecorded));
    }
    if most > 0.0 {
        Measure::exact(times.iter().sum::<f64>() / times.len() as f64 / most)
    } else {
        Measure::Missing(Why::Idle)
    }
}

/// The first event that represents CPU time, and its unit: of several, the first with samples. Page faults and the like do
/// not.
fn cpu_axis(profile: &Profile) -> Option<(Axis, Unit)> {
    let is_time = |unit: &Unit| matches!(unit, Unit::Nanos | Unit::Cycles | Unit::Samples | Unit::Microsamples);
    let time = || profile.meta.events.iter().map(|event| event.unit).zip(0..).filter(|(unit, _)| is_time(unit));
    let sampled = time().find(|(_, event)| profile.samples.event.contains(event));
    sampled.or(time().next()).map(|(unit, at)| (Axis::Event(at), unit))
}

/// A thread that runs sooner than this after its wake-up found a CPU free: the time is the price of sleeping, not of
/// too few CPUs. Waking an idle CPU takes 5 to 80 us, more in a virtual machine; the time slice of another thread is
/// 700 us and more.
const WAKE_UP_NS: u64 = 200_000;

/// The workers' time off the CPU, in seconds.
struct Waits {
    cost: Cost,
    /// By cause, including the time until the thread ran again if a CPU was free.
    causes: Vec<(Cause, f64)>,
    /// Time in the run queue while others ran.
    queued: f64,
    /// Wake-up time, part of `causes`; the scheduler counts it as time in its queue.
    waking: f64,
}

/// The workers' time off the CPU; `None` where it was not recorded.
fn waits(
    profile: &Profile,
    (names, tasks, locks): (&Names, &Tasks, &LockCode),
    workers: &[Worker],
    window: Window,
) -> Option<Waits> {
    if !profile.meta.plan.off_cpu && profile.off_cpu.is_empty() {
        return None;
    }
    let tids: Vec<u32> = workers.iter().map(|worker| worker.tid).collect();
    let (mut sums, mut causes) = (Sums::default(), BTreeMap::<Cause, u64>::new());
    let (mut queued, mut waking) = (0_u64, 0_u64);
    // An empty list would mean every thread.
    if !tids.is_empty() {
        let selection = Selection { tids, time: window.range(), axis: Axis::OffCpu, ..Selection::default() };
        offcpu::each(profile, names, tasks, &selection, |span, seen, cause| {
            // A preempted thread was in the queue the whole time.
            if span.state == TaskState::Runnable {
                queued = queued.saturating_add(seen.queued).saturating_add(seen.weight);
                return;
            }
            let free = seen.queued < WAKE_UP_NS;
            let after = if free { &mut waking } else { &mut queued };
            *after = after.saturating_add(seen.queued);
            let blocked = seen.weight.saturating_add(if free { seen.queued } else { 0 });
            sums.add(&Observation { weight: blocked, ..*seen });
            let sum = causes.entry(cause).or_default();
            *sum = sum.saturating_add(blocked);
        });
    }
    let seconds = |ns: u64| ns as f64 * 1e-9;
    let causes = causes.into_iter().map(|(cause, ns)| (cause, seconds(ns))).collect();
    let cost = sums.cost_by(profile, names, Unit::Nanos, locks);
    Some(Waits { cost, causes, queued: seconds(queued), waking: seconds(waking) })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::StackId;
    use crate::units::{Nanos, Ops};

    const WINDOW: Window = Window { from: ms_const(1000), to: ms_const(3000) };
    const FUTEX: &str = "app!main;app!work;libc.so.6!pthread_mutex_lock;[kernel]!futex_wait;[kernel]!schedule";

    const fn ms_const(milliseconds: u64) -> crate::units::Nanos {
        crate::units::Nanos(milliseconds * 1_000_000)
    }

    /// Two workers, one of which waits for a lock, and a main thread that waits for both the whole time.
    fn synthetic() -> Synthetic {
        let mut synthetic = Synthetic::new();
        synthetic.weight = 10_000_000;
        synthetic.alive(41, "main").alive(42, "worker").alive(43, "worker");
        for (tid, cpu) in [(41, 0), (42, 2000), (43, 1000)] {
            synthetic.reading("task-clock", Scope::Thread(tid), 1000, 0);
            synthetic.reading("task-clock", Scope::Thread(tid), 3000, ms(cpu).0);
        }
        for (name, at, value) in [("task-clock", 1000, 0), ("task-clock", 3000, ms(3000).0)] {
            synthetic.reading(name, Scope::Target, at, value);
        }
        synthetic.reading("run-delay", Scope::Target, 3000, ms(200).0);
        synthetic.samples(500, 42, "app!main;app!warm_up", 10);
        synthetic.samples(1000, 42, "app!main;app!work", 200).samples(1000, 43, "app!main;app!work", 100);
        synthetic.off_cpu(900, 41, TaskState::Sleeping, 5000, None, "app!main;[kernel]!futex_wait");
        synthetic.off_cpu(2000, 43, TaskState::Sleeping, 500, Some(100), FUTEX);
        synthetic.off_cpu(2700, 43, TaskState::Runnable, 0, Some(100), "app!main");
        synthetic
    }

    fn run(synthetic: Synthetic) -> Run {
        let mut profile = synthetic.finish();
        profile.ops = vec![(ms(1000), Ops(100)), (ms(3000), Ops(500))];
        Run::of(&profile, 2, WINDOW)
    }

    #[test]
    fn a_run_is_what_its_workers_did_in_its_window() {
        let run = run(synthetic());
        assert_eq!((run.n, run.totals.wall, run.totals.ops), (2, 2.0, Measure::exact(400.0)));
        assert_eq!((run.totals.cpu, run.totals.threads), (Measure::exact(3.0), Measure::exact(4.0)));
        let (running, queued, unseen) = (run.split.running, run.split.queued, run.split.unseen);
        assert_eq!((running, queued), (Measure::exact(3.0), Measure::exact(0.2)));
        assert_eq!(run.split.blocked, [(Cause::Lock, 0.5)], "the main thread is no worker");
        assert!((unseen.value().unwrap() - 0.3).abs() < 1e-9);
        assert_eq!(run.split.throttled, Measure::Missing(Why::NotRecorded));
        assert_eq!(run.balance, Measure::exact(0.75));
        assert_eq!((run.cpu.samples, run.cpu.weight), (300, 3e9), "warming up is left out");
        let blocked = run.blocked.unwrap();
        assert_eq!((blocked.samples, blocked.weight, blocked.paths.len()), (1, 5e8, 1));
        assert_eq!(blocked.paths[0].frames[2].module, "libc.so.6");
    }

    #[test]
    fn where_the_scheduler_saw_less_the_workers_own_spans_tell_the_queue() {
        let mut synthetic = synthetic();
        let late = synthetic.define("run-delay");
        let mut profile = synthetic.finish();
        profile.readings.update(|reading| reading.value /= if reading.counter == late { 2 } else { 1 });
        assert_eq!(Run::of(&profile, 2, WINDOW).split.queued, Measure::exact(0.2), "it missed threads that ended");
        let delay = profile.counter("run-delay").unwrap().id;
        profile.readings.retain(|reading| reading.counter != delay);
        assert_eq!(Run::of(&profile, 2, WINDOW).split.queued, Measure::exact(0.2));
        profile.off_cpu.clear();
        let run = Run::of(&profile, 2, WINDOW);
        assert_eq!((run.blocked, run.split.queued), (None, Measure::Missing(Why::NotRecorded)));
        assert_eq!(run.split.unseen, Measure::exact(1.0));
    }

    #[test]
    fn waking_up_with_a_cpu_free_is_part_of_the_wait() {
        let mut profile = synthetic().finish();
        profile.off_cpu.update(|span| {
            if span.state == TaskState::Sleeping {
                span.queued = Some(Nanos(WAKE_UP_NS - 1));
            }
        });
        let run = Run::of(&profile, 2, WINDOW);
        let waking = WAKE_UP_NS as f64 * 1e-9;
        let lock = run.split.blocked[0].1;
        assert!((lock - 0.5 - waking).abs() < 2e-9 && run.blocked.unwrap().weight > 5e8, "{lock}");
        // The scheduler's 0.2 s include it, so it must not count twice.
        assert!((run.split.queued.value().unwrap() - 0.2 + waking).abs() < 2e-9, "{:?}", run.split);
    }

    #[test]
    fn a_worker_that_was_never_read_is_known_by_its_samples() {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "main").alive(42, "brief").alive(43, "briefer");
        synthetic.reading("task-clock", Scope::Thread(41), 3000, ms(20).0);
        synthetic.reading("task-clock", Scope::Target, 3000, ms(400).0);
        synthetic.samples(1000, 42, "app!work", 20).samples(1000, 43, "app!work", 10);
        synthetic.off_cpu(2000, 42, TaskState::Sleeping, 100, None, FUTEX);
        synthetic.off_cpu(2000, 41, TaskState::Sleeping, 900, None, FUTEX);
        let run = run(synthetic);
        assert_eq!((run.balance, run.blocked.unwrap().weight), (Measure::exact(0.75), 1e8));
    }

    #[test]
    fn a_window_grows_to_where_counters_were_read() {
        let mut synthetic = synthetic();
        synthetic.meta.duration_ns = Some(ms(2999).0);
        synthetic.tick(1000, 1000).tick(3000, 2000);
        let profile = synthetic.finish();
        let run = Run::of(&profile, 2, Window { from: ms(1200), to: ms(2999) });
        assert_eq!((run.totals.wall, run.totals.cpu), (2.0, Measure::exact(3.0)));
    }

    #[test]
    fn samples_that_do_not_stand_for_time_are_no_cpu_time() {
        let mut synthetic = synthetic();
        synthetic.meta.events = vec![crate::analysis::testing::event("page-faults", Unit::Count)];
        assert_eq!(run(synthetic).cpu, Cost::default());
    }

    #[test]
    fn an_empty_recording_or_window_gives_a_run_without_numbers() {
        let empty = Synthetic::new().finish();
        let mut damaged = synthetic().finish();
        damaged.off_cpu.update(|span| span.stack = Some(StackId(u32::MAX)));
        let nothing = Window { from: ms(5000), to: ms(5000) };
        for (profile, n, window) in [(&empty, 4, WINDOW), (&damaged, u32::MAX, WINDOW), (&damaged, 0, nothing)] {
            let run = Run::of(profile, n, window);
            assert!(run.metrics.iter().filter_map(|metric| metric.value.value()).all(|value| value.is_finite()));
            let split = run.split;
            let parts = [split.running, split.queued, split.throttled, split.unseen, run.balance];
            assert!(parts.iter().filter_map(Measure::value).all(|value| value.is_finite()), "{parts:?}");
        }
    }
}
