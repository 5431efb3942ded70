//! Counts of events as `perf stat` shows them: a value, and next to it what it comes to per second or per other event.
//! One run, several runs of the same command, or one interval.

use crate::analysis::stats::Moments;
use crate::analysis::{Counters, Metric, ThreadSet, Window, metrics, operations, per_operation};
use crate::model::profile::Profile;
use crate::model::{
    CounterId, CounterReading, EventKind, EventSpec, HardwareEvent, Measure, MetricId, Scope, Target, Unit, Why,
};
use crate::units::Nanos;

/// What an event came to in one run or interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EventCount {
    /// The machine, the kernel or the permissions do not allow it.
    NotSupported,
    /// The target did not run, or the event had no counter while it did.
    NotCounted,
    /// It was counted.
    Counted {
        /// The count, scaled up to the time it was enabled.
        value: f64,
        /// How long it was enabled, nanoseconds, summed over threads or CPUs.
        enabled: f64,
        /// How long it counted.
        running: f64,
    },
}

/// One run or interval.
#[derive(Debug, Clone, PartialEq)]
pub struct StatRun {
    /// Its length in seconds.
    pub elapsed: f64,
    /// The count of each event.
    pub counts: Vec<EventCount>,
    /// Operations and what one costs; empty if they are not counted.
    pub costs: Vec<Metric>,
}

/// A line of the result.
#[derive(Debug, Clone, PartialEq)]
pub struct StatRow {
    /// The value in `unit`; the mean of several runs.
    pub value: Result<f64, NoValue>,
    /// Digits after the point.
    pub decimals: usize,
    /// `msec`, `usec`, or empty for a count.
    pub unit: &'static str,
    /// The event as the user wrote it, or what is counted per operation.
    pub name: String,
    /// The control group, if several are counted.
    pub cgroup: Option<String>,
    /// Relative standard error of the mean, percent; `None` for a single run.
    pub error: Option<f64>,
    /// How long it counted, nanoseconds.
    pub running: f64,
    /// The share of the time for which it counted, percent; below 100, the value is scaled up.
    pub share: f64,
    /// What the value comes to, its unit and the digits after its point.
    pub metric: Option<(f64, String, usize)>,
    /// The reason for a missing value, if this line knows it.
    pub reason: Option<String>,
}

/// Why a line has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoValue {
    /// As [`EventCount::NotSupported`].
    NotSupported,
    /// As [`EventCount::NotCounted`].
    NotCounted,
}

/// The costs that are shown, with their names and units.
const COSTS: [(MetricId, f64, usize, &str, &str); 4] = [
    (MetricId::Operations, 1.0, 0, "", "operations"),
    (MetricId::PathLength, 1.0, 1, "", "instructions per operation"),
    (MetricId::CpuPerOp, 1e6, 3, "usec", "CPU time per operation"),
    (MetricId::Ipc, 1.0, 2, "", "instructions per cycle"),
];

impl StatRun {
    /// The counts of the part's events in a window of the profile, which lasted `elapsed`.
    #[must_use]
    pub fn of(profile: &Profile, part: &StatPart, window: Window, elapsed: Nanos) -> StatRun {
        let counts = part.events.iter().map(|event| count(profile, event, part.scope, window)).collect();
        let costs = if profile.meta.plan.ops.is_some() && part.scope == Scope::Target {
            costs(profile, window, elapsed.seconds())
        } else {
            vec![]
        };
        StatRun { elapsed: elapsed.seconds(), counts, costs }
    }
}

fn count(profile: &Profile, event: &EventSpec, scope: Scope, window: Window) -> EventCount {
    let role = HardwareEvent::named_role(event);
    let Some(counter) = profile.counter(&role).filter(|_| profile.meta.hardware.counts(&role)) else {
        return EventCount::NotSupported;
    };
    let Some(last) = reading(profile, counter.id, scope, window.to) else { return EventCount::NotCounted };
    let first = reading(profile, counter.id, scope, window.from);
    let grown = |value: fn(&CounterReading) -> u64| value(&last).saturating_sub(first.as_ref().map_or(0, value)) as f64;
    let (enabled, running) = (grown(|it| it.enabled.0), grown(|it| it.running.0));
    match running > 0.0 {
        true => EventCount::Counted { value: grown(|it| it.value) * enabled / running, enabled, running },
        false => EventCount::NotCounted,
    }
}

