//! Computes the metrics of the registry for one window. Ratios use only counters that counted together.

use super::counters::Counters;
use super::hardware_metrics::HardwareReader;
use super::metric::Metric;
use super::remainder::remainder;
use super::selection::ThreadSet;
use super::summary::Summary;
use super::time::Window;
use crate::model::{Computation, KIND_MARK, Measure, MetricId, Readings, Scope, Why};
use crate::units::Nanos;
use Computation::{
    Counting, Events, EventsPerOperation, Gap, Grouped, Latency, Law, LostShare, OperationRate, Operations, Over,
    OverWall, Part, Peak, PerCpuSecond, PerOperation, PerSecond, Rest, Sampled, Sampling, Total,
};

/// The inputs of a computation.
#[derive(Clone, Copy)]
struct MetricContext<'a> {
    counters: &'a Counters,
    who: &'a ThreadSet,
    window: Window,
    summary: Option<&'a Summary>,
}

/// Every metric of the window for these threads. `summary` must cover the same selection; without it the shares of lost
/// samples and of sampled time are missing.
#[must_use]
pub fn metrics(counters: &Counters, who: &ThreadSet, window: Window, summary: Option<&Summary>) -> Vec<Metric> {
    let context = MetricContext { counters, who, window, summary };
    let latencies = counters.latency().reader(window);
    let plain = MetricId::ALL.iter().filter(|id| id.def().computation.is_plain()).map(|id| {
        if let Latency(measure) = id.def().computation {
            let (value, detail) = latencies.measure(measure);
            return Metric { detail, ..Metric::of(*id, value) };
        }
        let by_core_type = *id == MetricId::Ipc && *who == ThreadSet::All;
        let detail = if by_core_type { ipc_by_core_type(counters, window) } else { None };
        Metric { detail, ..Metric::of(*id, context.value(id.def().computation)) }
    });
    plain.chain(HardwareReader { counters, who, window }.metrics()).collect()
}

