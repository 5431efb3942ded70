//! Words for two call trees in one, of a sweep's widths or of the sides of a comparison: what they and their cells cost.
//! It never compares: the difference says what grew.

use crate::view::MetricUnit;
use crate::view::escape::visible;
use crate::view::number::{quantity, seconds};
use crate::view::scaling::{CostAxis, Difference, Terms};

/// What is shown: `CPU time per op: 640 ns at n = 1, 1.02 us at n = 16`, `CPU time per op: base 640 ns, new 1.02 us`.
pub(super) fn title(difference: &Difference) -> String {
    let what = match difference.axis {
        CostAxis::Cpu if matches!(difference.unit, "ns" | "%") => "CPU time",
        CostAxis::Cpu => "CPU cost",
        CostAxis::Blocked => "time blocked",
    };
    let cost = |cost| amount(cost, difference.unit);
    let Difference { base, base_n, here, n, .. } = difference;
    let sides = match difference.terms {
        Terms::Widths => format!("{} at n = {base_n}, {} at n = {n}", cost(*base), cost(*here)),
        Terms::Sides(_) => format!("base {}, new {}", cost(*base), cost(*here)),
    };
    format!("{what}{}: {sides}", per(difference))
}

/// ` per op`; nothing where there is nothing to say.
pub(super) fn per(difference: &Difference) -> String {
    match difference.terms.per() {
        "" => String::new(),
        per => format!(" {per}"),
    }
}

/// Everything about a cell in one line.
pub(super) fn cell(difference: &Difference, node: u32, inlined: bool) -> Option<String> {
    let cell = difference.cells.get(node as usize)?;
    let (cost, per) = (|cost| amount(cost, difference.unit), per(difference));
    let mut text = format!("{}  ", visible(&cell.function.name));
    text += &match (cell.is_new(), cell.is_gone()) {
        (true, _) => format!("new: {}{per}", cost(cell.here)),
        (_, true) => format!("gone: it was {}{per}", cost(cell.base)),
        _ => format!("{} -> {}{per} ({})", cost(cell.base), cost(cell.here), signed(cell.growth(), difference.unit)),
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
    format!("{}{}", if cost < 0.0 { "" } else { "+" }, amount(cost, unit))
}

fn amount(cost: f64, unit: &str) -> String {
    match unit {
        "ns" => seconds(cost / 1e9).joined(),
        "%" => format!("{cost:.2}%"),
        unit => format!("{} {unit}", quantity(cost, MetricUnit::Count).joined()),
    }
}
