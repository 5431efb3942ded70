//! The growth of each counter in a window, scaled for multiplexing, with its coverage or the reason it is missing.

use super::computable::HardwareMetrics;
use super::lifetimes::Lifetimes;
use super::operation_latency::LatencyWindows;
use super::selection::ThreadSet;
use super::time::Window;
use crate::model::profile::Profile;
use crate::model::{CounterDef, CounterId, CounterReading, Measure, Quality, Scope, Unit, Why};
use crate::units::Nanos;
use rustc_hash::{FxHashMap, FxHashSet};

/// Below this share of running time a scaled count is a guess and is reported as missing.
pub const COVERAGE_FLOOR: f64 = 0.1;

/// Counters that the kernel keeps only per thread. For the target they are sums over the threads that were read.
const BY_THREAD: &[&str] =
    &["run-delay", "timeslices", "voluntary-switches", "involuntary-switches", "migrations", "blkio-delay"];

/// Below this share of the CPU time, the threads that were read do not represent those that were not.
const READ_FLOOR: f64 = 0.5;

/// From this format version on, a reading is omitted only for threads, and only if its value has not changed.
const COMPLETE_FROM: (u16, u16) = (1, 1);

/// Counter of live threads times elapsed time.
const THREAD_TIME: &str = "thread-time";

#[derive(Debug, Clone, Copy)]
struct Point {
    at: Nanos,
    value: u64,
    enabled: Nanos,
    running: Nanos,
}

/// The readings of a profile, by counter and scope.
#[derive(Debug, Clone, Default)]
pub struct Counters {
    defs: FxHashMap<String, CounterDef>,
    series: FxHashMap<(CounterId, Scope), Vec<Point>>,
    tids: Vec<u32>,
    read: FxHashSet<CounterId>,
    read_by_thread: FxHashSet<CounterId>,
    hardware: HardwareMetrics,
    kind: String,
    lifetimes: Option<Lifetimes>,
    /// When threads were read, in order.
    read_at: Vec<Nanos>,
    complete: bool,
    /// The last reading of the hardware counters, if others of the target were read later: they were given up.
    given_up: Option<Nanos>,
    latency: LatencyWindows,
}

impl Counters {
    /// Indexes all readings of the profile.
    #[must_use]
    pub fn of(profile: &Profile) -> Counters {
        let counters = Counters::sorted(profile, profile.readings.iter());
        Counters { latency: LatencyWindows::of(profile), ..counters }
    }

    /// Indexes the readings in one window and the last ones before it, without single threads. For a profile that holds
    /// half an hour this is a small part.
    #[must_use]
    pub fn about(profile: &Profile, window: Window) -> Counters {
        let mut before = FxHashSet::default();
        let needed = |reading: &CounterReading| {
            thread(reading.scope).is_none()
                && reading.at <= window.to
                && (reading.at > window.from || before.insert((reading.counter, reading.scope)))
        };
        let counters = Counters::sorted(profile, profile.readings.iter().rev().filter(needed));
        Counters { latency: LatencyWindows::about(profile, window), ..counters }
    }

    fn sorted(profile: &Profile, readings: impl Iterator<Item = CounterReading>) -> Counters {
        let defs = profile.counters.iter().map(|def| (def.name.clone(), def.clone())).collect();
        let counters = profile.counters.iter().map(|def| (def.name.as_str(), def.group));
        let hardware = HardwareMetrics::of(&profile.meta.hardware, counters);
        let mut series: FxHashMap<_, Vec<Point>> = FxHashMap::default();
        for reading in readings {
            let (at, value, enabled, running) = (reading.at, reading.value, reading.enabled, reading.running);
            series.entry((reading.counter, reading.scope)).or_default().push(Point { at, value, enabled, running });
        }
        series.values_mut().for_each(|points| points.sort_by_key(|point| point.at));
        let mut tids: Vec<u32> = series.keys().filter_map(|(_, scope)| thread(*scope)).collect();
        tids.sort_unstable();
        tids.dedup();
        let read = series.keys().map(|(id, _)| *id).collect();
        let by_thread = series.keys().filter(|(_, scope)| thread(*scope).is_some());
        let read_by_thread = by_thread.map(|(id, _)| *id).collect();
        let kind = profile.meta.hardware.pmu.clone();
        let lifetimes = Lifetimes::of(profile);
        let complete = profile.meta.format >= COMPLETE_FROM;
        let of_threads =
            series.iter().filter(|((_, scope), _)| thread(*scope).is_some()).flat_map(|(_, points)| points);
        let read_at: FxHashSet<Nanos> =
            of_threads.map(|point| point.at).chain(profile.ticks.iter().map(|tick| tick.at)).collect();
        let mut read_at: Vec<Nanos> = read_at.into_iter().collect();
        read_at.sort_unstable();
        let mut counters = Counters {
            defs,
            series,
            tids,
            read,
            read_by_thread,
            hardware,
            kind,
            lifetimes,
            read_at,
            complete,
            given_up: None,
            latency: LatencyWindows::default(),
        };
        counters.given_up = counters.hardware_given_up();
        counters
    }

