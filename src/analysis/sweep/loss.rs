//! Finds the code that lost at a width by its cost per operation compared with the base. Shares of two profiles cannot
//! be compared: a function may fall from 6% to 2% and cost five times as much. The stack reports the causes.

use super::owner::owner;
use super::types::{Cost, FunctionId, Loss, LossRow, PathCost, Point, Run};
use crate::analysis::{CodeKind, Coverage};
use crate::model::Unit;
use std::collections::{BTreeMap, BTreeSet};

/// A smaller growth of the whole is noise, with no loss to divide.
const LEAST: f64 = 1.02;

impl Loss {
    /// How much more `here` costs per operation than `base`; `None` without operations or samples in either, or if
    /// cycles were sampled in some runs and time in others.
    #[must_use]
    pub fn of(base: &Point, here: &Point) -> Option<Loss> {
        let sampled = |point| Costs::of(point, |run| Some(&run.cpu), |path| path.frames.last(), sampling);
        let waited = |point| Costs::of(point, |run| run.blocked.as_ref(), owner, waiting);
        let (before, after) = (sampled(base)?, sampled(here)?);
        if before.whole <= 0.0 || after.whole <= 0.0 || before.unit != after.unit {
            return None;
        }
        let waits = waited(base).zip(waited(here));
        Some(Loss {
            n: here.n,
            base: before.whole,
            here: after.whole,
            blocked: waits.as_ref().map(|(before, after)| (before.whole, after.whole)),
            coverage: coverage([base, here]),
            functions: rows(&before, &after),
            waits: waits.map(|(before, after)| rows(&before, &after)).unwrap_or_default(),
        })
    }
}

/// The coverage of the run with the smallest sampled part.
fn coverage(points: [&Point; 2]) -> Option<Coverage> {
    let runs = points.into_iter().flat_map(|point| &point.runs);
    runs.filter_map(|run| Coverage::of_run(&run.metrics, run.cpu.samples)).min_by(|a, b| a.share.total_cmp(&b.share))
}

/// Each run's cost with its operations; `None` if a run lacks either, or their units differ.
pub(super) fn runs<'a>(point: &'a Point, of: impl Fn(&'a Run) -> Option<&'a Cost>) -> Option<Vec<(&'a Cost, f64)>> {
    let ops = |run: &Run| run.totals.ops.value().copied().filter(|ops| *ops > 0.0 && ops.is_finite());
    let runs: Option<Vec<_>> = point.runs.iter().map(|run| of(run).zip(ops(run))).collect();
    runs.filter(|runs| runs.windows(2).all(|pair| pair[0].0.unit == pair[1].0.unit) && !runs.is_empty())
}

/// The cost per operation of a point's functions.
struct Costs {
    unit: Unit,
    whole: f64,
    samples: u64,
    functions: BTreeMap<FunctionId, Sum>,
    /// Variance of a function's cost from the number of samples.
    variance: fn(&Costs, Sum) -> f64,
    runs: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    /// Sum and sum of squares over the runs.
    cost: f64,
    squares: f64,
    samples: u64,
    called: bool,
}

impl Costs {
    fn of<'a>(
        point: &'a Point,
        of: impl Fn(&'a Run) -> Option<&'a Cost>,
        whose: fn(&PathCost) -> Option<&FunctionId>,
        variance: fn(&Costs, Sum) -> f64,
    ) -> Option<Costs> {
        let runs = runs(point, of)?;
        let mut costs = Costs {
            unit: runs[0].0.unit,
            whole: 0.0,
            samples: 0,
            functions: BTreeMap::new(),
            variance,
            runs: runs.len(),
        };
        for (cost, ops) in runs {
            let mut once: BTreeMap<FunctionId, Sum> = BTreeMap::new();
            for path in &cost.paths {
                if let Some(function) = whose(path) {
                    let sum = once.entry(FunctionId { inlined: false, ..function.clone() }).or_default();
                    sum.cost += path.weight / ops;
                    sum.samples = sum.samples.saturating_add(path.samples);
                    sum.called |= !function.inlined;
                }
            }
            for (function, sum) in once {
                costs.whole += sum.cost / costs.runs as f64;
                costs.samples = costs.samples.saturating_add(sum.samples);
                let all = costs.functions.entry(function).or_default();
                all.cost += sum.cost;
                all.squares += sum.cost * sum.cost;
                all.samples = all.samples.saturating_add(sum.samples);
                all.called |= sum.called;
            }
        }
        costs.whole.is_finite().then_some(costs)
    }

