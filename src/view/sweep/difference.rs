//! The merged call trees of two points: what each call path costs per operation at the base and here.
//! A cell is as wide as the larger of its two costs, so that new and vanished code both stay visible.

use crate::analysis::sweep::{Cost, FunctionId, Point, Run};
use crate::analysis::{CallTree, Node, SideCosts};
use crate::model::Measure;
use crate::view::diff_flamegraph::{ComparisonTerms, CostAxis, DiffFlameGraph, Drawn, cells, step};

/// Compares the cost of an operation at two points by call path; `None` if one of them has no operations or no samples.
#[must_use]
pub fn difference(base: &Point, here: &Point, axis: CostAxis) -> Option<DiffFlameGraph> {
    let (base_runs, here_runs) = (costs(base, axis), costs(here, axis));
    let unit = here_runs.first().or(base_runs.first())?.0.unit.symbol();
    if base_runs.is_empty() || here_runs.is_empty() {
        return None;
    }
    let mut tree = CallTree::default();
    let samples = [add(&mut tree, &base_runs, Side::Base), add(&mut tree, &here_runs, Side::Here)];
    let total = |side: Side| tree.nodes.iter().map(|node| node.own.cost[side as usize]).sum();
    let total = [total(Side::Base), total(Side::Here)];
    let (cells, roots) = cells(&tree, &drawn(&tree, &Noise { total, samples }));
    let width: f64 = cells.iter().take(roots as usize).map(|root| root.width).sum();
    // Only a damaged recording has weights without a finite sum.
    (width > 0.0 && width.is_finite()).then_some(DiffFlameGraph {
        axis,
        unit,
        terms: ComparisonTerms::default(),
        base_n: base.n,
        n: here.n,
        base: total[0],
        here: total[1],
        samples,
        width,
        cells,
        roots,
    })
}

/// The costs of the runs that have operations, each with its operations.
fn costs<'a>(point: &'a Point, axis: CostAxis) -> Vec<(&'a Cost, f64)> {
    let cost = |run: &'a Run| match axis {
        CostAxis::Cpu => Some(&run.cpu),
        CostAxis::Blocked => run.blocked.as_ref(),
    };
    point.runs.iter().filter_map(|run| Some((cost(run)?, operations(run)?))).collect()
}

fn operations(run: &Run) -> Option<f64> {
    run.totals.ops.value().copied().filter(|ops| *ops > 0.0 && ops.is_finite())
}

#[derive(Debug, Clone, Copy)]
enum Side {
    Base,
    Here,
}