    /// Hardware counters are read with every window, until the end or until they cost too much.
    fn hardware_given_up(&self) -> Option<Nanos> {
        let last = |counted: bool| {
            let defs = self.defs.values().filter(|def| def.group.is_some() == counted);
            defs.filter_map(|def| Some(self.series.get(&(def.id, Scope::Target))?.last()?.at)).max()
        };
        last(true)
            .zip(last(false))
            .filter(|(counted, read)| self.complete && counted < read)
            .map(|(counted, _)| counted)
    }

    /// The part of a window in which hardware counters were open; all of it if they were never given up.
    pub(super) fn counted(&self, window: Window) -> Window {
        let to = self.given_up.map_or(window.to, |at| window.to.min(at).max(window.from));
        Window { to, ..window }
    }

    /// The latencies of operations, which are counted by window as well.
    #[must_use]
    pub fn latency(&self) -> &LatencyWindows {
        &self.latency
    }

    /// The counter's definition.
    #[must_use]
    pub fn def(&self, name: &str) -> Option<&CounterDef> {
        self.defs.get(name)
    }

    /// Names of all counters, in no particular order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.defs.keys().map(String::as_str)
    }

    /// The core type that most events are counted on, under the kernel's name for its PMU.
    pub(super) fn most_common_core_type(&self) -> &str {
        &self.kind
    }

    /// The counter's growth for the target, not scaled for multiplexing; `None` if it was not read.
    pub(super) fn unscaled(&self, name: &str, window: Window) -> Option<f64> {
        let points = self.series.get(&(self.defs.get(name)?.id, Scope::Target))?;
        let value =
            |at: Nanos| points[..points.partition_point(|point| point.at <= at)].last().map(|point| point.value);
        Some(value(window.to)?.saturating_sub(value(window.from).unwrap_or(0)) as f64)
    }

    /// The metrics that the recorded hardware counters suffice for.
    pub(super) fn hardware(&self) -> &HardwareMetrics {
        &self.hardware
    }

    /// Threads with readings of their own, by id.
    #[must_use]
    pub fn tids(&self) -> &[u32] {
        &self.tids
    }

    /// The counter's growth in the window.
    #[must_use]
    pub fn delta(&self, name: &str, scope: Scope, window: Window) -> Measure<f64> {
        if let Some(time) = self.lifetime(name, scope, window) {
            return Measure::exact(time.as_f64());
        }
        let Some(def) = self.defs.get(name) else { return Measure::Missing(Why::NotRecorded) };
        let given_up = self.given_up.is_some_and(|at| at < window.to) && def.group.is_some();
        match self.series.get(&(def.id, scope)) {
            Some(_) if given_up => Measure::Missing(Why::TooCostly),
            Some(points) => {
                let value = self.reading(def, scope).delta(points, window);
                value.ratio(self.lived(scope, points, window), |value, seen| Some(value / seen))
            }
            None => Measure::Missing(self.absent(def, scope)),
        }
    }

    /// Thread time from births and exits, which is exact; readings know it only at their own moments. `None` for other
    /// counters, where such events may be missing, and for the whole target if the recording has no such counter.
    fn lifetime(&self, name: &str, scope: Scope, window: Window) -> Option<Nanos> {
        let lifetimes = self.lifetimes.as_ref().filter(|_| name == THREAD_TIME)?;
        match scope {
            // Where events are missing, the readings at least know how many threads there were.
            Scope::Target if self.defs.contains_key(name) && lifetimes.is_complete(window.to) => {
                Some(lifetimes.total(window))
            }
            Scope::Thread(tid) => lifetimes.thread(tid, window),
            _ => None,
        }
    }

    /// The part of a thread's time in the window up to its last reading. Nothing was read from there to its exit.
    fn lived(&self, scope: Scope, points: &[Point], window: Window) -> Measure<f64> {
        let (Some(tid), Some(lifetimes)) = (thread(scope), &self.lifetimes) else { return Measure::exact(1.0) };
        match lifetimes.seen(tid, window, &self.read_at, points.last().map_or(Nanos(0), |point| point.at)) {
            seen if seen < READ_FLOOR => Measure::Missing(Why::TargetGone),
            seen => Measure::Known { value: seen, quality: Quality { coverage: seen } },
        }
    }

    fn reading(&self, def: &CounterDef, scope: Scope) -> Reading {
        let by_thread = scope == Scope::Target && BY_THREAD.contains(&def.name.as_str());
        let floor = if by_thread { (READ_FLOOR, Why::ThreadsUnread) } else { (COVERAGE_FLOOR, Why::Multiplexed) };
        Reading { complete: self.complete && thread(scope).is_none(), floor }
    }

    /// The counter's growth for these threads: the whole target, or the sum over those selected.
    #[must_use]
    pub(super) fn of_tasks(&self, name: &str, who: &ThreadSet, window: Window) -> Measure<f64> {
        match who {
            ThreadSet::All => self.delta(name, Scope::Target, window),
            ThreadSet::Only(tids) => self.sum(name, tids.iter().copied(), window),
        }
    }

    /// The counter's growth summed over these threads. Threads that exited unread are assumed to be like the others, by
    /// their lifetime. Missing if they hold most of the lifetime, or if no thread was read.
    #[must_use]
    pub fn sum(&self, name: &str, tids: impl Iterator<Item = u32>, window: Window) -> Measure<f64> {
        let lived = |tid| self.lifetime(THREAD_TIME, Scope::Thread(tid), window).map_or(0.0, Nanos::as_f64);
        let mut sum: Option<(f64, f64)> = None;
        let (mut reason, mut read, mut unread) = (Why::NotRecorded, 0.0, 0.0);
        for tid in tids {
            match self.delta(name, Scope::Thread(tid), window) {
                Measure::Known { value, quality } => {
                    let (total, coverage) = sum.unwrap_or((0.0, 1.0));
                    sum = Some((total + value, coverage.min(quality.coverage)));
                    read += lived(tid);
                }
                Measure::Missing(Why::Multiplexed) => return Measure::Missing(Why::Multiplexed),
                Measure::Missing(why) => {
                    reason = why;
                    unread += lived(tid);
                }
            }
        }
        let share = if unread > 0.0 { read / (read + unread) } else { 1.0 };
        match sum {
            Some(_) if share < READ_FLOOR => Measure::Missing(Why::ThreadsUnread),
            Some((value, coverage)) => {
                Measure::Known { value: value / share, quality: Quality { coverage: coverage.min(share) } }
            }
            None => Measure::Missing(reason),
        }
    }

    /// The highest value read in the window, for a gauge.
    #[must_use]
    pub fn peak(&self, name: &str, scope: Scope, window: Window) -> Measure<f64> {
        let Some(def) = self.defs.get(name) else { return Measure::Missing(Why::NotRecorded) };
        let points = self.series.get(&(def.id, scope)).map_or(&[][..], Vec::as_slice);
        let before = points.iter().rev().find(|point| point.at <= window.from);
        let within = points.iter().filter(|point| point.at > window.from && point.at <= window.to);
        match within.chain(before).map(|point| point.value).max() {
            Some(value) => Measure::exact(value as f64),
            None => Measure::Missing(self.absent(def, scope)),
        }
    }

    /// The reason for a missing value: a hardware counter without any reading is not supported on that machine; a
    /// thread is gone if others were read; anything else was not read for this scope.
    fn absent(&self, def: &CounterDef, scope: Scope) -> Why {
        match scope {
            _ if self.hardware.too_costly && matches!(def.unit, Unit::Cycles | Unit::Instructions) => Why::TooCostly,
            Scope::Thread(_) if self.read_by_thread.contains(&def.id) => Why::TargetGone,
            _ if matches!(def.unit, Unit::Cycles | Unit::Instructions) && !self.read.contains(&def.id) => {
                Why::NotSupported
            }
            _ => Why::NotRecorded,
        }
    }
}

