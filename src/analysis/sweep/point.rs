//! Combines the runs of one width: the columns of the scaling table with their intervals. If a run lacks a number, the
//! column is missing with that run's reason.

use super::latency::PointLatency;
use super::speedup::{efficiency, karp_flatt, sound, speedup};
use super::types::{Estimate, Point, PointMetrics, Run};
use crate::analysis::{Law, value_of};
use crate::model::{Measure, MetricId, Quality, Region, Why};

impl Point {
    /// Averages these runs; comparisons with a base are missing until [`Point::compare`] is called.
    #[must_use]
    pub fn of(n: u32, region: Region, runs: Vec<Run>) -> Point {
        let numbers = numbers(f64::from(n), &runs);
        Point { n, region, runs, numbers }
    }

    /// Computes what a physical core takes for an instruction; without `threads` it stays missing.
    pub fn share_cores(&mut self, threads: Option<f64>) {
        let Some(threads) = threads.filter(|threads| *threads > 0.0) else { return };
        let part = |of: Estimate| Estimate { mean: of.mean / threads, half: of.half.map(|half| half / threads), ..of };
        self.numbers.core_cpi = through(self.numbers.cpi, |cpi| sound(part(cpi)));
    }

    /// Computes speed-up, efficiency and serial fraction against the base, which may be this point itself.
    pub fn compare(&mut self, base_n: u32, base: Measure<Estimate>) {
        let (base_n, n) = (f64::from(base_n), f64::from(self.n));
        let numbers = &mut self.numbers;
        // Relative to itself it is exact, however its runs scatter.
        let is_base = base_n == n && base == numbers.ops_per_s;
        let known = |of: Estimate| Estimate { half: of.half.filter(|_| !is_base), ..of };
        numbers.speedup = base.ratio(numbers.ops_per_s, |base, here| speedup(base_n, base, here).map(known));
        numbers.efficiency = through(numbers.speedup, |speedup| efficiency(n, speedup));
        numbers.karp_flatt = through(numbers.speedup, |speedup| karp_flatt(base_n, n, speedup));
    }
}

fn metric(run: &Run, id: MetricId) -> Measure<f64> {
    value_of(&run.metrics, id)
}

fn through(of: Measure<Estimate>, f: impl FnOnce(Estimate) -> Option<Estimate>) -> Measure<Estimate> {
    of.ratio(Measure::exact(()), |estimate, ()| f(estimate))
}

fn numbers(n: f64, runs: &[Run]) -> PointMetrics {
    let mean = |of: &dyn Fn(&Run) -> Measure<f64>| mean(runs.iter().map(of));
    let law = |of: fn(&Law) -> Measure<f64>| mean(&|run| of(&Law::of(&run.totals)));
    let unknown = Measure::Missing(Why::NoOpsSource);
    PointMetrics {
        ops: mean(&|run| run.totals.ops),
        seconds: mean(&|run| Measure::exact(run.totals.wall)),
        ops_per_s: law(|law| law.throughput),
        instructions: mean(&|run| run.totals.instructions),
        cycles: mean(&|run| run.totals.cpi.ratio(run.totals.instructions, |cpi, count| Some(cpi * count))),
        path_length: law(|law| law.path_length),
        cpi: law(|law| law.cpi),
        core_cpi: Measure::Missing(Why::NotRecorded),
        frequency: law(|law| law.frequency),
        kernel_share: mean(&|run| metric(run, MetricId::SystemShare)),
        cpu_ns_per_op: mean(&|run| Law::of(&run.totals).cpu_per_op.map(|seconds| seconds * 1e9)),
        us_per_op: mean(&|run| Measure::exact(n * run.totals.wall * 1e6).over(run.totals.ops)),
        utilisation: mean(&|run| run.split.running.over(Measure::exact(n * run.totals.wall))),
        busy_cores: law(|law| law.busy),
        speedup: unknown,
        efficiency: unknown,
        karp_flatt: unknown,
        latency_p50: quantile(runs, 0.5),
        latency_p99: quantile(runs, 0.99),
    }
}

fn quantile(runs: &[Run], share: f64) -> Measure<Estimate> {
    let missing = Measure::Missing(Why::NotRecorded);
    let Some(latency) = PointLatency::of(runs) else { return missing };
    latency.quantile(share).map_or(missing, |quantile| quantile.estimate(latency.per_second.runs))
}

