//! Divides the cores of a width into a stack that is as high as the width: work like the base's, then each loss.
//! Nothing is left over: losses that cannot be separated stay together under one name.

use super::parts::{Parts, level};
use super::types::{Estimate, Point, PointMetrics, Slice, SliceKind, Stack};
use crate::analysis::law::log_mean;
use crate::model::Measure;

/// Beyond this logarithm the three factors describe more CPU time than the workers had: helper threads ran as well.
const APART: f64 = 0.05;

impl Stack {
    /// The stack of `here` compared with `base`; `None` if operations or CPU time are missing in either.
    ///
    /// `siblings`: what the sharing of cores adds, if the sweep measured it; that part is then separated from the
    /// cycles per instruction, and otherwise stays in them.
    #[must_use]
    pub fn of(base: &Point, here: &Point, siblings: Option<SharedCores<'_>>) -> Option<Stack> {
        let n = f64::from(here.n);
        let (mut before, mut after) = (Parts::of(base)?, Parts::of(here)?);
        level(&mut before, &mut after);
        let mut slices = running(&base.numbers, &here.numbers, [before.running, after.running], siblings);
        slices.extend(after.more_than(&before));
        let slice = |(kind, seconds): (SliceKind, f64)| Slice {
            kind,
            cores: n * seconds / after.whole,
            ns_per_op: seconds * 1e9,
        };
        let slices: Vec<_> = slices.into_iter().map(slice).collect();
        let useful = n * before.whole / after.whole;
        let sane = slices.iter().all(|slice| slice.cores.is_finite() && slice.ns_per_op.is_finite());
        (sane && useful.is_finite()).then_some(Stack { n: here.n, useful, slices })
    }
}

/// A width whose threads share physical cores, and the width that had the same cores without siblings.
#[derive(Debug, Clone, Copy)]
pub struct SharedCores<'a> {
    /// The width with one thread on each of these cores.
    pub alone: &'a Point,
    /// How many times more threads share a core now.
    pub sharing: f64,
}

impl SharedCores<'_> {
    /// The logarithm by which cycles per instruction grew when the siblings joined. Siblings that achieve nothing
    /// together double them; growth beyond that has another reason.
    fn log(&self, here: &PointMetrics) -> Option<f64> {
        let cpi = |numbers: &PointMetrics| numbers.cpi.value().map(|cpi| cpi.mean);
        let most = (self.sharing.is_finite() && self.sharing > 1.0).then(|| self.sharing.ln())?;
        let grown = (cpi(here)? / cpi(&self.alone.numbers)?).ln();
        grown.is_finite().then(|| grown.clamp(0.0, most))
    }
}

/// The parts of the difference in CPU time per operation, in seconds that add up to it.
fn running(
    base: &PointMetrics,
    here: &PointMetrics,
    time: [f64; 2],
    siblings: Option<SharedCores<'_>>,
) -> Vec<(SliceKind, f64)> {
    let [before, after] = time;
    let together = || vec![(SliceKind::CpuTime, after - before)];
    let Some(mut factors) = factors(base, here) else { return together() };
    if let Some(shared) = siblings.and_then(|siblings| siblings.log(here)) {
        factors[1].1 -= shared;
        factors.insert(1, (SliceKind::Smt, shared));
    }
    let Some(unit) = log_mean(after, before) else { return together() };
    let sum: f64 = factors.iter().map(|(_, log)| log).sum();
    if !((after / before).ln() - sum).abs().le(&APART) {
        return together();
    }
    // The means of several runs do not multiply exactly; the small rest is divided by the factors' sizes.
    let rest = (after - before) - unit * sum;
    let sizes: f64 = factors.iter().map(|(_, log)| log.abs()).sum();
    let part = |log: f64| if sizes > 0.0 { log.abs() / sizes } else { 1.0 / factors.len() as f64 };
    factors.iter().map(|(kind, log)| (*kind, unit * log + rest * part(*log))).collect()
}