fn thread(scope: Scope) -> Option<u32> {
    match scope {
        Scope::Thread(tid) => Some(tid),
        _ => None,
    }
}

/// How to read a series in a window.
#[derive(Debug, Clone, Copy)]
struct Reading {
    /// Every reading of this scope is recorded, so a window without one was not read.
    complete: bool,
    /// The share below which the value is missing, and the reason to report.
    floor: (f64, Why),
}

impl Reading {
    /// A value holds until the next reading where unchanged readings may be omitted. Before the first reading it was
    /// zero.
    fn delta(self, points: &[Point], window: Window) -> Measure<f64> {
        let last = |at: Nanos| points[..points.partition_point(|point| point.at <= at)].last().copied();
        let Some(end) = last(window.to) else { return Measure::Missing(Why::TargetGone) };
        if self.complete && end.at <= window.from && window.span().0 > 0 {
            return Measure::Missing(Why::NotRead);
        }
        let zero = Point { at: window.from.min(end.at), value: 0, enabled: Nanos(0), running: Nanos(0) };
        let start = last(window.from).unwrap_or(zero);
        let value = end.value.saturating_sub(start.value) as f64;
        let counted = self.share(end.enabled - start.enabled, end.running - start.running);
        let (Measure::Known { value: counted, .. }, seen) = (counted, self.seen(start.at, end.at, window)) else {
            return counted;
        };
        let away = |share: f64| share.min(share.recip());
        Measure::Known { value: value / counted / seen, quality: Quality { coverage: away(counted).min(away(seen)) } }
    }

