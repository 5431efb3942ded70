//! The merged call trees of two sides, and the cells drawn from them.
//! The caller decides how each call path is drawn.

use super::difference::DifferenceCell;
use crate::analysis::sweep::FunctionId;
use crate::model::Measure;

/// A call path on both sides; a parent's index is lower than its child's.
#[derive(Debug)]
pub(in crate::view) struct Branch<'a> {
    /// The function at its end.
    pub function: &'a FunctionId,
    /// Its caller.
    pub parent: Option<u32>,
    /// Cost of its own code, at the base and here.
    pub own: [f64; 2],
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

/// Inclusive cost of each branch.
pub(in crate::view) fn inclusive(branches: &[Branch<'_>]) -> Vec<[f64; 2]> {
    let mut sums: Vec<[f64; 2]> = branches.iter().map(|branch| branch.own).collect();
    for at in (0..branches.len()).rev() {
        if let Some(parent) = branches[at].parent {
            let [base, here] = sums[at];
            let above = &mut sums[parent as usize];
            *above = [above[0] + base, above[1] + here];
        }
    }
    sums
}

/// Step of a change beyond chance, from -2 (much less) to 2 (much more). `whole` is the larger total of the two sides.
pub(in crate::view) fn step(base: f64, here: f64, whole: f64) -> i8 {
    let growth = here - base;
    let much = growth.abs() >= 0.05 * whole || here >= 2.0 * base || base >= 2.0 * here;
    let step = if much { 2 } else { 1 };
    if growth < 0.0 { -step } else { step }
}

/// Returns the cells, and how many of them are roots. A branch that is not drawn is left out with everything below it.
pub(in crate::view) fn cells(branches: &[Branch<'_>], drawn: &[Option<Drawn>]) -> (Vec<DifferenceCell>, u32) {
    let (sums, widths) = (inclusive(branches), widths(branches, drawn));
    let (children, roots) = below(branches, drawn);
    let mut cells = Vec::with_capacity(branches.len());
    let mut order: Vec<(u32, Option<u32>)> = roots.iter().map(|root| (*root, None)).collect();
    // Breadth first, so that the children of one cell are adjacent.
    while let Some((at, parent)) = order.get(cells.len()).copied() {
        let (branch, below) = (&branches[at as usize], &children[at as usize]);
        let [base, here] = sums[at as usize];
        let here_at = cells.len() as u32;
        let (step, error) = match drawn[at as usize] {
            Some(drawn) => (drawn.step, drawn.error),
            None => (0, Measure::Missing(crate::model::Why::TooFewSamples)),
        };
        cells.push(DifferenceCell {
            function: branch.function.clone(),
            parent,
            first_child: order.len() as u32,
            children: below.len() as u32,
            base,
            here,
            own_base: branch.own[0],
            own_here: branch.own[1],
            width: widths[at as usize],
            step,
            error,
        });
        order.extend(below.iter().map(|child| (*child, Some(here_at))));
    }
    (cells, roots.len() as u32)
}

/// Width of each branch, including everything drawn below it.
fn widths(branches: &[Branch<'_>], drawn: &[Option<Drawn>]) -> Vec<f64> {
    let mut widths: Vec<f64> = drawn.iter().map(|drawn| drawn.map_or(0.0, |drawn| drawn.width)).collect();
    for at in (0..branches.len()).rev() {
        if let (Some(parent), Some(_)) = (branches[at].parent, drawn[at]) {
            widths[parent as usize] += widths[at];
        }
    }
    widths
}

/// The drawn children of each branch, and the roots, sorted by name.
fn below(branches: &[Branch<'_>], drawn: &[Option<Drawn>]) -> (Vec<Vec<u32>>, Vec<u32>) {
    let mut children = vec![Vec::new(); branches.len()];
    let mut roots = Vec::new();
    for (at, branch) in branches.iter().enumerate().filter(|(at, _)| drawn[*at].is_some()) {
        branch.parent.map_or(&mut roots, |parent| &mut children[parent as usize]).push(at as u32);
    }
    let by_name = |list: &mut Vec<u32>| list.sort_unstable_by_key(|at| branches[*at as usize].function);
    children.iter_mut().for_each(by_name);
    by_name(&mut roots);
    (children, roots)
}