fn reading(profile: &Profile, counter: CounterId, scope: Scope, at: Nanos) -> Option<CounterReading> {
    let is_it = |it: &CounterReading| it.counter == counter && it.scope == scope && it.at <= at;
    profile.readings.iter().rev().find(is_it)
}

/// The costs, by the events that are counted and not by what /proc tells of the same time.
fn costs(profile: &Profile, window: Window, elapsed: f64) -> Vec<Metric> {
    let (counters, ops) = (Counters::about(profile, window), operations(profile, window));
    let mut all = per_operation(&counters, &ThreadSet::All, window, ops);
    all.extend(metrics(&counters, &ThreadSet::All, window, None));
    let clock = EventSpec::new("task-clock", EventKind::Software(1), Unit::Nanos);
    for metric in &mut all {
        match (metric.id, count(profile, &clock, Scope::Target, window)) {
            (MetricId::Throughput, _) => metric.value = ops.over(Measure::exact(elapsed)),
            (MetricId::CpuPerOp, EventCount::Counted { value, .. }) => {
                metric.value = Measure::exact(value * 1e-9).over(ops);
            }
            _ => {}
        }
    }
    all.retain(|metric| metric.id == MetricId::Throughput || COSTS.iter().any(|(id, ..)| *id == metric.id));
    all
}

/// A part of the target whose events have lines of their own.
#[derive(Debug, Clone, PartialEq)]
pub struct StatPart {
    /// The control group, if several are counted.
    pub cgroup: Option<String>,
    /// Whose readings they are.
    pub scope: Scope,
    /// What is counted.
    pub events: Vec<EventSpec>,
}

impl StatPart {
    /// The whole target, or each of several control groups. Operations are counted of all together only: their costs
    /// are a last part, without events.
    #[must_use]
    pub fn of(target: &Target, events: &[EventSpec]) -> Vec<StatPart> {
        let groups = target.cgroups();
        if groups.len() < 2 {
            return vec![StatPart { cgroup: None, scope: Scope::Target, events: events.to_vec() }];
        }
        let group = |((name, _), number): (&(&str, _), u32)| StatPart {
            cgroup: Some((*name).to_string()),
            scope: Scope::Cgroup(number),
            events: events.to_vec(),
        };
        let all = StatPart { cgroup: None, scope: Scope::Target, events: Vec::new() };
        groups.iter().zip(0..).map(group).chain([all]).collect()
    }

    /// Its lines for one or several runs.
    #[must_use]
    pub fn rows(&self, runs: &[StatRun]) -> Vec<StatRow> {
        rows(&self.events, runs).into_iter().map(|row| StatRow { cgroup: self.cgroup.clone(), ..row }).collect()
    }
}

/// The lines for one or several runs.
#[must_use]
pub fn rows(events: &[EventSpec], runs: &[StatRun]) -> Vec<StatRow> {
    let comparison = Comparison { events, runs };
    let counted = events.iter().enumerate().map(|(at, event)| comparison.row(at, event));
    let with_costs = runs.iter().any(|run| !run.costs.is_empty());
    let costs = COSTS.iter().filter(|_| with_costs).map(|cost| comparison.cost(*cost));
    counted.chain(costs).collect()
}

/// Mean and relative standard error in percent.
#[must_use]
pub fn mean(values: &[f64]) -> Option<(f64, Option<f64>)> {
    let Moments { count, mean, variance } = Moments::of(values)?;
    let error = variance.filter(|_| mean != 0.0).map(|variance| 100.0 * (variance / count).sqrt() / mean);
    Some((mean, error))
}

/// What was counted, in words, as perf's first line has it.
#[must_use]
pub fn label(target: &Target) -> String {
    let list = |ids: &[u32]| ids.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    match target {
        Target::Command { argv } => format!("'{}'", argv.join(" ")),
        Target::Processes { pids, .. } => format!("process id '{}'", list(pids)),
        Target::Threads { tids } => format!("thread id '{}'", list(tids)),
        Target::Cgroup { name, .. } => format!("cgroup '{name}'"),
        Target::Cpus { cpus } if cpus.is_empty() => "'system wide'".to_string(),
        Target::Cpus { cpus } => format!("'CPU(s) {}'", list(cpus)),
    }
}

