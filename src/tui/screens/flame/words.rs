//! Words for two call trees in one, from a sweep's widths or a comparison's sides: costs of trees and cells.

use crate::model::Unit;
use crate::view::diff_flamegraph::{BaselineTerms, ComparisonTerms, CostAxis, DiffCell, DiffFlameGraph};
use crate::view::escape::visible;
use crate::view::number::{quantity, seconds};

/// The hint for a session without a baseline.
pub(super) const NO_BASELINE: &str =
    "no baseline is given: :baseline NAME.baseline takes one, :learn makes one of what is held";

/// The title: `CPU time per op: 640 ns at n = 1, 1.02 us at n = 16`, `CPU time per op: base 640 ns, new 1.02 us`.
pub(super) fn title(difference: &DiffFlameGraph) -> String {
    let what = match difference.axis {
        CostAxis::Cpu if matches!(difference.unit, "ns" | "%") => "CPU time",
        CostAxis::Cpu => "CPU cost",
        CostAxis::Blocked => "time blocked",
    };
    let cost = |cost| amount(cost, difference.unit);
    let DiffFlameGraph { base, base_n, here, n, .. } = difference;
    let sides = match difference.terms {
        ComparisonTerms::Widths => format!("{} at n = {base_n}, {} at n = {n}", cost(*base), cost(*here)),
        ComparisonTerms::Sides(_) => format!("base {}, new {}", cost(*base), cost(*here)),
        ComparisonTerms::Baseline(usual) => return against_usual(usual, &cost(*base), &cost(*here)),
    };
    format!("{what}{}: {sides}", per(difference))
}

/// `CPU time per op: now 1.02 us, usual 640 ns over all loads`.
fn against_usual(usual: BaselineTerms, base: &str, here: &str) -> String {
    let BaselineTerms { per_operation, counted, part } = usual;
    let of = if part { " of these threads" } else { "" };
    let mut text = if per_operation {
        format!("CPU time per op{of}: now {here}, usual {base} over all loads")
    } else {
        format!("share of CPU time{of}, now against usual over all loads (operations unknown)")
    };
    if part {
        text += "; shows only growth, the baseline covers all code";
    }
    if !counted {
        text += "; change unknown: the baseline is old and counts no samples, build it anew";
    }
    text
}

/// The legend of colours and marks.
pub(super) fn legend(difference: &DiffFlameGraph) -> String {
    let gone = match difference.terms {
        ComparisonTerms::Baseline(BaselineTerms { counted: false, .. }) => return String::new(),
        ComparisonTerms::Baseline(_) => "; gone: as wide as it was",
        ComparisonTerms::Widths | ComparisonTerms::Sides(_) => "",
    };
    format!("  [-- - = + ++ change{}{gone}]", per(difference))
}

/// The mark before a cell's name: `gone` if its width is not a current cost.
pub(super) fn mark(difference: &DiffFlameGraph, node: u32, change: &'static str) -> &'static str {
    let gone = difference.cells.get(node as usize).is_some_and(DiffCell::is_gone);
    match difference.terms {
        ComparisonTerms::Baseline(_) if gone => "gone",
        ComparisonTerms::Baseline(BaselineTerms { counted: false, .. }) => "?",
        _ => change,
    }
}

/// ` per op`; empty without a divisor.
pub(super) fn per(difference: &DiffFlameGraph) -> String {
    match difference.terms.per() {
        "" => String::new(),
        per => format!(" {per}"),
    }
}

/// A cell in full, in one line.
pub(super) fn cell(difference: &DiffFlameGraph, node: u32, inlined: bool) -> Option<String> {
    let cell = difference.cells.get(node as usize)?;
    let (cost, per) = (|cost| amount(cost, difference.unit), per(difference));
    let mut text = format!("{}  ", visible(&cell.function.name));
    if let ComparisonTerms::Baseline(usual) = difference.terms {
        text += &usual_cell(difference, usual, cell);
        text += &place(cell, inlined);
        return Some(text);
    }
    text += &match (cell.is_new(), cell.is_gone()) {
        (true, _) => format!("new: {}{per}", cost(cell.here)),
        (_, true) => format!("gone: it was {}{per}", cost(cell.base)),
        _ => format!("{} -> {}{per} ({})", cost(cell.base), cost(cell.here), signed(cell.growth(), difference.unit)),
    };
    text += &format!("  own {} -> {}", cost(cell.own_base), cost(cell.own_here));
    if cell.step == 0 {
        text += "  no more than chance";
    }
    Some(text + &place(cell, inlined))
}

/// The location of its code.
fn place(cell: &DiffCell, inlined: bool) -> String {
    let mut text = String::new();
    if !cell.function.module.is_empty() {
        text += &format!("  {}", visible(&cell.function.module));
    }
    if inlined {
        text += "  inlined";
    }
    text
}

/// `now 1.02 us per op, usual 640 ns: +380 ns ±12.0 ns, more than chance  own 20 ns, usual 18 ns`.
fn usual_cell(difference: &DiffFlameGraph, usual: BaselineTerms, cell: &DiffCell) -> String {
    let (cost, per) = (|cost| amount(cost, difference.unit), per(difference));
    let now = match (cell.is_new(), cell.is_gone()) {
        (true, _) => format!("new: now {}{per}", cost(cell.here)),
        (_, true) => format!("gone: usual {}{per}", cost(cell.base)),
        _ => format!("now {}{per}, usual {}", cost(cell.here), cost(cell.base)),
    };
    let change = match (cell.error.value(), difference.unit) {
        (Some(error), "%") => format!("{:+.2} ±{error:.2} points", cell.growth()),
        (None, "%") => format!("{:+.2} points, error unknown", cell.growth()),
        (Some(error), unit) => format!("{} ±{}", signed(cell.growth(), unit), cost(*error)),
        (None, unit) => format!("{}, error unknown", signed(cell.growth(), unit)),
    };
    let chance = match (usual, cell.step) {
        (BaselineTerms { counted: false, .. }, _) => "the baseline counts no samples",
        (BaselineTerms { part: true, .. }, 0) if cell.growth() < 0.0 => "other threads may do the rest",
        (_, 0) => "no more than chance",
        _ => "more than chance",
    };
    let own = format!("own {}, usual {}", cost(cell.own_here), cost(cell.own_base));
    format!("{now}: {change}, {chance}  {own}")
}

fn signed(cost: f64, unit: &str) -> String {
    format!("{}{}", if cost < 0.0 { "" } else { "+" }, amount(cost, unit))
}

fn amount(cost: f64, unit: &str) -> String {
    match unit {
        "ns" => seconds(cost / 1e9).joined(),
        "%" => format!("{cost:.2}%"),
        unit => format!("{} {unit}", quantity(cost, Unit::Count).joined()),
    }
}
