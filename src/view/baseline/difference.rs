//! Differential flame graph against a baseline: a cell's width is its current cost, its colour the change.
//! Changes that sampling noise can explain are drawn as unchanged.

use crate::analysis::baseline::{CodeComparison, SelectionTotals};
use crate::analysis::{Axis, operations};
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Baseline, Measure, Scope, Unit};
use crate::view::context::ViewContext;
use crate::view::diff_flamegraph::{
    BaselineTerms, ComparisonTerms, CostAxis, DiffCell, DiffFlameGraph, Drawn, cells, step,
};

/// Compares a context's CPU time with the usual CPU time of its baseline; `None` if the time has no samples.
///
/// # Errors
/// `Unsupported` for any axis but CPU time; `NotFound` if the baseline contains no call paths.
pub fn difference(context: &ViewContext<'_>, baseline: &Baseline) -> Result<Option<DiffFlameGraph>> {
    check(context, baseline)?;
    let ViewContext { profile, names, tasks, selection, window, .. } = context;
    let cpu_ns = context.counters.delta("task-clock", Scope::Target, *window);
    let spent = SelectionTotals { cpu_ns, ops: operations(profile, *window) };
    Ok(CodeComparison::of(profile, names, tasks, selection, spent, baseline).and_then(|comparison| drawn(&comparison)))
}

fn check(context: &ViewContext<'_>, baseline: &Baseline) -> Result<()> {
    let events = &context.profile.meta.events;
    let is_time = match context.selection.axis {
        Axis::Event(at) => {
            events.get(usize::from(at)).is_some_and(|event| matches!(event.unit, Unit::Nanos | Unit::Cycles))
        }
        Axis::OffCpu => false,
    };
    if !is_time {
        return Err(Error::new(ErrorKind::Unsupported, "a baseline contains CPU time only")
            .hint("Show running time, or the flame graph without the baseline."));
    }
    if baseline.stacks.is_empty() {
        return Err(Error::new(ErrorKind::NotFound, "the baseline contains no call paths")
            .hint("Build it from recordings with samples: ironlaw baseline build"));
    }
    Ok(())
}

/// Returns `None` if there is nothing left to draw.
fn drawn(comparison: &CodeComparison) -> Option<DiffFlameGraph> {
    let CodeComparison { per_operation, counted, part, whole, samples, .. } = *comparison;
    // Shares are fractions; the view shows percentages.
    let scale = if per_operation { 1.0 } else { 100.0 };
    let mut tree = comparison.tree.clone();
    tree.nodes.iter_mut().for_each(|node| node.own.cost = node.own.cost.map(|cost| cost * scale));
    let (cells, roots) = cells(&tree, &drawn_paths(comparison, scale));
    let sum = |of: fn(&DiffCell) -> f64| cells.iter().take(roots as usize).map(of).sum::<f64>();
    let (here, width) = (sum(|root| root.here), sum(|root| root.width));
    (width > 0.0 && width.is_finite()).then_some(DiffFlameGraph {
        axis: CostAxis::Cpu,
        unit: if per_operation { "ns" } else { "%" },
        terms: ComparisonTerms::Baseline(BaselineTerms { per_operation, counted, part }),
        base_n: 0,
        n: 0,
        base: whole[0] * scale,
        here,
        samples,
        width,
        cells,
        roots,
    })
}

/// How each call path is drawn. A path that is gone keeps its former width, with everything it called. A path that may
/// be missing by chance alone has no width and is left out.
fn drawn_paths(comparison: &CodeComparison, scale: f64) -> Vec<Option<Drawn>> {
    let whole = comparison.whole[0].max(comparison.whole[1]);
    let mut paths: Vec<Option<Drawn>> = Vec::with_capacity(comparison.changes.len());
    for (node, change) in comparison.tree.nodes.iter().zip(&comparison.changes) {
        let [learnt, now] = change.cost;
        let gone = now <= 0.0;
        let caller = node.parent.map(|parent| parent as usize);
        let caller_gone =
            caller.is_some_and(|caller| comparison.changes[caller].cost[1] <= 0.0 && paths[caller].is_some());
        let drawn = Drawn {
            width: node.own.cost[usize::from(!gone)] * scale,
            step: if change.is_real { step(learnt, now, whole) } else { 0 },
            error: match change.error {
                Measure::Known { value, quality } => Measure::Known { value: value * scale, quality },
                missing => missing,
            },
        };
        paths.push((!gone || change.is_real || caller_gone).then_some(drawn));
    }
    paths
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::{CurrentSamples, costlier, learnt};
    use super::*;

    fn of(samples: &[(u32, &str, u64)], axis: Axis, baseline: &Baseline) -> Result<Option<DiffFlameGraph>> {
        CurrentSamples { samples, tids: &[], ops: None, axis }.against(baseline)
    }

    fn named<'a>(difference: &'a DiffFlameGraph, name: &str) -> Option<&'a DiffCell> {
        difference.cells.iter().find(|cell| cell.function.name == name)
    }

    #[test]
    fn cells_are_as_wide_as_they_cost_now_and_what_is_gone_as_wide_as_it_was() {
        let found = of(
            &[(41, "app!main;app!check", 300), (41, "app!main", 700)],
            Axis::Event(0),
            &learnt(&[("main;work", 1500), ("main", 500)]),
        );
        let found = found.unwrap().unwrap();
        let named = |name| named(&found, name).unwrap();
        let (main, work, check) = (named("main"), named("work"), named("check"));
        assert!((check.width - 30.0).abs() < 1e-9 && check.is_new() && check.step == 2, "{check:?}");
        assert!((work.width - 75.0).abs() < 1e-9 && work.is_gone() && work.step == -2, "{work:?}");
        assert!(
            (main.width - 175.0).abs() < 1e-9 && main.step == 0,
            "its own 70, its callee's 30, what it called once 75"
        );
        assert_eq!((found.unit, found.here.round(), found.width.round()), ("%", 100.0, 175.0));
        assert!(work.error.value().is_some_and(|error| *error > 0.5 && *error < 3.0), "in points: {:?}", work.error);
    }

    #[test]
    fn what_may_be_gone_by_chance_takes_no_room_and_the_rest_costs_what_an_operation_does() {
        let found = costlier(Some(10_000), &[], true);
        assert!(named(&found, "rare").is_none() && named(&found, "log_line").unwrap().is_gone());
        let step = |name| named(&found, name).unwrap().step;
        assert_eq!((step("hash"), step("compress"), step("log_line"), step("parse")), (2, 2, -2, 0), "{found:?}");
        assert!((found.here - 685_000.0).abs() < 1e-3 && (found.base - 500_000.0).abs() < 1e-3, "{found:?}");
        assert!((named(&found, "hash").unwrap().here - 260_000.0).abs() < 1e-3);
    }

    #[test]
    fn what_cannot_be_held_against_a_baseline_is_refused_with_a_way_on() {
        let (samples, known) = ([(41, "app!main", 300)], learnt(&[("main", 10)]));
        assert_eq!(of(&[], Axis::Event(0), &known).unwrap(), None);
        assert!(of(&samples, Axis::OffCpu, &known).unwrap_err().remedy().is_some());
        assert!(of(&samples, Axis::Event(0), &learnt(&[])).unwrap_err().remedy().is_some());
    }
}