/// The runs, for values that are compared with each other.
struct Comparison<'a> {
    events: &'a [EventSpec],
    runs: &'a [StatRun],
}

impl Comparison<'_> {
    fn row(&self, at: usize, event: &EventSpec) -> StatRow {
        let (values, enabled, running) = self.counted(at);
        let found = mean(&values);
        let refused = self.runs.iter().any(|run| run.counts.get(at) == Some(&EventCount::NotSupported));
        let none = if refused { NoValue::NotSupported } else { NoValue::NotCounted };
        let (factor, decimals, unit) = if event.unit == Unit::Nanos { (1e-6, 2, "msec") } else { (1.0, 0, "") };
        StatRow {
            value: found.map(|(value, _)| value * factor).ok_or(none),
            decimals,
            unit,
            name: event.name.clone(),
            cgroup: None,
            error: found.and_then(|(_, error)| error),
            running: running / values.len().max(1) as f64,
            share: if enabled > 0.0 { 100.0 * running / enabled } else { 100.0 },
            metric: found.and_then(|(value, _)| self.metric(event, value)),
            reason: None,
        }
    }

    /// Values of an event in the runs that counted it, and its times in all of them.
    fn counted(&self, at: usize) -> (Vec<f64>, f64, f64) {
        let mut sums = (vec![], 0.0, 0.0);
        for count in self.runs.iter().filter_map(|run| run.counts.get(at)) {
            if let EventCount::Counted { value, enabled, running } = count {
                sums.0.push(*value);
                sums.1 += enabled;
                sums.2 += running;
            }
        }
        sums
    }

    /// The mean of the first event of this kind with its name.
    fn value_of(&self, kind: &EventKind) -> Option<(f64, &str)> {
        let at = self.events.iter().position(|event| event.kind == *kind)?;
        let (value, _) = mean(&self.counted(at).0)?;
        (value > 0.0).then_some((value, self.events[at].name.as_str()))
    }

    fn metric(&self, event: &EventSpec, value: f64) -> Option<(f64, String, usize)> {
        let share_of = |kind: EventKind, of: &str| {
            let (whole, name) = self.value_of(&kind)?;
            let of = if of.is_empty() { format!("of all {name}") } else { of.to_string() };
            Some((100.0 * value / whole, of, 2))
        };
        let special = match event.kind {
            EventKind::Software(0 | 1) => {
                let elapsed: f64 = self.runs.iter().map(|run| run.elapsed).sum();
                let busy = value * 1e-9 * self.runs.len() as f64 / elapsed;
                return busy.is_finite().then(|| (busy, "CPUs utilized".to_string(), 3));
            }
            EventKind::Hardware(0) => {
                let ghz = |nanos: f64| (value / nanos, "GHz".to_string(), 3);
                return self.clock().map(ghz);
            }
            EventKind::Hardware(1) => {
                let of = |(cycles, _): (f64, &str)| (value / cycles, "insn per cycle".to_string(), 2);
                self.value_of(&EventKind::Hardware(0)).map(of)
            }
            EventKind::Hardware(3) => share_of(EventKind::Hardware(2), "of all cache refs"),
            EventKind::Hardware(5) => share_of(EventKind::Hardware(4), "of all branches"),
            EventKind::Cache(config) if config >> 16 & 0xff == 1 => share_of(EventKind::Cache(config & !0xff_0000), ""),
            _ => None,
        };
        special.or_else(|| self.clock().map(|nanos| per_second(value / (nanos * 1e-9))))
    }

    /// CPU time in nanoseconds.
    fn clock(&self) -> Option<f64> {
        let clock = |config| self.value_of(&EventKind::Software(config)).map(|(nanos, _)| nanos);
        clock(1).or_else(|| clock(0))
    }

    fn cost(&self, (id, factor, decimals, unit, name): (MetricId, f64, usize, &'static str, &str)) -> StatRow {
        let all = |id: MetricId| self.runs.iter().flat_map(|run| &run.costs).filter(move |cost| cost.id == id);
        let known = |id| mean(&all(id).filter_map(|cost| cost.value.value().copied()).collect::<Vec<_>>());
        let found = known(id);
        let why = || {
            let cost = all(id).next();
            let reason = cost.and_then(|cost| cost.detail.clone());
            let why = cost.and_then(|cost| cost.value.why()).unwrap_or(Why::NotRecorded);
            let unknown = if id == MetricId::PathLength { "the path length cannot be known: " } else { "" };
            format!("{unknown}{}", reason.unwrap_or_else(|| why.text().to_string()))
        };
        let coverage = all(id).find_map(|cost| match cost.value {
            Measure::Known { quality, .. } => Some(quality.coverage),
            Measure::Missing(_) => None,
        });
        StatRow {
            value: found.map(|(value, _)| value * factor).ok_or(NoValue::NotCounted),
            decimals,
            unit,
            name: name.to_string(),
            cgroup: None,
            error: found.and_then(|(_, error)| error),
            running: 0.0,
            share: 100.0 * coverage.unwrap_or(1.0),
            metric: known(MetricId::Throughput)
                .filter(|_| id == MetricId::Operations)
                .map(|(rate, _)| per_second(rate)),
            reason: found.is_none().then(why),
        }
    }
}

