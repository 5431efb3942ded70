//! Compares where the CPU time of a selection goes with where it usually goes, call path by call path, and what of the
//! difference is chance. Shares are compared only if costs per operation are not known on both sides.

use super::call_paths::{CurrentPaths, merged};
use super::expect::expect;
use super::levels::recordings;
use crate::analysis::diff::{PRIMARY, Quantity, run_noise, with_noise};
use crate::analysis::stats::corrected;
use crate::analysis::sweep::{FunctionId, share_variance};
use crate::analysis::{CallTree, Names, Selection, SideCosts, Tasks};
use crate::model::profile::Profile;
use crate::model::{Baseline, BaselineWindow, Measure, Why};

/// Minimum samples on both sides together: testing rarer paths would hide what others show.
const LEAST_SAMPLES: u64 = 5;
/// How improbable a difference must be over all call paths together: the same as for the functions of a comparison.
const SURE: f64 = 0.05;

/// What all threads, selected or not, spent in the selected time.
#[derive(Debug, Clone, Copy)]
pub struct SelectionTotals {
    /// CPU time, nanoseconds.
    pub cpu_ns: Measure<f64>,
    /// Operations.
    pub ops: Measure<f64>,
}

/// The code of a selection and of a baseline as one tree, matched by name because a baseline stores nothing else of a
/// function. Costs are nanoseconds of CPU time per operation, or shares of all CPU time; the baseline's come first.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeComparison {
    /// Whether costs are per operation.
    pub per_operation: bool,
    /// Whether the baseline's sample counts are known.
    pub counted: bool,
    /// Whether only some of the threads were selected. A baseline covers all threads, so only growth can be shown then.
    pub part: bool,
    /// The total cost, including threads that were not selected.
    pub whole: [f64; 2],
    /// The samples behind it.
    pub samples: [u64; 2],
    /// The call paths; functions have their current identity if they were seen now.
    pub tree: CallTree<FunctionId, SideCosts>,
    /// How each path of the tree changed.
    pub changes: Vec<PathChange>,
}

/// How a call path changed.
#[derive(Debug, Clone, PartialEq)]
pub struct PathChange {
    /// Its cost including all it calls.
    pub cost: [f64; 2],
    /// Its samples including all it calls.
    pub samples: [u64; 2],
    /// Standard error of the difference.
    pub error: Measure<f64>,
    /// Whether the difference is beyond chance.
    pub is_real: bool,
}

impl PathChange {
    /// How much more it costs now; negative if it costs less.
    #[must_use]
    pub fn growth(&self) -> f64 {
        self.cost[1] - self.cost[0]
    }
}

impl CodeComparison {
    /// Compares; `None` if no sample of the event is in that time, or the baseline contains no code.
    #[must_use]
    pub fn of(
        profile: &Profile,
        names: &Names,
        tasks: &Tasks,
        selection: &Selection,
        spent: SelectionTotals,
        baseline: &Baseline,
    ) -> Option<CodeComparison> {
        let current = CurrentPaths::of(profile, names, tasks, selection)?;
        let known: f64 = baseline.stacks.iter().map(|stack| stack.cpu_ns).sum();
        let positive = |value: f64| value > 0.0 && value.is_finite();
        if !positive(known) || !positive(baseline.cpu_ns) {
            return None;
        }
        let now = spent.cpu_ns.value().zip(spent.ops.value()).map(|(cpu, ops)| cpu / ops);
        let per_op =
            now.zip(baseline.ops.map(|ops| baseline.cpu_ns / ops)).filter(|(a, b)| positive(*a) && positive(*b));
        let (now, usual) = per_op.unwrap_or((1.0, 1.0));
        let counts: Option<Vec<u64>> = baseline.stacks.iter().map(|stack| stack.samples).collect();
        // Add the samples of the rarest call paths, which are left out, in proportion.
        let seen = counts.as_ref().map(|counts| counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count)));
        let all = seen.map_or(0, |seen| (seen as f64 * (baseline.cpu_ns / known).max(1.0)) as u64);
        let tree = merged(&current, now / current.weight, baseline, usual / baseline.cpu_ns);
        let error = Measure::Missing(Why::NotRecorded);
        let change = |sum: SideCosts| PathChange { cost: sum.cost, samples: sum.samples, error, is_real: false };
        let mut code = CodeComparison {
            per_operation: per_op.is_some(),
            counted: all > 0,
            part: current.part,
            whole: [usual, now],
            samples: [all, current.samples],
            changes: tree.inclusive().into_iter().map(change).collect(),
            tree,
        };
        // A left-out path may be anywhere, so a path that seems new may have been there before.
        let noise = if code.per_operation { scatter(baseline) } else { run_noise(None) };
        code.judge(usual * (1.0 - known / baseline.cpu_ns).max(0.0), noise);
        Some(code)
    }

    fn judge(&mut self, left_out: f64, noise: f64) {
        if !self.counted {
            return;
        }
        let (whole, all) = (self.whole, self.samples);
        let error = |change: &PathChange| {
            let variance = |side: usize| share_variance(whole[side], change.samples[side], all[side]);
            with_noise((variance(0) + variance(1)).sqrt(), change.cost, noise)
        };
        let errors: Vec<f64> = self.changes.iter().map(error).collect();
        let tested = |change: &PathChange| change.samples[0].saturating_add(change.samples[1]) >= LEAST_SAMPLES;
        let beyond = |change: &PathChange| {
            if change.growth() > 0.0 { (change.growth() - left_out).max(0.0) } else { change.growth() }
        };
        let rows: Vec<(f64, f64, f64)> = (self.changes.iter().zip(&errors))
            .filter(|(change, _)| tested(change))
            .map(|(change, error)| (beyond(change), *error, f64::INFINITY))
            .collect();
        let mut q = corrected(&rows).into_iter();
        for (change, error) in self.changes.iter_mut().zip(errors) {
            change.error = Measure::exact(error);
            let sure = tested(change) && q.next().is_some_and(|q| q < SURE);
            change.is_real = sure && (change.growth() > 0.0 || !self.part);
        }
    }
}