    /// Running over enabled time. It exceeds 1 where a later reading made up for what earlier ones had missed.
    fn share(self, enabled: Nanos, running: Nanos) -> Measure<f64> {
        if enabled.0 == 0 {
            return Measure::exact(1.0);
        }
        let share = running.as_f64() / enabled.as_f64();
        if share < self.floor.0 { Measure::Missing(self.floor.1) } else { Measure::exact(share) }
    }

    /// The time between two readings over the window's length: 1 if the counter was read at both ends.
    fn seen(self, start: Nanos, end: Nanos, window: Window) -> f64 {
        let (between, span) = (end - start, window.span());
        if self.complete && between.0 > 0 && span.0 > 0 { between.as_f64() / span.as_f64() } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::TaskChange;

    fn window(from: u64, to: u64) -> Window {
        Window { from: ms(from), to: ms(to) }
    }

    #[test]
    fn hardware_counters_that_were_given_up_are_missing_from_then_on_and_not_zero() {
        let mut synthetic = Synthetic::new();
        synthetic.meta.format = COMPLETE_FROM;
        synthetic.defined("instructions", Unit::Instructions, Some(0));
        for (at, count) in [(0, 0), (1000, 500)] {
            synthetic.reading("instructions", Scope::Target, at, count);
            synthetic.reading("instructions", Scope::Thread(41), at, count);
        }
        for at in [0, 1000, 2000, 3000] {
            synthetic.reading("task-clock", Scope::Target, at, at);
        }
        let profile = synthetic.finish();
        for (from, to, expected) in [
            (0, 1000, Measure::exact(500.0)),
            (0, 2000, Measure::Missing(Why::TooCostly)),
            (1000, 2000, Measure::Missing(Why::TooCostly)),
            (0, 3000, Measure::Missing(Why::TooCostly)),
        ] {
            for counters in [Counters::of(&profile), Counters::about(&profile, window(from, to))] {
                let value = counters.delta("instructions", Scope::Target, window(from, to));
                assert_eq!(value, expected, "{from} to {to}");
                assert_eq!(counters.delta("task-clock", Scope::Target, window(from, to)).why(), None);
                assert_eq!(counters.counted(window(from, to)), window(from, to.min(1000).max(from)));
            }
            let thread = Counters::of(&profile).delta("instructions", Scope::Thread(41), window(from, to));
            assert_eq!(thread.why(), expected.why(), "thread, {from} to {to}");
        }
    }

    #[test]
    fn what_a_thread_did_after_its_last_reading_is_not_counted_as_nothing() {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "w").alive(42, "v").alive(43, "idle").tick(1000, 1000).tick(2000, 1000);
        synthetic.task(1250, 41, 41, TaskChange::Ended).task(1900, 41, 43, TaskChange::Ended);
        synthetic.task(2000, 41, 42, TaskChange::Ended);
        for (tid, at) in [(41, 1000), (42, 2000), (43, 0)] {
            synthetic.reading("task-clock", Scope::Thread(tid), at, at);
        }
        let counters = Counters::of(&synthetic.finish());
        let known = |value, coverage| Measure::Known { value, quality: Quality { coverage } };
        for (tid, (from, to), expected) in [
            (41, (0, 2000), known(1250.0, 0.8)),
            (41, (0, 1000), known(1000.0, 1.0)),
            (41, (1000, 2000), Measure::Missing(Why::TargetGone)),
            (42, (0, 2000), known(2000.0, 1.0)),
            (43, (0, 1000), known(0.0, 1.0)),
        ] {
            let value = counters.delta("task-clock", Scope::Thread(tid), window(from, to));
            assert_eq!(value, expected, "{tid} in {from}-{to}");
        }
        let sum = |tids: &[u32]| counters.sum("task-clock", tids.iter().copied(), window(0, 2000));
        assert_eq!(sum(&[41, 42]), known(3250.0, 0.8));
    }