    /// Mean cost of a function, and the variance of that mean.
    fn cell(&self, sum: Sum) -> Cell {
        let runs = self.runs as f64;
        let mean = sum.cost / runs;
        let scatter = (self.runs > 1).then(|| (sum.squares / runs - mean * mean).max(0.0) / (runs - 1.0));
        Cell { mean, seen: (self.variance)(self, sum), scatter }
    }
}

/// A function's mean cost on one side.
struct Cell {
    mean: f64,
    /// Variance of the mean from sampling.
    seen: f64,
    /// Variance of the mean from the scatter of runs; `None` for a single run.
    scatter: Option<f64>,
}

/// How far runs differ beyond sampling, as a fraction of a function's cost. Two or three runs show little about one
/// function, but all functions together show it well: moments are pooled over them, weighted by their samples.
#[derive(Debug, Clone, Copy)]
struct RunNoise {
    /// Variance of one run's cost, in units of the squared cost.
    variance: f64,
    /// Degrees of freedom: those of the runs, because the functions of one run are fast or slow together.
    freedom: f64,
}

impl RunNoise {
    fn of(sides: [&Costs; 2]) -> RunNoise {
        let (mut beyond, mut weights) = (0.0, 0.0);
        for costs in sides {
            let runs = costs.runs as f64;
            for cell in costs.functions.values().map(|sum| costs.cell(*sum)) {
                let Some(scatter) = cell.scatter else { continue };
                // The variance between runs beyond sampling, and its weight: the inverse of the variance by sampling.
                let (extra, worth) = (runs * (scatter - cell.seen), (runs - 1.0) / (cell.seen * runs));
                let weight = worth * cell.mean * cell.mean;
                if weight.is_finite() && extra.is_finite() {
                    weights += weight;
                    beyond += worth * extra;
                }
            }
        }
        let variance = if weights > 0.0 { (beyond / weights).max(0.0) } else { 0.0 };
        RunNoise { variance, freedom: sides.iter().map(|costs| costs.runs as f64 - 1.0).sum() }
    }

    /// Standard error of a difference of means, and its degrees of freedom: infinite if sampling explains all of it.
    fn error(self, sides: [(&Costs, &Cell); 2]) -> (f64, f64) {
        let variance = |(costs, cell): (&Costs, &Cell)| {
            let noisy = cell.seen + self.variance * cell.mean * cell.mean / costs.runs as f64;
            noisy.max(cell.scatter.unwrap_or(0.0))
        };
        let (all, seen): (f64, f64) = (sides.map(variance).iter().sum(), sides.map(|(_, cell)| cell.seen).iter().sum());
        let beyond = 1.0 - seen / all;
        (all.sqrt(), if beyond > 0.0 { self.freedom / (beyond * beyond) } else { f64::INFINITY })
    }
}

fn sampling(costs: &Costs, sum: Sum) -> f64 {
    share_variance(costs.whole, sum.samples, costs.samples)
}

/// Binomial variance of a part of a cost that has this many of all samples. One more sample inside and one outside the
/// part keep few samples, and none, from looking certain.
pub(in crate::analysis) fn share_variance(whole: f64, samples: u64, all: u64) -> f64 {
    let all = all as f64;
    let share = ((samples as f64 + 1.0) / (all + 2.0)).min(1.0);
    whole * whole * share * (1.0 - share) / all.max(1.0)
}

