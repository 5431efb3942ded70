//! Analyses a whole sweep from its runs. A sweep in progress is analysed as far as it got.

use super::regions::fits;
use super::stack::SharedCores;
use super::types::{Loss, Point, Run, Stack, SweepAnalysis};
use crate::analysis::finding::RuleResults;
use crate::model::Region;
use std::collections::BTreeMap;

impl SweepAnalysis {
    /// Groups runs by width and region and compares all with the smallest width that completed operations.
    ///
    /// `threads_per_core`: how many threads share a physical core at a width, on average (1 without SMT); `None` if the
    /// machine or the placement does not show it. Without any operations everything per operation is missing, and there
    /// are neither stacks nor losses. Without runs there are no points, and [`SweepAnalysis::base`] refers to nothing.
    /// `findings` is left empty: the rules run on the result.
    #[must_use]
    pub fn of(runs: Vec<(u32, Region, Vec<Run>)>, threads_per_core: impl Fn(u32) -> Option<f64>) -> SweepAnalysis {
        let mut points = points(runs);
        points.iter_mut().for_each(|point| point.share_cores(threads_per_core(point.n)));
        let base = points.iter().position(has_ops);
        if let Some((n, rate)) = points.get(base.unwrap_or_default()).map(|base| (base.n, base.numbers.ops_per_s)) {
            points.iter_mut().for_each(|point| point.compare(n, rate));
        }
        let (mut stacks, mut losses) = (vec![], vec![]);
        if let Some(base) = base.map(|at| &points[at]) {
            let siblings = |point| siblings(&points, base, point, &threads_per_core);
            stacks.extend(points.iter().filter_map(|point| Stack::of(base, point, siblings(point))));
            let others = points.iter().filter(|point| !std::ptr::eq(*point, base));
            losses.extend(others.filter_map(|point| Loss::of(base, point)));
        }
        let fits = fits(&points);
        SweepAnalysis { points, base: base.unwrap_or_default(), fits, stacks, losses, findings: RuleResults::default() }
    }
}

fn points(runs: Vec<(u32, Region, Vec<Run>)>) -> Vec<Point> {
    let mut widths: BTreeMap<(u32, Region), Vec<Run>> = BTreeMap::new();
    for (n, region, runs) in runs.into_iter().filter(|(n, _, runs)| *n > 0 && !runs.is_empty()) {
        widths.entry((n, region)).or_default().extend(runs);
    }
    widths.into_iter().map(|((n, region), runs)| Point::of(n, region, runs)).collect()
}

/// The sharing of cores at a width, if the sweep has the width with one thread on each of the same number of cores.
fn siblings<'a>(
    points: &'a [Point],
    base: &Point,
    here: &Point,
    threads_per_core: &impl Fn(u32) -> Option<f64>,
) -> Option<SharedCores<'a>> {
    let (shared, single) = (threads_per_core(here.n)?, threads_per_core(base.n)?);
    let cores = |point: &Point| Some(f64::from(point.n) / threads_per_core(point.n)?);
    let wanted = cores(here).filter(|_| here.region == Region::Smt && base.region != Region::Smt)?;
    let unshared = |point: &&Point| matches!(point.region, Region::Cores | Region::Nodes(_));
    let fits = |point: &&Point| cores(point).is_some_and(|cores| (cores - wanted).abs() < 0.5);
    let alone = points.iter().filter(unshared).find(fits)?;
    Some(SharedCores { alone, sharing: shared / single })
}

