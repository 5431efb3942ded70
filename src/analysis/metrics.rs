//! The named metrics of a report. One flat table defines each as a rule over counters. Ratios use only counters that
//! counted together.

use super::counters::Counters;
use super::hardware::Reader;
use super::kinds::ipc_by_kind;
use super::remainder::remainder;
use super::selection::Who;
use super::summary::Summary;
use super::time::Window;
use crate::model::{Measure, Scope, Unit, Unit as U, Why};
use crate::units::Nanos;
use serde::Serialize;

/// Which part of a report a metric belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Section {
    /// Cost of one of the program's operations.
    Operation,
    /// The target's use of the CPUs.
    Cpu,
    /// Memory, branches and pipeline, from hardware counters.
    Hardware,
    /// How the scheduler treated the target.
    Scheduler,
    /// Page faults.
    Memory,
    /// Limits and pressure of the target's cgroup.
    Cgroup,
    /// The host.
    Host,
    /// Cache and memory latencies measured by ironlaw's own canaries; only with `--probe`.
    Probe,
    /// ironlaw's own cost and losses.
    Tool,
}

/// One metric of one window.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Metric {
    /// Its name, e.g. `cpu_utilisation`; stable.
    pub name: &'static str,
    /// A short label for people.
    pub label: &'static str,
    /// The section it belongs to.
    pub section: Section,
    /// Its unit.
    pub unit: Unit,
    /// Its value, or the reason it is missing.
    pub value: Measure<f64>,
    /// How it is computed from its counters: `wall` is the window's length, `d` the growth within it.
    pub formula: String,
    /// The counters it comes from.
    pub events: Vec<String>,
    /// Further explanation, mostly of a missing value.
    pub detail: Option<String>,
    /// A value above this deserves attention.
    pub threshold: Option<f64>,
}

/// The threads or scope whose readings a rule uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The selected threads, or the whole target.
    Tasks,
    /// The whole target, whatever is selected: its cgroup's counters cannot be split.
    Target,
    Host,
    Tool,
}

