//! Differential flame graphs of a comparison: merged trees as for two widths of a sweep, in the requested unit.

use super::Per;
use crate::analysis::diff::Functions;
use crate::view::difference::{CostAxis, Difference, Terms};
use crate::view::sweep::difference;

/// The merged call trees of both sides, on-CPU and blocked; trees with nothing to draw are left out.
pub(super) fn pictures(functions: &Functions) -> Vec<Difference> {
    [CostAxis::Cpu, CostAxis::Blocked].into_iter().filter_map(|axis| picture(functions, axis)).collect()
}

fn picture(functions: &Functions, axis: CostAxis) -> Option<Difference> {
    // Blocked time is not part of the on-CPU samples.
    if functions.per == Per::Share && axis == CostAxis::Blocked {
        return None;
    }
    let [base, new] = &*functions.points;
    let mut drawn = difference(base, new, axis)?;
    drawn.terms = match functions.per {
        Per::Op => Terms::Sides("per op"),
        Per::Cpu => Terms::Sides("per CPU second"),
        Per::Share => Terms::Sides(""),
        Per::None => Terms::Sides("in all"),
    };
    // Shares are fractions; the view shows percentages.
    if functions.per == Per::Share {
        drawn.unit = "%";
        let whole = [&mut drawn.base, &mut drawn.here, &mut drawn.width];
        let cells = drawn.cells.iter_mut();
        let parts = cells.flat_map(|c| [&mut c.base, &mut c.here, &mut c.own_base, &mut c.own_here, &mut c.width]);
        whole.into_iter().chain(parts).for_each(|value| *value *= 100.0);
    }
    Some(drawn)
}
