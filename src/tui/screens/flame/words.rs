//! Words for the call trees of two points of a sweep: what they and their cells cost per operation.
//! It never compares: the difference says what grew.

use crate::view::MetricUnit;
use crate::view::escape::visible;
use crate::view::number::{quantity, seconds};
use crate::view::scaling::{CostAxis, Difference};

/// What is shown: `CPU time per op: 640 ns at n = 1, 1.02 us at n = 16`.
pub(super) fn title(difference: &Difference) -> String {
    let what = match difference.axis {
        CostAxis::Cpu if difference.unit == "ns" => "CPU time",
        CostAxis::Cpu => "CPU cost",
        CostAxis::Blocked => "time blocked",
    };
    let cost = |cost| per_op(cost, difference.unit);
    let Difference { base, base_n, here, n, .. } = difference;
    format!("{what} per op: {} at n = {base_n}, {} at n = {n}", cost(*base), cost(*here))
}

/// Everything about a cell in one line.
pub(super) fn cell(difference: &Difference, node: u32, inlined: bool) -> Option<String> {
    let cell = difference.cells.get(node as usize)?;
    let cost = |cost| per_op(cost, difference.unit);
    let mut text = format!("{}  ", visible(&cell.function.name));
    text += &match (cell.is_new(), cell.is_gone()) {
        (true, _) => format!("new: {} per op", cost(cell.here)),
        (_, true) => format!("gone: it was {} per op", cost(cell.base)),
        _ => format!("{} -> {} per op ({})", cost(cell.base), cost(cell.here), signed(cell.growth(), difference.unit)),
    };
    text += &format!("  own {} -> {}", cost(cell.own_base), cost(cell.own_here));
    if cell.step == 0 {
        text += "  no more than chance";
    }
    if !cell.function.module.is_empty() {
        text += &format!("  {}", visible(&cell.function.module));
    }
    if inlined {
        text += "  inlined";
    }
    Some(text)
}

fn signed(cost: f64, unit: &str) -> String {
    format!("{}{}", if cost < 0.0 { "" } else { "+" }, per_op(cost, unit))
}

fn per_op(cost: f64, unit: &str) -> String {
    match unit {
        "ns" => seconds(cost / 1e9).joined(),
        unit => format!("{} {unit}", quantity(cost, MetricUnit::Count).joined()),
    }
}
