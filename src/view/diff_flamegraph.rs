//! Two merged call trees: what each call path costs on either side, and the cells drawn from them.
//! The caller decides how each call path is drawn.

use crate::analysis::sweep::FunctionId;
use crate::analysis::{CallTree, Place, SideCosts};
use crate::model::{Measure, Why};
use serde::Serialize;
use std::borrow::Borrow;

/// Which cost of an operation is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CostAxis {
    /// Time, or cycles, on a CPU.
    Cpu,
    /// Blocked time.
    Blocked,
}

/// What the two sides are, and what costs are divided by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ComparisonTerms {
    /// Two widths of a sweep, per operation.
    #[default]
    Widths,
    /// A base and the side compared with it. Costs are `per op`, `per CPU second` or `in all`; empty for shares.
    Sides(&'static str),
    /// A baseline's usual cost over all its loads, and the current cost. Costs are `per op`; empty for shares.
    Baseline(BaselineTerms),
}

/// Properties of a difference against a baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct BaselineTerms {
    /// Whether costs are per operation; otherwise they are shares of all CPU time.
    pub per_operation: bool,
    /// Whether changes can be distinguished from chance, because the number of samples behind the baseline is known.
    pub counted: bool,
    /// Whether only some of the threads are shown. Work that is gone from them may have moved to others.
    pub part: bool,
}

impl ComparisonTerms {
    /// The text that follows a cost.
    #[must_use]
    pub fn per(self) -> &'static str {
        match self {
            ComparisonTerms::Widths => "per op",
            ComparisonTerms::Sides(per) => per,
            ComparisonTerms::Baseline(usual) if usual.per_operation => "per op",
            ComparisonTerms::Baseline(_) => "",
        }
    }
}

/// Two merged call trees. Costs are per operation, means over the runs, in [`DiffFlameGraph::unit`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiffFlameGraph {
    /// Which cost is compared.
    pub axis: CostAxis,
    /// `ns` or `cycles`; `%` for shares.
    pub unit: &'static str,
    /// What the sides are.
    pub terms: ComparisonTerms,
    /// Width of the base.
    pub base_n: u32,
    /// Width of the other side.
    pub n: u32,
    /// Cost of an operation at the base.
    pub base: f64,
    /// Cost of an operation here.
    pub here: f64,
    /// Samples, or off-CPU spans, of the base's runs and of the runs here.
    pub samples: [u64; 2],
    /// Sum of the roots' widths; at least as large as either cost.
    pub width: f64,
    /// Breadth first: the roots, then their children. The children of one cell are adjacent, sorted by name.
    pub cells: Vec<DiffCell>,
    /// How many of the first cells have no parent.
    pub roots: u32,
}

/// A call path in both trees.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiffCell {
    /// The function at its end.
    pub function: FunctionId,
    /// Its caller.
    pub parent: Option<u32>,
    /// First of its children.
    pub first_child: u32,
    /// Number of its children.
    pub children: u32,
    /// Inclusive cost at the base; 0 if it is new.
    pub base: f64,
    /// Inclusive cost here; 0 if it vanished.
    pub here: f64,
    /// Cost of its own code at the base.
    pub own_base: f64,
    /// Cost of its own code here.
    pub own_here: f64,
    /// Its width: the larger of its own costs, plus the widths of its children. It is at least `base` and `here`, and
    /// larger than both if some of its callees grew and others shrank. Against a baseline, it is the current cost, or
    /// the former cost if the cell is gone.
    pub width: f64,
    /// From -2 (much less) to 2 (much more); 0 is within chance.
    pub step: i8,
    /// Standard error of its growth; missing if the number of samples behind a cost is unknown.
    pub error: Measure<f64>,
}

impl DiffCell {
    /// By how much it costs more here; negative if it costs less.
    #[must_use]
    pub fn growth(&self) -> f64 {
        self.here - self.base
    }

    /// Whether it is absent at the base.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.base <= 0.0 && self.here > 0.0
    }

    /// Whether it is absent here.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.here <= 0.0 && self.base > 0.0
    }
}

/// How a call path is drawn.
#[derive(Debug, Clone, Copy)]
pub(in crate::view) struct Drawn {
    /// Width of its own code.
    pub width: f64,
    /// How it changed, from -2 to 2.
    pub step: i8,
    /// Standard error of its growth.
    pub error: Measure<f64>,
}

/// Step of a change beyond chance, from -2 (much less) to 2 (much more). `whole` is the larger total of the two sides.
pub(in crate::view) fn step(base: f64, here: f64, whole: f64) -> i8 {
    let growth = here - base;
    let much = growth.abs() >= 0.05 * whole || here >= 2.0 * base || base >= 2.0 * here;
    let step = if much { 2 } else { 1 };
    if growth < 0.0 { -step } else { step }
}

/// Returns the cells, and how many of them are roots. A path that is not drawn is left out with everything below it.
pub(in crate::view) fn cells<F: Borrow<FunctionId>>(
    tree: &CallTree<F, SideCosts>,
    drawn: &[Option<Drawn>],
) -> (Vec<DiffCell>, u32) {
    let (sums, widths) = (tree.inclusive(), widths(tree, drawn));
    let is_drawn = |node: u32| drawn[node as usize].is_some();
    let (places, roots) = tree.breadth_first(is_drawn, |a, b| a.borrow().cmp(b.borrow()));
    let cell = |place: &Place| {
        let at = place.node as usize;
        let ([base, here], [own_base, own_here]) = (sums[at].cost, tree.nodes[at].own.cost);
        let (step, error) = match drawn[at] {
            Some(drawn) => (drawn.step, drawn.error),
            None => (0, Measure::Missing(Why::TooFewSamples)),
        };
        DiffCell {
            function: tree.function(place.node).borrow().clone(),
            parent: place.parent,
            first_child: place.first_child,
            children: place.children,
            base,
            here,
            own_base,
            own_here,
            width: widths[at],
            step,
            error,
        }
    };
    (places.iter().map(cell).collect(), roots)
}

/// Width of each path, including everything drawn below it.
fn widths<F>(tree: &CallTree<F, SideCosts>, drawn: &[Option<Drawn>]) -> Vec<f64> {
    let mut widths: Vec<f64> = drawn.iter().map(|drawn| drawn.map_or(0.0, |drawn| drawn.width)).collect();
    for at in (0..widths.len()).rev() {
        if let (Some(parent), Some(_)) = (tree.nodes[at].parent, drawn[at]) {
            widths[parent as usize] += widths[at];
        }
    }
    widths
}