/// The logarithms of the factors by which CPU time per operation grew; `None` without hardware counts.
fn factors(base: &PointMetrics, here: &PointMetrics) -> Option<Vec<(SliceKind, f64)>> {
    let log = |above: Measure<Estimate>, below: Measure<Estimate>| {
        let ratio = above.value()?.mean / below.value()?.mean;
        (ratio > 0.0 && ratio.is_finite()).then(|| ratio.ln())
    };
    Some(vec![
        (SliceKind::MoreWork, log(here.path_length, base.path_length)?),
        (SliceKind::Cpi, log(here.cpi, base.cpi)?),
        (SliceKind::Frequency, log(base.frequency, here.frequency)?),
    ])
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::{before, rocksdb, run};
    use super::*;
    use crate::analysis::Cause;
    use crate::analysis::sweep::Run;
    use crate::model::{Region, Why};
    use SliceKind::{Cpi, CpuTime, Frequency, MoreWork, RunQueue, Smt, Throttled, Unseen};
    use proptest::prelude::*;

    fn point(runs: Vec<Run>) -> Point {
        Point::of(runs[0].n, Region::Cores, runs)
    }

    fn check(stack: &Stack, expected: &[(SliceKind, f64)], digit: f64) {
        let kinds: Vec<_> = stack.slices.iter().map(|slice| slice.kind).collect();
        assert_eq!(kinds, expected.iter().map(|(kind, _)| *kind).collect::<Vec<_>>());
        for (slice, (kind, ns)) in stack.slices.iter().zip(expected) {
            assert!((slice.ns_per_op - ns).abs() < digit, "{kind:?}: {} is not {ns}", slice.ns_per_op);
        }
        let sum: f64 = stack.slices.iter().map(|slice| slice.cores).sum();
        assert!((stack.useful + sum - f64::from(stack.n)).abs() < 1e-9 * f64::from(stack.n), "{stack:?}");
    }

    /// 4093.29 of the published 4115.92 ns more per operation were spent running.
    #[test]
    fn the_published_runs_lost_their_cores_to_cycles_per_instruction() {
        let stack = Stack::of(&point(vec![before(1)]), &point(vec![before(160)]), None).unwrap();
        check(&stack, &[(MoreWork, -25.173), (Cpi, 4045.757), (Frequency, 72.707), (Unseen, 22.634)], 2e-3);
        assert!((stack.useful - 7.367_547_5).abs() < 1e-6, "{stack:?}");
    }

    /// The published sharing of cores: 16 cores with one thread each, then with two.
    #[test]
    fn sharing_cores_explains_a_factor_of_its_own() {
        let [alone, shared] = [(16, 96e9, 1000.0, 48e9), (32, 110e9, 1200.0, 96e9)]
            .map(|(n, instructions, ops, cycles)| point(vec![rocksdb(n, instructions, ops, cycles, 1.0, 1.0)]));
        let siblings = SharedCores { alone: &alone, sharing: 2.0 };
        let stack = Stack::of(&alone, &shared, Some(siblings)).unwrap();
        let expected = [(MoreWork, -964_491.1), (Smt, 11_631_157.7), (Cpi, 0.0), (Frequency, 0.0), (Unseen, 0.0)];
        check(&stack, &expected, 0.1);
        assert!((stack.useful - 19.2).abs() < 1e-12, "{stack:?}");
        // Two threads that share a core take at most twice the cycles for it.
        let fewer = SharedCores { alone: &alone, sharing: 1.5 };
        let stack = Stack::of(&alone, &shared, Some(fewer)).unwrap();
        assert!(stack.slices[2].kind == Cpi && stack.slices[2].ns_per_op > 1e6, "{stack:?}");
    }

    #[test]
    fn without_hardware_counters_cpu_time_stands_for_its_three_factors() {
        let no_counters = |n, ops_per_s| {
            let mut run = run(n, ops_per_s);
            run.totals.cpi = Measure::Missing(Why::NotSupported);
            point(vec![run])
        };
        let alone = no_counters(1, 100.0);
        let siblings = SharedCores { alone: &alone, sharing: 2.0 };
        let stack = Stack::of(&alone, &no_counters(4, 200.0), Some(siblings)).unwrap();
        let expected = [
            (CpuTime, 7.5e6),
            (RunQueue, 0.5e6),
            (Throttled, 0.0),
            (SliceKind::Blocked(Cause::Lock), 1.25e6),
            (Unseen, 0.75e6),
        ];
        check(&stack, &expected, 1e-3);
        assert!((stack.useful - 2.0).abs() < 1e-12);
    }

    #[test]
    fn factors_that_speak_of_more_cpu_time_than_the_workers_had_are_not_used() {
        let mut helped = run(4, 200.0);
        helped.totals.cpu = helped.totals.cpu.map(|cpu| 2.0 * cpu);
        helped.totals.instructions = helped.totals.instructions.map(|count| 2.0 * count);
        let stack = Stack::of(&point(vec![run(1, 100.0)]), &point(vec![helped]), None).unwrap();
        assert_eq!(stack.slices[0].kind, CpuTime);
    }

    #[test]
    fn a_part_that_one_side_cannot_tell_goes_to_what_nobody_saw_on_both() {
        let mut no_counters = run(4, 200.0);
        (no_counters.blocked, no_counters.split.queued) = (None, Measure::Missing(Why::NotRecorded));
        let lost = no_counters.split.unseen.map(|time| time + 0.05 * 40.0);
        no_counters.split.unseen = lost;
        let stack = Stack::of(&point(vec![run(1, 100.0)]), &point(vec![no_counters, run(4, 200.0)]), None).unwrap();
        let kinds: Vec<_> = stack.slices.iter().map(|slice| slice.kind).collect();
        assert_eq!(kinds, [MoreWork, Cpi, Frequency, Throttled, Unseen]);
        assert!((stack.slices[4].ns_per_op - 2.5e6).abs() < 1e-3, "{stack:?}");
    }

    #[test]
    fn the_base_lost_nothing_and_without_operations_there_is_no_stack() {
        let base = point(vec![run(2, 100.0), run(2, 120.0)]);
        let stack = Stack::of(&base, &base, None).unwrap();
        assert!(stack.useful == 2.0 && stack.slices.iter().all(|slice| slice.cores == 0.0), "{stack:?}");
        let mut silent = run(4, 100.0);
        silent.totals.ops = Measure::Missing(Why::NoOpsSource);
        assert_eq!(Stack::of(&base, &point(vec![silent]), None), None);
        assert_eq!(Stack::of(&base, &point(vec![run(4, 0.0)]), None), None);
    }

    fn any_run(n: u32) -> impl Strategy<Value = Run> {
        (1e-3..1e9_f64, prop::array::uniform5(0.0..1.0_f64), 1e-3..1e3_f64, any::<bool>(), any::<bool>()).prop_map(
            move |(rate, [a, b, c, d, e], factor, queue, off_cpu)| {
                let (mut run, sum) = (run(n, rate), (a + b + c + d + e).max(1e-9));
                let part = |share: f64| Measure::exact(share / sum * f64::from(n) * 10.0);
                (run.split.running, run.split.throttled, run.split.unseen) = (part(a), part(b), part(c));
                run.split.queued = if queue { part(d) } else { Measure::Missing(Why::NotRecorded) };
                run.split.blocked = vec![(Cause::Lock, e / sum * f64::from(n) * 10.0)];
                run.blocked = off_cpu.then(Default::default);
                run.totals.cpu = part(a);
                run.totals.cpi = run.totals.cpi.map(|cpi| cpi * factor);
                run.totals.frequency = run.totals.frequency.map(|hertz| hertz * factor);
                run
            },
        )
    }

    proptest! {
        #[test]
        fn every_stack_is_as_high_as_its_width(
            base in prop::collection::vec(any_run(1), 1..4),
            here in prop::collection::vec(any_run(64), 1..4),
            sharing in prop::option::of(0.5..2.0_f64),
        ) {
            let (base, here) = (point(base), point(here));
            let siblings = sharing.map(|sharing| SharedCores { alone: &base, sharing });
            if let Some(stack) = Stack::of(&base, &here, siblings) {
                // Slices may be far larger than the width if a width is far slower: precision is relative to the
                // largest.
                let largest = stack.slices.iter().map(|slice| slice.cores.abs()).fold(64.0, f64::max);
                let sum = stack.useful + stack.slices.iter().map(|slice| slice.cores).sum::<f64>();
                prop_assert!((sum - 64.0).abs() <= 1e-9 * largest.max(stack.useful), "{sum} {stack:?}");
            }
        }

        #[test]
        fn hostile_counts_give_no_stack_rather_than_no_number(
            [ops, wall, cpu, instructions] in prop::array::uniform4(any::<f64>()),
            [running, unseen, blocked] in prop::array::uniform3(any::<f64>()),
        ) {
            let mut hostile = run(8, 100.0);
            let exact = Measure::exact;
            let totals = &mut hostile.totals;
            (totals.ops, totals.wall, totals.cpu, totals.instructions) = (exact(ops), wall, exact(cpu), exact(instructions));
            (hostile.split.running, hostile.split.unseen) = (exact(running), exact(unseen));
            hostile.split.blocked = vec![(Cause::Lock, blocked)];
            let (sound, hostile) = (point(vec![run(1, 100.0)]), point(vec![hostile]));
            let siblings = |alone, sharing| Some(SharedCores { alone, sharing });
            let stacks = [
                Stack::of(&sound, &hostile, siblings(&sound, f64::NAN)),
                Stack::of(&hostile, &sound, siblings(&hostile, 2.0)),
            ];
            for stack in stacks.into_iter().flatten() {
                prop_assert!(stack.useful.is_finite() && stack.slices.iter().all(|slice| slice.cores.is_finite()));
            }
        }
    }
}