    #[test]
    fn a_value_holds_until_the_next_reading_and_was_zero_before_the_first() {
        let mut synthetic = Synthetic::new();
        synthetic.reading("migrations", Scope::Target, 1000, 5).reading("migrations", Scope::Target, 3000, 9);
        let counters = Counters::of(&synthetic.finish());
        for (from, to, expected) in [(0, 1000, 5.0), (1000, 2000, 0.0), (1000, 3000, 4.0), (2000, 9000, 4.0)] {
            let value = counters.delta("migrations", Scope::Target, window(from, to));
            assert_eq!(value, Measure::exact(expected), "{from}-{to}");
        }
        let early = counters.delta("migrations", Scope::Target, window(0, 500));
        assert_eq!(early, Measure::Missing(Why::TargetGone));
    }

    #[test]
    fn what_is_needed_about_one_window_says_the_same_of_it() {
        let mut synthetic = Synthetic::new();
        for (at, value) in [(1000, 5), (3000, 9), (4000, 11), (5000, 30)] {
            synthetic.reading("migrations", Scope::Target, at, value).reading("migrations", Scope::Thread(1), at, 1);
        }
        let profile = synthetic.finish();
        let (all, about) = (Counters::of(&profile), Counters::about(&profile, window(2000, 4000)));
        let grown = |counters: &Counters| counters.delta("migrations", Scope::Target, window(2000, 4000));
        assert_eq!((grown(&all), grown(&about)), (Measure::exact(6.0), Measure::exact(6.0)));
        assert!(about.tids().is_empty());
    }

    #[test]
    fn a_multiplexed_count_is_scaled_down_to_a_floor_of_coverage() {
        for (running, expected) in [
            (1000, Measure::exact(100.0)),
            (500, Measure::Known { value: 200.0, quality: Quality { coverage: 0.5 } }),
            (99, Measure::Missing(Why::Multiplexed)),
            (0, Measure::Missing(Why::Multiplexed)),
        ] {
            let mut synthetic = Synthetic::new();
            synthetic.multiplexed("cycles", Scope::Target, 1000, 100, (1000, running));
            let counters = Counters::of(&synthetic.finish());
            assert_eq!(counters.delta("cycles", Scope::Target, window(0, 1000)), expected, "{running}");
        }
    }