impl MetricContext<'_> {
    fn delta(&self, from: Readings, name: &str) -> Measure<f64> {
        if matches!(name, "cycles" | "instructions") && self.counts_too_little() {
            return Measure::Missing(Why::Suspect);
        }
        match (from, self.who) {
            (Readings::Tasks, ThreadSet::Only(tids)) => self.counters.sum(name, tids.iter().copied(), self.window),
            (Readings::Tasks, ThreadSet::All) | (Readings::Target, _) => {
                self.counters.delta(name, Scope::Target, self.window)
            }
            (Readings::Host, _) => self.counters.delta(name, Scope::Host, self.window),
            (Readings::Tool, _) => self.counters.delta(name, Scope::Tool, self.window),
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

    fn summed(&self, share: impl Fn(&Summary) -> Measure<f64>) -> Measure<f64> {
        self.summary.map_or(Measure::Missing(Why::NotRecorded), share)
    }

    fn value(&self, computation: Computation) -> Measure<f64> {
        let own = |name| self.delta(Readings::Tasks, name);
        let wall = Measure::exact(self.window.span().as_f64());
        match computation {
            Total(from, name, factor) => self.delta(from, name).map(|value| value * factor),
            PerSecond(from, name) => self.delta(from, name).over(wall.map(|ns| ns * 1e-9)),
            OverWall(from, name) => self.delta(from, name).over(wall),
            Over(from, a, b) => self.delta(from, a).over(self.delta(from, b)),
            Part(a, b) => own(a).over(own(a).ratio(own(b), |a, b| Some(a + b))),
            Rest(a, b, whole) => {
                let used = own(a).ratio(own(b), |a, b| Some(a + b));
                let wait = own(b).over(own("timeslices")).value().map_or(0, |ns| *ns as u64);
                remainder(used.over(own(whole)), self.window.span(), Nanos(wait))
            }
            Grouped(a, b) => {
                let (above, below) = (own(a), own(b));
                let ratio = above.over(below);
                let known = ratio.value().is_some();
                if known && !self.counted_together(a, b, [above, below]) {
                    return Measure::Missing(Why::Multiplexed);
                }
                ratio
            }
            PerCpuSecond(..) if self.counters.hardware().user_only() => Measure::Missing(Why::NotPermitted),
            PerCpuSecond(a, clock) => own(a).over(own(clock).map(|ns| ns * 1e-9)),
            Peak(from, name) => {
                let scope = if from == Readings::Host { Scope::Host } else { Scope::Tool };
                self.counters.peak(name, scope, self.window)
            }
            Gap([a, a_count], [b, b_count]) => {
                let each = |time, count| self.delta(Readings::Host, time).over(self.delta(Readings::Host, count));
                // Negative where it drowns in noise: clamped to zero, noise would look like a cost.
                each(a, a_count).ratio(each(b, b_count), |a, b| Some(a - b))
            }
            Sampled => self.summed(|summary| summary.coverage.map(|coverage| coverage.share)),
            Sampling => self.summed(|summary| summary.sampling),
            Counting => self.summed(|summary| summary.switching),
            LostShare => self.summed(|summary| {
                let all = summary.all_samples.saturating_add(summary.lost);
                Measure::exact(summary.lost as f64).over(Measure::exact(all as f64))
            }),
            Operations | OperationRate | PerOperation(..) | Events(_) | EventsPerOperation(_) | Latency(_) | Law(_) => {
                Measure::Missing(Why::NotRecorded)
            }
        }
    }
}

/// IPC on each core type in words, the most common type first, because sums over all cores hide that one type is
/// slower; `None` where all cores are alike. Counts are not scaled: time on another core type is not missing.
fn ipc_by_core_type(counters: &Counters, window: Window) -> Option<String> {
    let law = |mark: &str| {
        let counted = |role: &str| counters.unscaled(&format!("{role}{mark}"), window);
        Some((counted("instructions")?, counted("cycles")?))
    };
    let whole = law("")?;
    let types = counters.names().filter_map(|name| name.strip_prefix("cycles")?.strip_prefix(KIND_MARK));
    let mut types: Vec<(&str, (f64, f64))> =
        types.filter_map(|core_type| Some((core_type, law(&format!("{KIND_MARK}{core_type}"))?))).collect();
    types.sort_by_key(|(core_type, _)| *core_type);
    let apart = types.iter().fold((0.0, 0.0), |sum, (_, law)| (sum.0 + law.0, sum.1 + law.1));
    if types.is_empty() {
        return None;
    }
    types.insert(0, (counters.most_common_core_type(), (whole.0 - apart.0, whole.1 - apart.1)));
    let text = |(core_type, (instructions, cycles)): &(&str, (f64, f64))| match *cycles > 0.0 {
        true => format!("{:.2} on {core_type} ({:.0}% of the cycles)", instructions / cycles, 100.0 * cycles / whole.1),
        false => format!("{core_type} was not used"),
    };
    Some(types.iter().map(text).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::coverage::Coverage;
    use crate::analysis::selection::Selection;
    use crate::analysis::stack_counts::StackCounts;
    use crate::analysis::summary::summary;
    use crate::analysis::tasks::Tasks;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::{HardwarePlan, Quality, TaskChange};

    fn check(synthetic: Synthetic, who: &ThreadSet, expected: &[(&str, Measure<f64>)]) {
        let profile = synthetic.finish();
        let window = Window { from: ms(0), to: ms(2000) };
        let all = metrics(&Counters::of(&profile), who, window, None);
        for (name, value) in expected {
            let found = all.iter().find(|metric| metric.id.name() == *name).unwrap();
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
            ("wait-stacks-time", Scope::Target, ms(15).0),
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
            ("wait_stacks_share", 0.005),
            ("probe_llc_latency", 25.0),
            ("probe_tlb_latency", 8.0),
        ];
        check(synthetic, &ThreadSet::All, &expected.map(|(name, value)| (name, Measure::exact(value))));
    }

    #[test]
    fn selected_threads_are_summed_over_their_own_lives() {
        let mut synthetic = Synthetic::new();
        let born = TaskChange::Born { parent: 41, comm: "w".to_string() };
        synthetic.alive(41, "main").task(1000, 41, 42, born).task(1500, 41, 42, TaskChange::Ended);
        synthetic.reading("task-clock", Scope::Thread(42), 1400, ms(200).0);
        synthetic.reading("task-clock", Scope::Target, 2000, ms(2000).0);
        synthetic.reading("psi-cpu-some", Scope::Target, 2000, ms(200).0);
        let who = ThreadSet::Only([42].into_iter().collect());
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
        let mut summary =
            summary(&profile, &counters, &StackCounts::of(&profile, &Tasks::of(&profile), &selection), window);
        for (share, counter, expected) in [
            (4.0, "cycles", Measure::Missing(Why::Suspect)),
            (1.0, "cycles", Measure::exact(3000.0)),
            (4.0, "task-clock", Measure::exact(3000.0)),
        ] {
            summary.coverage = Measure::exact(Coverage { share, error: 0.01, counter });
            let all = metrics(&counters, &ThreadSet::All, window, Some(&summary));
            let cycles = all.iter().find(|metric| metric.id == MetricId::Cycles).unwrap();
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
        check(together, &ThreadSet::All, &expected);

        let mut apart = Synthetic::new();
        apart.multiplexed("cycles", Scope::Target, 2000, 3000, (2000, 1000));
        apart.multiplexed("instructions", Scope::Target, 2000, 1500, (2000, 1000));
        let mut profile = apart.finish();
        profile.counters.iter_mut().for_each(|def| def.group = None);
        let window = Window { from: ms(0), to: ms(2000) };
        let all = metrics(&Counters::of(&profile), &ThreadSet::All, window, None);
        let ipc = all.iter().find(|metric| metric.id == MetricId::Ipc).unwrap();
        assert_eq!(ipc.value, Measure::Missing(Why::Multiplexed));
    }

    #[test]
    fn nothing_running_and_no_hardware_are_different_reasons() {
        let mut synthetic = Synthetic::new();
        synthetic.define("cycles");
        synthetic.define("instructions");
        synthetic.reading("user-time", Scope::Target, 1000, 0).reading("system-time", Scope::Target, 1000, 0);
        let expected = [("ipc", Why::NotSupported), ("user_share", Why::Idle), ("cpu_time", Why::NotRecorded)];
        check(synthetic, &ThreadSet::All, &expected.map(|(name, why)| (name, Measure::Missing(why))));
    }

    fn told(counted: &[(&str, u64)]) -> Option<String> {
        let mut synthetic = Synthetic::new();
        for (name, value) in counted {
            synthetic.multiplexed(name, Scope::Target, 1000, *value, (1000, 400));
        }
        synthetic.meta.hardware = HardwarePlan { pmu: "cpu_core".into(), ..HardwarePlan::default() };
        ipc_by_core_type(&Counters::of(&synthetic.finish()), Window { from: ms(0), to: ms(1000) })
    }

    #[test]
    fn the_most_common_core_type_is_what_the_others_leave() {
        let law = [("cycles", 1000), ("instructions", 1600)];
        let apart = [("cycles@cpu_atom", 400), ("instructions@cpu_atom", 400)];
        let text = told(&[law, apart].concat());
        assert_eq!(text.as_deref(), Some("2.00 on cpu_core (60% of the cycles), 1.00 on cpu_atom (40% of the cycles)"));
        let idle = [("cycles@cpu_atom", 0), ("instructions@cpu_atom", 0)];
        assert!(told(&[law, idle].concat()).is_some_and(|text| text.ends_with("cpu_atom was not used")));
        assert_eq!((told(&law), told(&[])), (None, None));
    }
}