/// Every wait is seen, but a few waits of very different lengths are still random: the lengths are taken as
/// exponential.
fn waiting(costs: &Costs, sum: Sum) -> f64 {
    let mean = sum.cost / costs.runs as f64;
    2.0 * mean * mean / (sum.samples as f64).max(1.0)
}

/// Whether this is how the kernel runs BPF programs of those who watch: what they cost is not the program's.
fn observes(function: &FunctionId) -> bool {
    const DISPATCHERS: [&str; 3] = ["__traceiter_", "__bpf_trace_", "bpf_trace_run"];
    function.kind == CodeKind::Kernel && DISPATCHERS.iter().any(|start| function.name.starts_with(start))
}

/// One row per function of either side, the largest growth first.
fn rows(before: &Costs, after: &Costs) -> Vec<LossRow> {
    let lost = after.whole - before.whole;
    let shared = after.whole > LEAST * before.whole;
    let all = before.functions.keys().chain(after.functions.keys());
    let functions: BTreeSet<_> = all.filter(|function| !observes(function)).collect();
    let noise = RunNoise::of([before, after]);
    let row = |function: &FunctionId| {
        let sums = [before, after].map(|costs| costs.functions.get(function).copied().unwrap_or_default());
        let (base, here) = (before.cell(sums[0]), after.cell(sums[1]));
        let (error, freedom) = noise.error([(before, &base), (after, &here)]);
        LossRow {
            function: FunctionId { inlined: !sums.iter().any(|sum| sum.called), ..function.clone() },
            base: base.mean,
            here: here.mean,
            error,
            freedom,
            share: shared.then(|| (here.mean - base.mean) / lost),
        }
    };
    let sound =
        |row: &LossRow| [row.base, row.here, row.error, row.share.unwrap_or_default()].iter().all(|v| v.is_finite());
    let mut rows: Vec<_> = functions.into_iter().map(row).filter(sound).collect();
    rows.sort_by(|a, b| b.growth().total_cmp(&a.growth()));
    rows
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::{before, cost, function, run};
    use super::*;
    use crate::analysis::stats::simulate::Frequency;
    use crate::analysis::stats::{Random, corrected};
    use crate::model::{Measure, Region, Why};
    use proptest::prelude::*;

    fn point(runs: Vec<Run>) -> Point {
        Point::of(runs[0].n, Region::Cores, runs)
    }

    /// A run of 1000 operations with these samples, a microsecond each, and these waits.
    fn sampled(n: u32, paths: &[(&str, u64)], waits: &[(&str, u64)]) -> Run {
        let weighed = |paths: &[(&str, u64)]| {
            cost(&paths.iter().map(|(path, count)| (*path, *count as f64 * 1e3, *count)).collect::<Vec<_>>())
        };
        Run { cpu: weighed(paths), blocked: Some(weighed(waits)), ..run(n, 100.0) }
    }

    fn of(base: &[(&str, u64)], here: &[(&str, u64)]) -> Loss {
        Loss::of(&point(vec![sampled(1, base, &[])]), &point(vec![sampled(8, here, &[])])).unwrap()
    }

    #[test]
    fn how_the_kernel_runs_programs_of_those_who_watch_is_not_code_that_costs_more() {
        let loss = of(
            &[("main;work", 1000), ("main;[kernel]!schedule;[kernel]!bpf_trace_run1", 10)],
            &[("main;work", 2000), ("main;[kernel]!schedule;[kernel]!bpf_trace_run1", 500), ("main;bpf_trace_run1", 9)],
        );
        let named: Vec<_> = loss.functions.iter().map(|row| (row.function.name.as_str(), row.function.kind)).collect();
        assert_eq!(named, [("work", CodeKind::User), ("bpf_trace_run1", CodeKind::User)]);
    }

    /// Function, share of cycles in percent at 1 and at 160 threads, cycles per operation at both, share of the loss.
    const ROCKSDB: [(&str, f64, f64, f64, f64, f64); 6] = [
        ("rocksdb::Stats::FinishedOps", 3.26, 87.10, 24.5, 13443.0, 91.4),
        ("rocksdb::Version::Get", 3.47, 2.06, 26.1, 317.9, 1.99),
        ("ThreadLocalPtr::StaticMeta::Swap", 1.34, 1.71, 10.1, 263.9, 1.73),
        ("DBImpl::GetImpl", 6.37, 1.60, 47.9, 246.9, 1.36),
        ("Benchmark::ReadRandom", 2.94, 0.97, 22.1, 149.7, 0.87),
        ("GetContext::GetContext", 2.88, 0.52, 21.7, 80.3, 0.40),
    ];

    #[test]
    fn the_published_profiles_lost_in_the_published_functions() {
        let profile = |threads: u32, cycles: f64, percent: fn(usize) -> f64| {
            let mut paths: Vec<_> = (0..ROCKSDB.len())
                .map(|at| (ROCKSDB[at].0, cycles * percent(at) / 100.0, (percent(at) * 1000.0) as u64))
                .collect();
            let rest = 100.0 - (0..ROCKSDB.len()).map(percent).sum::<f64>();
            paths.push(("everything else", cycles * rest / 100.0, (rest * 1000.0) as u64));
            point(vec![Run { cpu: cost(&paths), ..before(threads) }])
        };
        let base = profile(1, 1_136_230_674_488.0, |at| ROCKSDB[at].1);
        let here = profile(160, 171_717_420_118_090.0, |at| ROCKSDB[at].2);
        let loss = Loss::of(&base, &here).unwrap();
        assert!((loss.base - 752.4692).abs() < 1e-4 && (loss.here - 15434.0129).abs() < 1e-4);
        assert_eq!(loss.functions[0].function.name, "rocksdb::Stats::FinishedOps");
        for (name, _, _, base, here, share) in ROCKSDB {
            let row = loss.functions.iter().find(|row| row.function.name == name).unwrap();
            assert!((row.base - base).abs() < 0.1 && (row.here - here).abs() < 0.1, "{row:?}");
            assert!((row.share.unwrap() * 100.0 - share).abs() < 0.1, "{row:?}");
            assert!(row.is_real(), "{row:?}");
        }
        assert_eq!((loss.blocked, loss.waits.len()), (None, 0));
    }

    #[test]
    fn a_function_that_came_cost_nothing_before_and_one_that_went_costs_nothing_now() {
        let loss = of(&[("main;old", 1000), ("main;same", 1000)], &[("main;new", 3000), ("main;same", 1000)]);
        let rows: Vec<_> = loss.functions.iter().map(|r| (r.function.name.as_str(), r.base, r.here, r.share)).collect();
        let expected =
            [("new", 0.0, 3000.0, Some(1.5)), ("same", 1000.0, 1000.0, Some(0.0)), ("old", 1000.0, 0.0, Some(-0.5))];
        assert_eq!(rows, expected);
        assert!(loss.functions[0].is_real() && !loss.functions[1].is_real() && loss.functions[2].is_real());
    }

    #[test]
    fn one_sample_more_or_less_is_not_real_and_no_loss_is_not_shared_out() {
        let loss = of(&[("main;hot", 1000)], &[("main;hot", 1000), ("main;rare", 2)]);
        assert!(loss.functions.iter().all(|row| !row.is_real() && row.share.is_none()), "{loss:?}");
    }

    #[test]
    fn the_error_is_the_binomial_one_unless_runs_scatter_more() {
        let steady = |n: u32| vec![sampled(n, &[("a", 5000), ("b", 5000)], &[]); 3];
        let row = |runs: Vec<Run>| Loss::of(&point(steady(1)), &point(runs)).unwrap().functions[0].clone();
        let error = |runs: Vec<Run>| row(runs).error;
        // 10000 ns per operation from 30000 samples on each side, half of them in the function.
        let binomial = 10_000.0 * (0.25_f64 / 30_000.0 * 2.0).sqrt();
        assert!((error(steady(8)) - binomial).abs() < 0.01, "{}", error(steady(8)));
        let uneven = [4000, 5000, 6000].map(|count| sampled(8, &[("a", count), ("b", 10_000 - count)], &[]));
        // Both functions differ by 20% from run to run; the same is assumed for the steady side, less their sampling.
        let noise = 1000.0_f64.powi(2) / 3.0;
        assert!((error(uneven.to_vec()) / (noise * 1.5).sqrt() - 1.0).abs() < 0.02, "{}", error(uneven.to_vec()));
        assert!((row(uneven.to_vec()).freedom - 4.0).abs() < 0.1, "{}", row(uneven.to_vec()).freedom);
        assert_eq!(row(steady(8)).freedom, f64::INFINITY);
        assert!(!row(uneven[1..].to_vec()).is_real() && row(uneven[1..].to_vec()).error > 3.0 * binomial, "two runs");
    }

    /// Runs whose functions differ from run to run by a fraction, together and individually, as 3,000 samples show
    /// them; the first function costs this much more on the other side.
    fn strayed(random: &mut Random, runs: usize, sd: f64, costlier: f64) -> Loss {
        const FUNCTIONS: i32 = 40;
        let names: Vec<String> = (0..FUNCTIONS).map(|at| format!("main;f{at}")).collect();
        let mut side = |n: u32, costlier: f64| {
            let one = |_| {
                let together = (sd * random.normal()).exp();
                let count = |at: i32| {
                    let mean = 3000.0 * 0.1 * 0.9_f64.powi(at) * together * (sd * random.normal()).exp();
                    let mean = if at == 0 { mean * (1.0 + costlier) } else { mean };
                    (mean + mean.sqrt() * random.normal()).round().max(0.0) as u64
                };
                let counts: Vec<u64> = (0..FUNCTIONS).map(count).collect();
                sampled(n, &names.iter().map(String::as_str).zip(counts).collect::<Vec<_>>(), &[])
            };
            point((0..runs).map(one).collect())
        };
        let (base, here) = (side(1, 0.0), side(8, costlier));
        Loss::of(&base, &here).unwrap()
    }

    #[test]
    fn functions_that_differ_from_run_to_run_are_not_called_changed() {
        let mut random = Random::new(3);
        for (runs, sd, found_at_least) in [(2, 0.0, 0.8), (2, 0.05, 0.3), (3, 0.02, 0.9), (3, 0.05, 0.7), (5, 0.1, 0.7)]
        {
            let (mut any, mut row, mut found) = (Frequency::default(), Frequency::default(), Frequency::default());
            for _ in 0..100 {
                let loss = strayed(&mut random, runs, sd, 0.0);
                let rows: Vec<_> = loss.functions.iter().map(|row| (row.growth(), row.error, row.freedom)).collect();
                any.count(corrected(&rows).iter().any(|q| *q < 0.05));
                loss.functions.iter().for_each(|each| row.count(each.is_real()));
                let costlier = strayed(&mut random, runs, sd, 0.5);
                found.count(costlier.functions.iter().any(|row| row.function.name == "f0" && row.is_real()));
            }
            let case = format!("{runs} runs, {sd}: any {any:?}, of all rows {row:?}, planted {found:?}");
            assert!(any.interval(0.001).0 <= 0.05 && row.part() <= 0.06, "{case}");
            assert!(found.part() >= found_at_least, "{case}");
        }
    }

    #[test]
    fn waits_are_told_for_the_programs_own_functions() {
        let lock = "main;append;libc.so.6!pthread_mutex_lock;[kernel]!futex_wait";
        let read = "main;load;libc.so.6!read;[kernel]!io_schedule";
        let busy = [("main;work", 1000)];
        let base = point(vec![sampled(1, &busy, &[(lock, 10), (read, 500)])]);
        let here = point(vec![sampled(8, &busy, &[(lock, 800), (read, 600)])]);
        let loss = Loss::of(&base, &here).unwrap();
        assert_eq!(loss.blocked, Some((510.0, 1400.0)));
        let rows: Vec<_> = loss.waits.iter().map(|row| (row.function.name.as_str(), row.growth())).collect();
        assert_eq!(rows, [("append", 790.0), ("load", 100.0)]);
        assert!(loss.waits[0].is_real() && (loss.waits[0].share.unwrap() - 790.0 / 890.0).abs() < 1e-12);
    }

    #[test]
    fn a_function_inlined_here_and_called_there_is_one_function() {
        let mut inlined = sampled(8, &[("main;work", 100)], &[]);
        inlined.cpu.paths[0].frames[1].inlined = true;
        let base = point(vec![sampled(1, &[("main;work", 100)], &[])]);
        let rows = Loss::of(&base, &point(vec![inlined.clone()])).unwrap().functions;
        assert_eq!((rows.len(), rows[0].function.inlined), (1, false));
        let rows = Loss::of(&point(vec![inlined.clone()]), &point(vec![inlined])).unwrap().functions;
        assert!(rows[0].function.inlined);
    }

    #[test]
    fn cycles_and_time_are_not_compared() {
        let time = sampled(1, &[("a", 10)], &[]);
        let mut cycles = sampled(8, &[("a", 10)], &[]);
        cycles.cpu.unit = Unit::Cycles;
        assert_eq!(Loss::of(&point(vec![time.clone()]), &point(vec![cycles.clone()])), None);
        assert_eq!(Loss::of(&point(vec![time.clone()]), &point(vec![time, cycles])), None);
    }

    #[test]
    fn without_operations_or_samples_there_is_no_loss_to_tell() {
        let sound = point(vec![sampled(1, &[("a", 10)], &[])]);
        let mut silent = sampled(8, &[("a", 10)], &[]);
        silent.totals.ops = Measure::Missing(Why::NoOpsSource);
        for other in [silent, sampled(8, &[], &[])] {
            assert_eq!(Loss::of(&sound, &point(vec![other])), None);
        }
    }

    proptest! {
        #[test]
        fn no_weight_gives_a_number_that_is_none(
            weights in prop::collection::vec((any::<f64>(), 0..u64::MAX >> 8), 1..5), ops in any::<f64>(),
        ) {
            let paths: Vec<_> = ["a", "b", "c;d", "a;d"].into_iter().zip(&weights).map(|(p, (w, s))| (p, *w, *s)).collect();
            let mut hostile = sampled(8, &[], &[]);
            (hostile.cpu, hostile.totals.ops) = (cost(&paths), Measure::exact(ops));
            hostile.blocked = Some(hostile.cpu.clone());
            let (sound, hostile) = (point(vec![sampled(1, &[("a", 10)], &[("b", 5)])]), point(vec![hostile]));
            for loss in [Loss::of(&sound, &hostile), Loss::of(&hostile, &sound)].into_iter().flatten() {
                let rows = loss.functions.iter().chain(&loss.waits);
                let of_rows = rows.flat_map(|r| [r.base, r.here, r.error, r.share.unwrap_or_default()]);
                let blocked = loss.blocked.unwrap_or_default();
                let all = of_rows.chain([loss.base, loss.here, blocked.0, blocked.1]);
                prop_assert!(all.into_iter().all(f64::is_finite), "{loss:?}");
            }
        }
    }

    #[test]
    fn the_shares_of_all_functions_are_the_whole_loss() {
        let loss = of(&[("a", 100), ("b", 70), ("c", 20)], &[("a", 300), ("b", 60), ("d", 99)]);
        let sum: f64 = loss.functions.iter().filter_map(|row| row.share).sum();
        assert!((sum - 1.0).abs() < 1e-12, "{loss:?}");
        assert_eq!(loss.functions[0].function, function("a"));
    }
}