fn has_ops(point: &Point) -> bool {
    point.numbers.ops_per_s.value().is_some_and(|rate| rate.mean > 0.0)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::{before, cost, run};
    use super::super::types::{Estimate, PointMetrics, SliceKind};
    use super::*;
    use crate::model::{Measure, Why};
    use proptest::prelude::*;

    fn sampled(n: u32, ops_per_s: f64) -> Run {
        let weight = 7.5e9 * f64::from(n);
        let paths = [("main;work", weight * 0.75, 750), ("main;lock", weight * 0.25, 250)];
        Run { cpu: cost(&paths), blocked: Some(cost(&[("main;lock;libc.so.6!wait", weight, 9)])), ..run(n, ops_per_s) }
    }

    fn silent(n: u32) -> Run {
        let mut silent = sampled(n, 100.0);
        silent.totals.ops = Measure::Missing(Why::NoOpsSource);
        silent
    }

    fn columns(of: &PointMetrics) -> Vec<Measure<Estimate>> {
        vec![
            of.ops,
            of.seconds,
            of.ops_per_s,
            of.instructions,
            of.cycles,
            of.path_length,
            of.cpi,
            of.core_cpi,
            of.kernel_share,
            of.frequency,
            of.cpu_ns_per_op,
            of.us_per_op,
            of.utilisation,
            of.busy_cores,
            of.speedup,
            of.efficiency,
            of.karp_flatt,
            of.latency_p50,
            of.latency_p99,
        ]
    }

    #[test]
    fn a_sweep_is_compared_with_its_smallest_width_that_has_operations() {
        let widths = [(8, 500.0), (2, 190.0), (4, 350.0)];
        let mut runs: Vec<_> = widths.map(|(n, rate)| (n, Region::Cores, vec![sampled(n, rate)])).into();
        runs.push((1, Region::Cores, vec![silent(1)]));
        runs.push((4, Region::Cores, vec![sampled(4, 370.0)]));
        let found = SweepAnalysis::of(runs, |_| None);
        assert_eq!(
            found.points.iter().map(|point| (point.n, point.runs.len())).collect::<Vec<_>>(),
            [(1, 1), (2, 1), (4, 2), (8, 1)]
        );
        assert_eq!(found.base, 1);
        let efficiency: Vec<_> = found.points.iter().map(|p| p.numbers.efficiency.value().map(|e| e.mean)).collect();
        assert_eq!(efficiency, [None, Some(1.0), Some(360.0 / 380.0), Some(500.0 / 760.0)]);
        assert_eq!(found.stacks.iter().map(|stack| stack.n).collect::<Vec<_>>(), [2, 4, 8]);
        assert_eq!(found.losses.iter().map(|loss| loss.n).collect::<Vec<_>>(), [4, 8]);
        let speedup = |at: usize| found.points[at + 1].numbers.speedup.value().unwrap().mean;
        assert!(found.stacks.iter().enumerate().all(|(at, stack)| (stack.useful - speedup(at)).abs() < 1e-12));
    }

    #[test]
    fn without_operations_nothing_per_operation_is_told() {
        let found =
            SweepAnalysis::of(vec![1, 2, 4].into_iter().map(|n| (n, Region::Cores, vec![silent(n)])).collect(), |_| {
                None
            });
        assert_eq!((found.base, found.stacks.len(), found.losses.len()), (0, 0, 0));
        for point in &found.points {
            let numbers = point.numbers;
            let per_op =
                [numbers.ops, numbers.ops_per_s, numbers.path_length, numbers.cpu_ns_per_op, numbers.us_per_op];
            let compared = [numbers.speedup, numbers.efficiency, numbers.karp_flatt];
            assert!(per_op.iter().chain(&compared).all(|of| of.why() == Some(Why::NoOpsSource)), "{numbers:?}");
            assert!(numbers.utilisation.value().is_some() && numbers.cpi.value().is_some());
        }
        assert_eq!(SweepAnalysis::of(vec![], |_| None).points, []);
    }

    /// The published sweep did not run its 80 cores without their siblings.
    #[test]
    fn what_the_sharing_of_cores_takes_is_measured_or_stays_with_the_cycles_per_instruction() {
        let per_core = |n: u32| Some(if n > 80 { 2.0 } else { 1.0 });
        let cores = |found: &SweepAnalysis, kind| {
            let stack = found.stacks.last().unwrap();
            stack.slices.iter().find(|slice| slice.kind == kind).map(|slice| slice.cores)
        };
        let (one, all) = ((1, Region::Cores, vec![before(1)]), (160, Region::Smt, vec![before(160)]));
        let published = SweepAnalysis::of(vec![one.clone(), all.clone()], per_core);
        assert_eq!(cores(&published, SliceKind::Smt), None);
        assert!((cores(&published, SliceKind::Cpi).unwrap() - 150.0304).abs() < 1e-3);
        // As fast at 80 cores as at 160 siblings, but with 1.1 times fewer cycles.
        let mut alone = before(160);
        alone.n = 80;
        alone.totals.cpi = alone.totals.cpi.map(|cpi| cpi / 1.1);
        let measured = SweepAnalysis::of(vec![one, (80, Region::Cores, vec![alone]), all], per_core);
        let smt = cores(&measured, SliceKind::Smt).unwrap();
        assert!((smt + cores(&measured, SliceKind::Cpi).unwrap() - 150.0304).abs() < 1e-3);
        // A factor of 2 takes 34.21 cores.
        assert!((smt - 34.2105 * 1.1_f64.ln() / 2_f64.ln()).abs() < 1e-2, "{smt}");
    }

    fn any_runs() -> impl Strategy<Value = Vec<(u32, f64)>> {
        prop::collection::vec((1..9_u32, 1.0..1e6_f64), 1..20)
    }

    proptest! {
        // Each case fits and compares two whole sweeps.
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn the_order_of_the_runs_changes_nothing(runs in any_runs().prop_shuffle(), seed in any::<u64>()) {
            let sweep = |runs: &[(u32, f64)]| {
                let one = |(n, rate): &(u32, f64)| (*n, Region::Cores, vec![sampled(*n, *rate)]);
                SweepAnalysis::of(runs.iter().map(one).collect(), |_| Some(1.0))
            };
            let mut turned = runs.clone();
            turned.rotate_left((seed % runs.len() as u64) as usize);
            turned.reverse();
            let (a, b) = (sweep(&runs), sweep(&turned));
            prop_assert_eq!((a.base, &a.fits), (b.base, &b.fits));
            for (a, b) in a.points.iter().zip(&b.points) {
                prop_assert_eq!((a.n, a.numbers), (b.n, b.numbers));
            }
            let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0);
            for (a, b) in a.stacks.iter().zip(&b.stacks) {
                prop_assert!(a.slices.iter().zip(&b.slices).all(|(a, b)| a.kind == b.kind && near(a.cores, b.cores)));
            }
            for (a, b) in a.losses.iter().zip(&b.losses) {
                prop_assert!(near(a.here, b.here) && a.functions.len() == b.functions.len());
            }
        }

        #[test]
        fn hostile_runs_give_missing_numbers_and_never_none(
            hostile in prop::collection::vec((any::<u32>(), prop::array::uniform6(prop_oneof![any::<f64>(), Just(0.0)])), 1..8),
            sharing in any::<f64>(),
        ) {
            let runs = hostile.iter().enumerate().map(|(at, (n, [ops, wall, cpu, a, b, c]))| {
                let n = if at % 2 == 0 { at as u32 } else { *n };
                let mut run = sampled(n, 100.0);
                let exact = |value: &f64| Measure::exact(*value);
                (run.totals.ops, run.totals.wall, run.totals.cpu) = (exact(ops), *wall, exact(cpu));
                (run.totals.instructions, run.totals.cpi, run.totals.frequency) = (exact(a), exact(b), exact(c));
                (run.split.running, run.cpu.paths[0].weight) = (exact(a), *b);
                (n, Region::Cores, vec![run])
            });
            let found = SweepAnalysis::of(runs.collect(), |_| Some(sharing));
            for point in &found.points {
                let all = columns(&point.numbers).into_iter().filter_map(|of| of.value().copied());
                prop_assert!(all.into_iter().all(|of| of.mean.is_finite() && of.half.is_none_or(f64::is_finite)));
            }
            for stack in &found.stacks {
                let cores = stack.slices.iter().flat_map(|slice| [slice.cores, slice.ns_per_op]);
                prop_assert!(cores.chain([stack.useful]).all(f64::is_finite), "{stack:?}");
            }
            for row in found.losses.iter().flat_map(|loss| loss.functions.iter().chain(&loss.waits)) {
                prop_assert!([row.base, row.here, row.error].iter().all(|of| of.is_finite()), "{row:?}");
            }
        }
    }
}