    #[test]
    fn a_window_without_a_reading_is_missing_where_every_reading_was_said() {
        let mut synthetic = Synthetic::new();
        synthetic.meta.format = COMPLETE_FROM;
        for (at, value) in [(1000, 5), (2000, 5), (5000, 11)] {
            synthetic.reading("minor-faults", Scope::Target, at, value).reading(
                "minor-faults",
                Scope::Thread(1),
                1000,
                5,
            );
        }
        let counters = Counters::of(&synthetic.finish());
        let third = Measure::Known { value: 2.0, quality: Quality { coverage: 1.0 / 3.0 } };
        for (scope, from, to, expected) in [
            (Scope::Target, 0, 1000, Measure::exact(5.0)),
            (Scope::Target, 1000, 2000, Measure::exact(0.0)),
            (Scope::Target, 2000, 3000, Measure::Missing(Why::NotRead)),
            (Scope::Target, 4000, 5000, third),
            (Scope::Target, 1000, 5000, Measure::exact(6.0)),
            (Scope::Thread(1), 2000, 3000, Measure::exact(0.0)),
        ] {
            assert_eq!(counters.delta("minor-faults", scope, window(from, to)), expected, "{scope:?} {from}-{to}");
        }
    }

    #[test]
    fn sums_over_threads_carry_the_share_of_cpu_time_that_was_read() {
        let mut synthetic = Synthetic::new();
        for (at, value, total, read) in [(1000, 90, 1000, 900), (2000, 99, 2000, 1000), (3000, 300, 3000, 3000)] {
            synthetic.multiplexed("run-delay", Scope::Target, at, value, (total, read));
        }
        let counters = Counters::of(&synthetic.finish());
        let known = |value, coverage| Measure::Known { value, quality: Quality { coverage } };
        for (from, to, expected) in [
            (0, 1000, known(100.0, 0.9)),
            (1000, 2000, Measure::Missing(Why::ThreadsUnread)),
            (2000, 3000, known(100.5, 0.5)),
            (0, 3000, Measure::exact(300.0)),
        ] {
            assert_eq!(counters.delta("run-delay", Scope::Target, window(from, to)), expected, "{from}-{to}");
        }
    }

    #[test]
    fn what_is_absent_says_why() {
        let mut synthetic = Synthetic::new();
        synthetic.define("cycles");
        synthetic.define("psi-cpu-some");
        synthetic.reading("task-clock", Scope::Target, 1000, 1).reading("task-clock", Scope::Thread(41), 1000, 1);
        synthetic.reading("migrations", Scope::Target, 1000, 1);
        let counters = Counters::of(&synthetic.finish());
        for (name, scope, why) in [
            ("cycles", Scope::Target, Why::NotSupported),
            ("psi-cpu-some", Scope::Host, Why::NotRecorded),
            ("instructions", Scope::Target, Why::NotRecorded),
            ("task-clock", Scope::Thread(99), Why::TargetGone),
            ("task-clock", Scope::Host, Why::NotRecorded),
            ("migrations", Scope::Thread(41), Why::NotRecorded),
        ] {
            assert_eq!(counters.delta(name, scope, window(0, 1000)), Measure::Missing(why), "{name} {scope:?}");
        }
    }

    #[test]
    fn a_sum_leaves_out_threads_that_were_never_read() {
        let mut synthetic = Synthetic::new();
        synthetic.reading("run-delay", Scope::Thread(1), 10, 4).reading("run-delay", Scope::Thread(2), 10, 5);
        let counters = Counters::of(&synthetic.finish());
        assert_eq!(counters.sum("run-delay", [1, 2, 3].into_iter(), window(0, 10)), Measure::exact(9.0));
        assert_eq!(counters.sum("run-delay", [3].into_iter(), window(0, 10)), Measure::Missing(Why::TargetGone));
    }
}