/// Adds the mean of some runs to one side and returns their samples.
fn add<'a>(tree: &mut CallTree<&'a FunctionId, SideCosts>, runs: &[(&'a Cost, f64)], side: Side) -> u64 {
    for (cost, ops) in runs {
        let per_run = ops * runs.len() as f64;
        for path in cost.paths.iter().filter(|path| path.weight > 0.0 && path.weight.is_finite()) {
            if let Some(node) = tree.insert(&path.frames) {
                tree.nodes[node as usize].own.cost[side as usize] += path.weight / per_run;
            }
        }
    }
    runs.iter().map(|(cost, _)| cost.samples).sum()
}

/// Each path as wide as the larger of its costs.
fn drawn(tree: &CallTree<&FunctionId, SideCosts>, noise: &Noise) -> Vec<Option<Drawn>> {
    let drawn = |(node, sum): (&Node<SideCosts>, SideCosts)| {
        let ([own_base, own_here], [base, here]) = (node.own.cost, sum.cost);
        let (step, error) = noise.step(base, here);
        Some(Drawn { width: own_base.max(own_here), step, error: Measure::exact(error) })
    };
    tree.nodes.iter().zip(tree.inclusive()).map(drawn).collect()
}

/// How much sampling chance may change a cost. The scatter between runs is not included.
#[derive(Debug, Clone, Copy)]
struct Noise {
    total: [f64; 2],
    samples: [u64; 2],
}

impl Noise {
    /// How a cost changed, and the standard error of its growth.
    fn step(&self, base: f64, here: f64) -> (i8, f64) {
        let variance = |side: Side, cost: f64| {
            let (total, samples) = (self.total[side as usize], self.samples[side as usize].max(1) as f64);
            let share = if total > 0.0 { (cost / total).min(1.0) } else { 0.0 };
            // The formula yields no variance for a share of zero. One sample more or less is within chance then.
            (share * (1.0 - share) / samples).max(samples.powi(-2)) * total * total
        };
        let error = (variance(Side::Base, base) + variance(Side::Here, here)).sqrt();
        let real = (here - base).abs() > 2.0 * error;
        (if real { step(base, here, self.total[0].max(self.total[1])) } else { 0 }, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::sweep::SweepAnalysis;
    use crate::view::diff_flamegraph::DiffCell;
    use crate::view::sweep::fixture::{self, Machine};
    use proptest::prelude::*;

    fn named<'a>(difference: &'a DiffFlameGraph, name: &str) -> &'a DiffCell {
        difference.cells.iter().find(|cell| cell.function.name == name).expect("it is there")
    }

    /// One run of `ops` operations at a point. Its paths are written `a;b 10`, in nanoseconds for all operations.
    fn point(n: u32, ops: f64, folded: &[(&str, f64)]) -> Point {
        let SweepAnalysis { mut points, .. } = fixture::analysis(Machine::Clock);
        let path = |(names, ns): &(&str, f64)| (names.split(';').map(fixture::user).collect(), ns / ops);
        let mut point = points.remove(0);
        point.n = n;
        point.runs.truncate(1);
        point.runs[0].totals.ops = crate::model::Measure::exact(ops);
        point.runs[0].cpu = fixture::cost(folded.iter().map(path).collect(), ops);
        point
    }

    #[test]
    fn costs_are_per_operation_and_what_came_or_went_is_there() {
        let base = point(1, 10.0, &[("main;a", 1e9), ("main;gone", 5e8)]);
        let here = point(4, 40.0, &[("main;a", 4e9), ("main;new", 8e9)]);
        let difference = difference(&base, &here, CostAxis::Cpu).expect("both have operations");
        assert_eq!((difference.base, difference.here, difference.width), (1.5e8, 3e8, 3.5e8));
        let (a, gone, new) = (named(&difference, "a"), named(&difference, "gone"), named(&difference, "new"));
        assert_eq!((a.base, a.here, a.step), (1e8, 1e8, 0));
        assert_eq!((gone.is_gone(), gone.width, gone.step), (true, 5e7, -2));
        assert_eq!((new.is_new(), new.width, new.step), (true, 2e8, 2));
    }

    #[test]
    fn what_cannot_be_put_per_operation_is_not_compared() {
        let (good, none) = (point(1, 10.0, &[("main", 1e9)]), point(2, 0.0, &[]));
        assert_eq!(difference(&good, &none, CostAxis::Cpu), None);
        assert_eq!(difference(&none, &good, CostAxis::Cpu), None);
    }

    proptest! {
        #[test]
        fn children_lie_within_their_callers_and_no_cost_is_wider_than_its_cell(
            base in proptest::collection::vec((0_usize..3, 0_usize..4, 1.0..1e9), 1..20),
            here in proptest::collection::vec((0_usize..3, 0_usize..4, 1.0..1e9), 1..20),
        ) {
            let folded = |list: &[(usize, usize, f64)]| -> Vec<(String, f64)> {
                list.iter().map(|(a, b, ns)| (format!("main;f{a};g{b}"), *ns)).collect()
            };
            let (base, here) = (folded(&base), folded(&here));
            let as_given = |list: &[(String, f64)]| list.iter().map(|(names, ns)| (names.clone(), *ns)).collect::<Vec<_>>();
            let at = |n, list: &[(String, f64)]| {
                let list = as_given(list);
                point(n, 7.0, &list.iter().map(|(names, ns)| (names.as_str(), *ns)).collect::<Vec<_>>())
            };
            let difference = difference(&at(1, &base), &at(2, &here), CostAxis::Cpu).expect("there is something");
            for cell in &difference.cells {
                let below = &difference.cells[cell.first_child as usize..][..cell.children as usize];
                let sum: f64 = below.iter().map(|child| child.width).sum();
                prop_assert!(sum <= cell.width * (1.0 + 1e-9));
                prop_assert!(cell.width >= cell.base.max(cell.here) * (1.0 - 1e-9));
            }
            let roots: f64 = difference.cells[..difference.roots as usize].iter().map(|root| root.here).sum();
            prop_assert!((roots - difference.here).abs() <= 1e-6 * difference.here);
        }
    }
}