/// The usual deviation of the time per operation, as a fraction: on a shared machine all call paths get faster and
/// slower together. At least the difference between two single runs.
fn scatter(baseline: &Baseline) -> f64 {
    let at = baseline.quantities.iter().position(|name| name == PRIMARY.name());
    let windows: Vec<&BaselineWindow> = baseline.windows.iter().collect();
    let of = |at| expect(Quantity::of(PRIMARY), &recordings(&windows, at), windows.len());
    let expected = at.and_then(of);
    let part = expected.filter(|usual| usual.centre > 0.0).map_or(0.0, |usual| usual.spread / usual.centre);
    part.max(run_noise(None))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::baseline;
    use super::*;
    use crate::analysis::testing::Synthetic;
    use crate::model::BaselineStack;

    /// Samples by thread and stack, compared with 40 windows in which three quarters are `main;work` and a quarter
    /// `main`.
    fn of(
        samples: &[(u32, &str, u64)],
        tids: &[u32],
        change: fn(&mut Baseline),
        spent: SelectionTotals,
    ) -> Option<CodeComparison> {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "app");
        for (tid, stack, count) in samples {
            synthetic.samples(500, *tid, stack, *count);
        }
        let profile = synthetic.finish();
        let mut baseline = baseline(&[40]);
        change(&mut baseline);
        let selection = Selection { tids: tids.to_vec(), ..Selection::default() };
        CodeComparison::of(&profile, &Names::of(&profile), &Tasks::of(&profile), &selection, spent, &baseline)
    }

    /// No operations, so costs are shares.
    fn shares() -> SelectionTotals {
        SelectionTotals { cpu_ns: Measure::exact(2e9), ops: Measure::Missing(Why::NoOpsSource) }
    }

    fn at(code: &CodeComparison, path: &str) -> u32 {
        let is = |node: &u32| code.tree.path(*node).iter().map(|function| function.name.as_str()).eq(path.split(';'));
        (0..code.tree.nodes.len() as u32).find(is).unwrap()
    }

    fn node<'a>(code: &'a CodeComparison, path: &str) -> &'a PathChange {
        &code.changes[at(code, path) as usize]
    }

    const USUAL: [(u32, &str, u64); 2] = [(41, "app!main;app!work", 1503), (41, "app!main", 497)];

    #[test]
    fn what_is_as_usual_is_no_more_than_chance() {
        let code = of(&USUAL, &[], |_| {}, shares()).unwrap();
        assert!(!code.per_operation && code.counted && !code.part);
        assert!(code.changes.iter().all(|node| !node.is_real && node.error.value().is_some()), "{code:?}");
        assert_eq!(node(&code, "main;work").samples, [1500, 1503]);
        assert_eq!(node(&code, "main").cost, [1.0, 1.0]);
    }

    #[test]
    fn what_came_what_went_and_what_grew_are_told_apart_by_path() {
        let samples = [(41, "app!main;app!check;app!work", 600), (41, "app!main", 400)];
        let code = of(&samples, &[], |_| {}, shares()).unwrap();
        let (came, went, main) = (node(&code, "main;check"), node(&code, "main;work"), node(&code, "main"));
        assert_eq!((came.cost, came.is_real), ([0.0, 0.6], true));
        assert_eq!((went.cost, went.is_real, went.growth()), ([0.75, 0.0], true, -0.75));
        assert_eq!(
            (main.is_real, code.tree.nodes[at(&code, "main") as usize].own.cost),
            (false, [0.25, 0.4]),
            "the whole of it did not change"
        );
        assert_eq!(
            (code.tree.function(at(&code, "main;work")).module.as_str(), node(&code, "main;check;work").cost),
            ("app", [0.0, 0.6])
        );
    }

    #[test]
    fn costs_are_per_operation_where_both_sides_know_them() {
        // Usual: half a millisecond of CPU time per operation.
        let costlier = SelectionTotals { cpu_ns: Measure::exact(2e9), ops: Measure::exact(2000.0) };
        let code = of(&USUAL, &[], |_| {}, costlier).unwrap();
        assert!(code.per_operation && (code.whole[1] - 1e6).abs() < 1e-3 && (code.whole[0] / 5e5 - 1.0).abs() < 0.01);
        assert!(code.changes.iter().all(|node| node.is_real && node.growth() > 0.0), "{code:?}");
        let without = of(&USUAL, &[], |baseline| baseline.ops = None, costlier).unwrap();
        assert!(!without.per_operation && without.changes.iter().all(|node| !node.is_real));
    }

    #[test]
    fn a_growth_within_what_the_time_per_operation_usually_strays_is_no_change() {
        let costlier = SelectionTotals { cpu_ns: Measure::exact(6e8), ops: Measure::exact(1000.0) };
        let restless = |baseline: &mut Baseline| {
            baseline.windows.iter_mut().enumerate().for_each(|(at, window)| {
                let cell = window.cells[0].as_mut().unwrap();
                cell[0] *= 1.0 + 0.2 * super::super::testing::noise(at);
            });
        };
        let real = |change| node(&of(&USUAL, &[], change, costlier).unwrap(), "main").is_real;
        assert_eq!((real(|_| {}), real(restless)), (true, false));
    }

    #[test]
    fn few_samples_show_no_change_and_many_show_the_same_one() {
        let of = |times: u64| {
            let samples = [(41, "app!main;app!work", 17 * times), (41, "app!main", 8 * times)];
            node(&of(&samples, &[], |_| {}, shares()).unwrap(), "main;work").is_real
        };
        assert_eq!((of(1), of(10), of(200)), (false, false, true));
    }

    #[test]
    fn a_baseline_that_counts_no_samples_leaves_the_error_missing() {
        let old = |baseline: &mut Baseline| baseline.stacks[0].samples = None;
        let code = of(&[(41, "app!other", 500)], &[], old, shares()).unwrap();
        assert!(!code.counted);
        assert!(code.changes.iter().all(|node| !node.is_real && node.error == Measure::Missing(Why::NotRecorded)));
    }

    #[test]
    fn of_some_threads_only_growth_is_told_against_all() {
        let samples = [(41, "app!main;app!work", 1000), (42, "app!main;app!check", 1000)];
        let code = of(&samples, &[42], |_| {}, shares()).unwrap();
        assert!(code.part && code.samples[1] == 2000);
        let (check, work) = (node(&code, "main;check"), node(&code, "main;work"));
        assert_eq!((check.cost, check.is_real), ([0.0, 0.5], true), "a share of all threads' time");
        assert_eq!((work.cost[1], work.is_real), (0.0, false), "the other thread may still do it");
    }

    #[test]
    fn rare_call_paths_that_a_baseline_left_out_are_not_taken_for_new() {
        let cut = |baseline: &mut Baseline| baseline.cpu_ns /= 0.9;
        let samples = [(41, "app!main;app!work", 1350), (41, "app!main", 450), (41, "app!rare", 200)];
        let code = of(&samples, &[], cut, shares()).unwrap();
        assert!(!node(&code, "rare").is_real && node(&code, "rare").cost[1] > 0.09, "{code:?}");
    }

    #[test]
    fn the_same_name_in_two_modules_is_one_call_path_as_in_the_baseline() {
        let samples = [(41, "a!main;a!work", 750), (41, "b!main;b!work", 750), (41, "a!main", 500)];
        let code = of(&samples, &[], |_| {}, shares()).unwrap();
        assert_eq!((code.changes.len(), node(&code, "main;work").cost), (2, [0.75, 0.75]));
    }

    #[test]
    fn without_samples_or_without_code_there_is_nothing_to_say() {
        assert_eq!(of(&[], &[], |_| {}, shares()), None);
        assert_eq!(of(&USUAL, &[], |baseline| baseline.stacks.clear(), shares()), None);
        let hostile = |baseline: &mut Baseline| {
            baseline.stacks.push(BaselineStack { frames: vec!["x".into()], cpu_ns: 1e308, samples: Some(u64::MAX) });
            baseline.stacks.push(BaselineStack { frames: vec!["x".into()], cpu_ns: 1e308, samples: Some(u64::MAX) });
        };
        assert_eq!(of(&USUAL, &[], hostile, shares()), None, "a sum without end is no sum");
    }
}