fn mean(values: impl Iterator<Item = Measure<f64>>) -> Measure<Estimate> {
    let values: Vec<_> = values.collect();
    // The reason reported must not depend on the order of the runs.
    if let Some(why) = values.iter().filter_map(Measure::why).min_by_key(|why| *why as u8) {
        return Measure::Missing(why);
    }
    let known: Vec<f64> = values.iter().filter_map(Measure::value).copied().collect();
    let coverage = values.iter().map(|value| match value {
        Measure::Known { quality, .. } => quality.coverage,
        Measure::Missing(_) => 0.0,
    });
    let quality = Quality { coverage: coverage.fold(1.0, f64::min) };
    match Estimate::of(&known) {
        Some(value) => Measure::Known { value, quality },
        None => Measure::Missing(if known.is_empty() { Why::NotRecorded } else { Why::Idle }),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::{base, run};
    use super::*;

    fn value(of: Measure<Estimate>) -> f64 {
        of.value().unwrap().mean
    }

    #[test]
    fn every_column_of_a_run_comes_from_its_counts() {
        let point = Point::of(4, Region::Cores, vec![run(4, 1000.0)]);
        let found = &point.numbers;
        for (name, column, expected) in [
            ("ops", found.ops, 10_000.0),
            ("seconds", found.seconds, 10.0),
            ("ops/s", found.ops_per_s, 1000.0),
            ("instructions", found.instructions, 6e10),
            ("cycles", found.cycles, 9e10),
            ("path length", found.path_length, 6e6),
            ("cpi", found.cpi, 1.5),
            ("frequency", found.frequency, 3e9),
            ("cpu ns/op", found.cpu_ns_per_op, 3e6),
            ("us/op", found.us_per_op, 4000.0),
            ("utilisation", found.utilisation, 0.75),
            ("busy cores", found.busy_cores, 3.0),
        ] {
            assert!((value(column) / expected - 1.0).abs() < 1e-12, "{name}: {column:?}");
        }
        assert_eq!(found.speedup.why(), Some(Why::NoOpsSource), "nothing to compare with yet");
    }

    #[test]
    fn repeats_have_an_interval_and_a_run_without_a_number_takes_the_column_with_it() {
        let mut runs = vec![run(4, 900.0), run(4, 1000.0), run(4, 1100.0)];
        let mean = Point::of(4, Region::Cores, runs.clone()).numbers.ops_per_s;
        let Estimate { mean, half, runs: count } = *mean.value().unwrap();
        assert_eq!((mean, count), (1000.0, 3));
        assert!((half.unwrap() - 248.413_8).abs() < 1e-3);
        runs[1].totals.cpi = Measure::Missing(Why::Multiplexed);
        let numbers = Point::of(4, Region::Cores, runs).numbers;
        assert_eq!((numbers.cpi.why(), numbers.cycles.why()), (Some(Why::Multiplexed), Some(Why::Multiplexed)));
        assert!(numbers.ops_per_s.value().is_some() && numbers.path_length.value().is_some());
    }

    #[test]
    fn a_point_compares_with_the_base_and_the_base_with_itself() {
        let mut point = Point::of(4, Region::Cores, vec![run(4, 1000.0)]);
        point.compare(1, base(400.0));
        let found = &point.numbers;
        assert_eq!((value(found.speedup), value(found.efficiency)), (2.5, 0.625));
        assert!((value(found.karp_flatt) - 0.2).abs() < 1e-12);
        point.compare(4, base(1000.0));
        assert_eq!(value(point.numbers.efficiency), 1.0);
        let mut base = Point::of(4, Region::Cores, vec![run(4, 900.0), run(4, 1000.0), run(4, 1100.0)]);
        base.compare(4, base.numbers.ops_per_s);
        let known = |of: Measure<Estimate>| of.value().unwrap().half;
        assert_eq!((known(base.numbers.speedup), known(base.numbers.efficiency)), (None, None), "exactly 4 and 1");
        assert_eq!(point.numbers.karp_flatt.value(), None);
        point.compare(1, Measure::Missing(Why::NoOpsSource));
        assert_eq!(point.numbers.efficiency.why(), Some(Why::NoOpsSource));
    }

    #[test]
    fn a_core_with_two_threads_takes_half_the_cycles_of_each() {
        let mut point = Point::of(4, Region::Smt, vec![run(4, 1000.0)]);
        assert_eq!(point.numbers.core_cpi.why(), Some(Why::NotRecorded));
        for (threads, expected) in [(None, None), (Some(0.0), None), (Some(2.0), Some(0.75))] {
            point.share_cores(threads);
            assert_eq!(point.numbers.core_cpi.value().map(|cpi| cpi.mean), expected);
        }
    }

    #[test]
    fn the_order_of_runs_does_not_show() {
        let runs = [run(2, 333.3), run(2, 777.7), run(2, 0.1)];
        let turned: Vec<_> = runs.iter().rev().cloned().collect();
        let (a, b) = (Point::of(2, Region::Cores, runs.to_vec()), Point::of(2, Region::Cores, turned));
        assert_eq!(a.numbers, b.numbers);
    }
}