/// A rate in perf's units.
fn per_second(rate: f64) -> (f64, String, usize) {
    let units = [(1e9, "G/sec"), (1e6, "M/sec"), (1e3, "K/sec")];
    let (factor, unit) = units.into_iter().find(|(factor, _)| rate >= *factor).unwrap_or((1.0, "/sec"));
    (rate / factor, unit.to_string(), 3)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn event(name: &str, kind: EventKind) -> EventSpec {
        let unit = if kind == EventKind::Software(1) { Unit::Nanos } else { Unit::Count };
        EventSpec::new(name, kind, unit)
    }

    fn run(elapsed: f64, counts: &[Option<f64>]) -> StatRun {
        let counted = |value| EventCount::Counted { value, enabled: 2e9, running: 1e9 };
        let count = |value: &Option<f64>| value.map_or(EventCount::NotSupported, counted);
        StatRun { elapsed, counts: counts.iter().map(count).collect(), costs: vec![] }
    }

    fn metrics_of(rows: &[StatRow]) -> Vec<Option<(f64, &str)>> {
        rows.iter().map(|row| row.metric.as_ref().map(|(value, unit, _)| (*value, unit.as_str()))).collect()
    }

    #[test]
    fn each_event_is_set_against_what_perf_sets_it_against() {
        let events = [
            event("task-clock", EventKind::Software(1)),
            event("page-faults", EventKind::Software(2)),
            event("cycles", EventKind::Hardware(0)),
            event("instructions", EventKind::Hardware(1)),
            event("branches", EventKind::Hardware(4)),
            event("branch-misses", EventKind::Hardware(5)),
            event("LLC-loads", EventKind::Cache(2)),
            event("LLC-load-misses", EventKind::Cache(0x10002)),
        ];
        let whole = run(4.0, &[2e9, 5000.0, 6e9, 9e9, 1e9, 5e7, 200.0, 50.0].map(Some));
        let rows = rows(&events, &[whole]);
        let expected = [
            (0.5, "CPUs utilized"),
            (2.5, "K/sec"),
            (3.0, "GHz"),
            (1.5, "insn per cycle"),
            (500.0, "M/sec"),
            (5.0, "of all branches"),
            (100.0, "/sec"),
            (25.0, "of all LLC-loads"),
        ];
        assert_eq!(metrics_of(&rows), expected.map(Some));
        assert_eq!((rows[0].value, rows[0].unit, rows[1].share), (Ok(2000.0), "msec", 50.0));
    }

    #[test]
    fn several_runs_come_to_their_mean_and_its_standard_error() {
        let events = [event("page-faults", EventKind::Software(2)), event("cycles", EventKind::Hardware(0))];
        let runs = [100.0, 110.0, 90.0].map(|faults| run(1.0, &[Some(faults), None]));
        let rows = rows(&events, &runs);
        assert_eq!((rows[0].value, rows[1].value), (Ok(100.0), Err(NoValue::NotSupported)));
        // The standard deviation is 10, and its mean's is a square root of three smaller.
        assert!((rows[0].error.unwrap() - 10.0 / 3_f64.sqrt()).abs() < 1e-9, "{rows:?}");
        assert_eq!((rows[1].error, metrics_of(&rows)), (None, vec![None, None]), "nothing tells the CPU time");
    }
}