#[derive(Debug, Clone, Copy)]
enum Rule {
    /// Growth, times a factor.
    Total(Source, &'static str, f64),
    /// Growth per second of the window.
    PerSecond(Source, &'static str),
    /// Growth of a time over the window's length.
    OverWall(Source, &'static str),
    /// One growth over another of the same readings.
    Over(Source, &'static str, &'static str),
    /// One growth over the sum of itself and another.
    Part(&'static str, &'static str),
    /// The share of the last that remains after the first two.
    Rest(&'static str, &'static str, &'static str),
    /// One growth over another, counted in one group.
    Grouped(&'static str, &'static str),
    /// Growth per second of CPU time.
    PerCpuSecond(&'static str, &'static str),
    /// Highest value.
    Peak(Source, &'static str),
    /// The difference of two mean times on the host, each a total time over its count.
    Gap([&'static str; 2], [&'static str; 2]),
    /// Lost records over lost records and samples.
    LostShare,
    /// Sampled time over CPU time.
    Sampled,
}

struct Def(&'static str, &'static str, Section, Unit, Rule);

use Rule::{Gap, Grouped, LostShare, Over, OverWall, Part, Peak, PerCpuSecond, PerSecond, Rest, Sampled, Total};
use Section as S;
use Source::{Host, Target, Tasks as Own, Tool};

const DEFS: &[Def] = &[
    Def("cpu_time", "CPU time", S::Cpu, U::Seconds, Total(Own, "task-clock", 1e-9)),
    Def("cpu_utilisation", "busy cores", S::Cpu, U::Cores, OverWall(Own, "task-clock")),
    Def("user_share", "user mode", S::Cpu, U::Share, Part("user-time", "system-time")),
    Def("system_share", "kernel mode", S::Cpu, U::Share, Part("system-time", "user-time")),
    Def("cycles", "cycles", S::Cpu, U::Count, Total(Own, "cycles", 1.0)),
    Def("instructions", "instructions", S::Cpu, U::Count, Total(Own, "instructions", 1.0)),
    Def("ipc", "IPC", S::Cpu, U::Ratio, Grouped("instructions", "cycles")),
    Def("cpi", "CPI", S::Cpu, U::Ratio, Grouped("cycles", "instructions")),
    Def("frequency", "frequency", S::Cpu, U::Hertz, PerCpuSecond("cycles", "task-clock")),
    Def("threads", "threads alive", S::Scheduler, U::Threads, OverWall(Own, "thread-time")),
    Def("run_share", "of their time: running", S::Scheduler, U::Share, Over(Own, "task-clock", "thread-time")),
    Def("run_queue_delay", "waiting for a CPU", S::Scheduler, U::Share, Over(Own, "run-delay", "thread-time")),
    Def("blocked_share", "blocked", S::Scheduler, U::Share, Rest("task-clock", "run-delay", "thread-time")),
    Def("voluntary_switches", "switches, blocked", S::Scheduler, U::PerSecond, PerSecond(Own, "voluntary-switches")),
    Def(
        "involuntary_switches",
        "switches, preempted",
        S::Scheduler,
        U::PerSecond,
        PerSecond(Own, "involuntary-switches"),
    ),
    Def("migrations", "moves between CPUs", S::Scheduler, U::PerSecond, PerSecond(Own, "migrations")),
    Def("block_io_delay", "waiting for block I/O", S::Scheduler, U::Share, Over(Own, "blkio-delay", "thread-time")),
    Def("minor_faults", "minor page faults", S::Memory, U::PerSecond, PerSecond(Own, "minor-faults")),
    Def("major_faults", "major page faults", S::Memory, U::PerSecond, PerSecond(Own, "major-faults")),
    Def(
        "throttled_share",
        "periods throttled",
        S::Cgroup,
        U::Share,
        Over(Target, "cgroup-throttled-periods", "cgroup-periods"),
    ),
    Def("throttled_periods", "throttled", S::Cgroup, U::PerSecond, PerSecond(Target, "cgroup-throttled-periods")),
    Def(
        "throttled_time",
        "throttled time, all CPUs",
        S::Cgroup,
        U::Seconds,
        Total(Target, "cgroup-throttled-time", 1e-9),
    ),
    Def("psi_cpu_some", "some wait for CPU", S::Cgroup, U::Share, OverWall(Target, "psi-cpu-some")),
    Def("psi_memory_some", "some wait for memory", S::Cgroup, U::Share, OverWall(Target, "psi-memory-some")),
    Def("psi_memory_full", "all wait for memory", S::Cgroup, U::Share, OverWall(Target, "psi-memory-full")),
    Def("psi_io_some", "some wait for I/O", S::Cgroup, U::Share, OverWall(Target, "psi-io-some")),
    Def("psi_io_full", "all wait for I/O", S::Cgroup, U::Share, OverWall(Target, "psi-io-full")),
    Def("host_busy", "CPUs busy", S::Host, U::Share, Over(Host, "host-busy", "host-time")),
    Def("steal_share", "stolen by hypervisor", S::Host, U::Share, Over(Host, "host-steal", "host-time")),
    Def("host_psi_cpu_some", "some wait for CPU", S::Host, U::Share, OverWall(Host, "psi-cpu-some")),
    Def("host_psi_memory_some", "some wait for memory", S::Host, U::Share, OverWall(Host, "psi-memory-some")),
    Def("host_psi_memory_full", "all wait for memory", S::Host, U::Share, OverWall(Host, "psi-memory-full")),
    Def("host_psi_io_some", "some wait for I/O", S::Host, U::Share, OverWall(Host, "psi-io-some")),
    Def("host_psi_io_full", "all wait for I/O", S::Host, U::Share, OverWall(Host, "psi-io-full")),
    Def("probe_l2_latency", "L2", S::Probe, U::Nanos, Over(Host, "probe-l2-time", "probe-l2-loads")),
    Def("probe_llc_latency", "last-level cache", S::Probe, U::Nanos, Over(Host, "probe-llc-time", "probe-llc-loads")),
    Def("probe_dram_latency", "memory", S::Probe, U::Nanos, Over(Host, "probe-dram-time", "probe-dram-loads")),
    Def(
        "probe_tlb_latency",
        "address translation",
        S::Probe,
        U::Nanos,
        Gap(["probe-small-pages-time", "probe-small-pages-loads"], ["probe-huge-pages-time", "probe-huge-pages-loads"]),
    ),
    Def(
        "probe_remote_latency",
        "memory of another node",
        S::Probe,
        U::Nanos,
        Over(Host, "probe-remote-time", "probe-remote-loads"),
    ),
    Def("probe_cpu_share", "CPU they took, of one", S::Probe, U::Share, OverWall(Tool, "probe-cpu")),
    Def("tool_cpu_share", "CPU, of one", S::Tool, U::Share, OverWall(Tool, "tool-cpu")),
    Def("tool_memory", "memory", S::Tool, U::Bytes, Peak(Tool, "tool-memory")),
    Def("samples_coverage", "CPU time sampled", S::Tool, U::Share, Sampled),
    Def("samples_lost_share", "records lost", S::Tool, U::Share, LostShare),
];

/// The inputs of a rule.
#[derive(Clone, Copy)]
struct MetricContext<'a> {
    counters: &'a Counters,
    who: &'a Who,
    window: Window,
    summary: Option<&'a Summary>,
}

/// Every metric of the window for these threads. `summary` must cover the same selection; without it the shares of lost
/// samples and of sampled time are missing.
#[must_use]
pub fn metrics(counters: &Counters, who: &Who, window: Window, summary: Option<&Summary>) -> Vec<Metric> {
    let context = MetricContext { counters, who, window, summary };
    let metric = |Def(name, label, section, unit, rule): &Def| Metric {
        name,
        label,
        section: *section,
        unit: *unit,
        value: rule.apply(&context),
        formula: rule.formula(),
        events: rule.events(),
        detail: if *name == "ipc" && *who == Who::All { ipc_by_kind(counters, window) } else { None },
        threshold: None,
    };
    let hardware = Reader { counters, who, window }.metrics();
    DEFS.iter().map(metric).chain(hardware).collect()
}

impl MetricContext<'_> {
    fn delta(&self, from: Source, name: &str) -> Measure<f64> {
        if matches!(name, "cycles" | "instructions") && self.counts_too_little() {
            return Measure::Missing(Why::Suspect);
        }
        match (from, self.who) {
            (Source::Tasks, Who::Only(tids)) => self.counters.sum(name, tids.iter().copied(), self.window),
            (Source::Tasks, Who::All) | (Source::Target, _) => self.counters.delta(name, Scope::Target, self.window),
            (Source::Host, _) => self.counters.delta(name, Scope::Host, self.window),
            (Source::Tool, _) => self.counters.delta(name, Scope::Tool, self.window),
        }
    }

    /// Whether samples saw more cycles than counter groups: threads shorter-lived than a group's turn go uncounted.
    fn counts_too_little(&self) -> bool {
        let coverage = self.summary.and_then(|summary| summary.coverage.value());
        coverage.is_some_and(|coverage| coverage.counter == "cycles" && coverage.is_high())
    }

    /// Counters of one group counted together. Others may be divided only if both counted all the time.
    fn counted_together(&self, a: &str, b: &str, values: [Measure<f64>; 2]) -> bool {
        let group = |name: &str| self.counters.def(name).and_then(|def| def.group);
        let exact = |value: &Measure<f64>| matches!(value, Measure::Known { quality, .. } if quality.coverage >= 1.0);
        (group(a).is_some() && group(a) == group(b)) || values.iter().all(exact)
    }
}

impl Rule {
    fn apply(self, context: &MetricContext<'_>) -> Measure<f64> {
        let own = |name| context.delta(Source::Tasks, name);
        let wall = Measure::exact(context.window.span().as_f64());
        match self {
            Total(from, name, factor) => context.delta(from, name).map(|value| value * factor),
            PerSecond(from, name) => context.delta(from, name).over(wall.map(|ns| ns * 1e-9)),
            OverWall(from, name) => context.delta(from, name).over(wall),
            Over(from, a, b) => context.delta(from, a).over(context.delta(from, b)),
            Part(a, b) => own(a).over(own(a).ratio(own(b), |a, b| Some(a + b))),
            Rest(a, b, whole) => {
                let used = own(a).ratio(own(b), |a, b| Some(a + b));
                let wait = own(b).over(own("timeslices")).value().map_or(0, |ns| *ns as u64);
                remainder(used.over(own(whole)), context.window.span(), Nanos(wait))
            }
            Grouped(a, b) => {
                let (above, below) = (own(a), own(b));
                let ratio = above.over(below);
                let known = ratio.value().is_some();
                if known && !context.counted_together(a, b, [above, below]) {
                    return Measure::Missing(Why::Multiplexed);
                }
                ratio
            }
            PerCpuSecond(..) if context.counters.hardware().user_only() => Measure::Missing(Why::NotPermitted),
            PerCpuSecond(a, clock) => own(a).over(own(clock).map(|ns| ns * 1e-9)),
            Peak(from, name) => {
                let scope = if from == Source::Host { Scope::Host } else { Scope::Tool };
                context.counters.peak(name, scope, context.window)
            }
            Gap([a, a_count], [b, b_count]) => {
                let each = |time, count| context.delta(Host, time).over(context.delta(Host, count));
                // Negative where it drowns in noise: clamped to zero, noise would look like a cost.
                each(a, a_count).ratio(each(b, b_count), |a, b| Some(a - b))
            }
            Sampled => match context.summary {
                Some(summary) => summary.coverage.map(|coverage| coverage.share),
                None => Measure::Missing(Why::NotRecorded),
            },
            LostShare => match context.summary {
                Some(summary) => Measure::exact(summary.lost as f64)
                    .over(Measure::exact(summary.all_samples.saturating_add(summary.lost) as f64)),
                None => Measure::Missing(Why::NotRecorded),
            },
        }
    }

    fn events(self) -> Vec<String> {
        let names = match self {
            Total(_, a, _) | PerSecond(_, a) | OverWall(_, a) | Peak(_, a) => vec![a],
            Over(_, a, b) | Part(a, b) | Grouped(a, b) | PerCpuSecond(a, b) => vec![a, b],
            Rest(a, b, c) => vec![a, b, c],
            Gap([a, b], [c, d]) => vec![a, b, c, d],
            LostShare | Sampled => vec![],
        };
        names.into_iter().map(str::to_string).collect()
    }

    fn formula(self) -> String {
        match self {
            Total(_, a, _) => format!("d {a}"),
            PerSecond(_, a) | OverWall(_, a) => format!("d {a} / wall"),
            Over(_, a, b) | Grouped(a, b) | PerCpuSecond(a, b) => format!("d {a} / d {b}"),
            Part(a, b) => format!("d {a} / (d {a} + d {b})"),
            Rest(a, b, c) => format!("1 - (d {a} + d {b}) / d {c}"),
            Peak(_, a) => format!("max {a}"),
            Gap([a, b], [c, d]) => format!("d {a} / d {b} - d {c} / d {d}"),
            LostShare => "lost / (lost + samples)".to_string(),
            Sampled => "weight of the samples / d CPU time".to_string(),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::coverage::Coverage;
    use crate::analysis::selection::Selection;
    use crate::analysis::summary::summary;
    use crate::analysis::tasks::Tasks;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::{Quality, TaskChange};

    fn check(synthetic: Synthetic, who: &Who, expected: &[(&str, Measure<f64>)]) {
        let profile = synthetic.finish();
        let window = Window { from: ms(0), to: ms(2000) };
        let all = metrics(&Counters::of(&profile), who, window, None);
        for (name, value) in expected {
            let found = all.iter().find(|metric| metric.name == *name).unwrap();
            let close = match (found.value, value) {
                (Measure::Known { value: a, quality: qa }, Measure::Known { value: b, quality: qb }) => {
                    (a - b).abs() <= 1e-9 * b.abs() && qa == *qb
                }
                (a, b) => a == *b,
            };
            assert!(close, "{name}: {:?}, not {value:?}", found.value);
        }
    }

    #[test]
    fn a_targets_metrics_come_from_its_own_readings() {
        let mut synthetic = Synthetic::new();
        for (counter, scope, value) in [
            ("task-clock", Scope::Target, ms(3000).0),
            ("thread-time", Scope::Target, ms(8000).0),
            ("run-delay", Scope::Target, ms(1000).0),
            ("user-time", Scope::Target, ms(2400).0),
            ("system-time", Scope::Target, ms(600).0),
            ("voluntary-switches", Scope::Target, 500),
            ("cgroup-periods", Scope::Target, 20),
            ("cgroup-throttled-periods", Scope::Target, 5),
            ("psi-cpu-some", Scope::Host, ms(200).0),
            ("host-time", Scope::Host, ms(4000).0),
            ("host-steal", Scope::Host, ms(40).0),
            ("tool-cpu", Scope::Tool, ms(20).0),
            ("probe-llc-time", Scope::Host, 25_000),
            ("probe-llc-loads", Scope::Host, 1000),
            ("probe-small-pages-time", Scope::Host, 24_000),
            ("probe-small-pages-loads", Scope::Host, 2000),
            ("probe-huge-pages-time", Scope::Host, 4000),
            ("probe-huge-pages-loads", Scope::Host, 1000),
        ] {
            synthetic.reading(counter, scope, 2000, value);
        }
        synthetic.reading("tool-memory", Scope::Tool, 1000, 900).reading("tool-memory", Scope::Tool, 2000, 700);
        let expected = [
            ("cpu_time", 3.0),
            ("cpu_utilisation", 1.5),
            ("user_share", 0.8),
            ("system_share", 0.2),
            ("threads", 4.0),
            ("run_share", 0.375),
            ("run_queue_delay", 0.125),
            ("blocked_share", 0.5),
            ("voluntary_switches", 250.0),
            ("throttled_share", 0.25),
            ("host_psi_cpu_some", 0.1),
            ("steal_share", 0.01),
            ("tool_cpu_share", 0.01),
            ("tool_memory", 900.0),
            ("probe_llc_latency", 25.0),
            ("probe_tlb_latency", 8.0),
        ];
        check(synthetic, &Who::All, &expected.map(|(name, value)| (name, Measure::exact(value))));
    }

    #[test]
    fn selected_threads_are_summed_over_their_own_lives() {
        let mut synthetic = Synthetic::new();
        let born = TaskChange::Born { parent: 41, comm: "w".to_string() };
        synthetic.alive(41, "main").task(1000, 41, 42, born).task(1500, 41, 42, TaskChange::Ended);
        synthetic.reading("task-clock", Scope::Thread(42), 1400, ms(200).0);
        synthetic.reading("task-clock", Scope::Target, 2000, ms(2000).0);
        synthetic.reading("psi-cpu-some", Scope::Target, 2000, ms(200).0);
        let who = Who::Only([42].into_iter().collect());
        // Nothing was read in its last 100 ms.
        let expected = [("cpu_time", 0.25, 0.8), ("run_share", 0.5, 0.8), ("psi_cpu_some", 0.1, 1.0)];
        let known = |value, coverage| Measure::Known { value, quality: Quality { coverage } };
        check(synthetic, &who, &expected.map(|(name, value, coverage)| (name, known(value, coverage))));
    }

    #[test]
    fn cycles_that_samples_prove_too_few_are_no_number() {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "main").samples(100, 41, "a!b", 100);
        synthetic.reading("cycles", Scope::Target, 2000, 3000);
        let profile = synthetic.finish();
        let (counters, window) = (Counters::of(&profile), Window { from: ms(0), to: ms(2000) });
        let selection = Selection::default();
        let mut summary = summary(&profile, &Tasks::of(&profile), &counters, &selection, window);
        for (share, counter, expected) in [
            (4.0, "cycles", Measure::Missing(Why::Suspect)),
            (1.0, "cycles", Measure::exact(3000.0)),
            (4.0, "task-clock", Measure::exact(3000.0)),
        ] {
            summary.coverage = Measure::exact(Coverage { share, error: 0.01, counter });
            let all = metrics(&counters, &Who::All, window, Some(&summary));
            let cycles = all.iter().find(|metric| metric.name == "cycles").unwrap();
            assert_eq!(cycles.value, expected, "{share} of {counter}");
        }
    }

    #[test]
    fn a_ratio_needs_counters_that_ran_together() {
        let mut together = Synthetic::new();
        together.multiplexed("cycles", Scope::Target, 2000, 3000, (2000, 1000));
        together.multiplexed("instructions", Scope::Target, 2000, 1500, (2000, 1000));
        together.reading("task-clock", Scope::Target, 2000, ms(1000).0);
        let half = Quality { coverage: 0.5 };
        let expected = [
            ("ipc", Measure::Known { value: 0.5, quality: half }),
            ("cpi", Measure::Known { value: 2.0, quality: half }),
            ("frequency", Measure::Known { value: 6000.0, quality: half }),
        ];
        check(together, &Who::All, &expected);

        let mut apart = Synthetic::new();
        apart.multiplexed("cycles", Scope::Target, 2000, 3000, (2000, 1000));
        apart.multiplexed("instructions", Scope::Target, 2000, 1500, (2000, 1000));
        let mut profile = apart.finish();
        profile.counters.iter_mut().for_each(|def| def.group = None);
        let window = Window { from: ms(0), to: ms(2000) };
        let all = metrics(&Counters::of(&profile), &Who::All, window, None);
        let ipc = all.iter().find(|metric| metric.name == "ipc").unwrap();
        assert_eq!(ipc.value, Measure::Missing(Why::Multiplexed));
    }

    #[test]
    fn nothing_running_and_no_hardware_are_different_reasons() {
        let mut synthetic = Synthetic::new();
        synthetic.define("cycles");
        synthetic.define("instructions");
        synthetic.reading("user-time", Scope::Target, 1000, 0).reading("system-time", Scope::Target, 1000, 0);
        let expected = [("ipc", Why::NotSupported), ("user_share", Why::Idle), ("cpu_time", Why::NotRecorded)];
        check(synthetic, &Who::All, &expected.map(|(name, why)| (name, Measure::Missing(why))));
    }

    #[test]
    fn no_metric_name_occurs_twice() {
        let hardware = crate::model::HARDWARE_METRICS.iter().map(|metric| metric.name);
        let mut names: Vec<_> = DEFS.iter().map(|def| def.0).chain(hardware).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
