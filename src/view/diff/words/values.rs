//! Formats values, changes and their intervals.
//! Numbers are rounded only in the last step.

use crate::analysis::LawFactor;
use crate::analysis::diff::TimePart;
use crate::model::Unit;
use crate::view::Measured;
use crate::view::diff::{CodeRow, MetricRow, Scale, Verdict};
use crate::view::number::{percent, quantity, seconds, three_digits};

/// A value in its unit.
#[must_use]
pub fn shown(value: f64, unit: Unit) -> String {
    quantity(value, unit).joined()
}

/// A relative change: `+10.1%`, `-0.50%`; `x 12.0` from a factor of ten on.
#[must_use]
pub fn relative(part: f64) -> String {
    if part >= 9.0 {
        return format!("x {}", three_digits(part + 1.0));
    }
    format!("{}{}", if part > 0.0 { "+" } else { "" }, percentage(part))
}

/// No measurement is precise enough for more digits.
fn percentage(part: f64) -> String {
    let percent = part * 100.0;
    if percent.abs() < 10.0 { format!("{percent:.2}%") } else { format!("{percent:.1}%") }
}

/// A percentage typed by the user, with as few digits as possible.
#[must_use]
pub(super) fn typed(part: f64) -> String {
    format!("{}%", (part * 1e6).round() / 1e4)
}

/// A change of a row on its scale: relative, or a difference in its unit.
#[must_use]
pub fn change(row: &MetricRow, value: f64) -> String {
    match (row.scale, row.unit) {
        (Some(Scale::Relative), _) => relative(value),
        (_, Unit::Share) => format!("{:+.2} pt", value * 100.0),
        (_, unit) => format!("{}{}", if value > 0.0 { "+" } else { "" }, shown(value, unit)),
    }
}

/// The change of the row itself.
#[must_use]
pub fn own_change(row: &MetricRow) -> Option<String> {
    let value = if row.scale == Some(Scale::Relative) { row.relative? } else { row.difference? };
    Some(change(row, value))
}

/// The confidence interval: `+9.2% to +11.0%`.
#[must_use]
pub fn interval(row: &MetricRow) -> Option<String> {
    Some(format!("{} to {}", change(row, row.low?), change(row, row.high?)))
}

/// The same for single runs, from their windows alone.
#[must_use]
pub fn within(row: &MetricRow) -> Option<String> {
    Some(format!("{} to {}", change(row, row.within_low?), change(row, row.within_high?)))
}

/// Half the width of the interval, for narrow tables.
#[must_use]
pub fn half(row: &MetricRow) -> Option<String> {
    let half = (row.high? - row.low?) / 2.0;
    Some(match row.scale {
        // A width is no factor, however large it is.
        Some(Scale::Relative) => percentage(half),
        _ => change(row, half).trim_start_matches('+').to_string(),
    })
}

/// What a verdict means for a row: `worse`, `better`, `more`, `less`, `same` or `-`.
#[must_use]
pub fn verdict(row: &MetricRow) -> &'static str {
    use crate::view::diff::Better::{Less, More, Neither};
    match (row.verdict, row.better) {
        (Verdict::More, Less) | (Verdict::Less, More) => "worse",
        (Verdict::Less, Less) | (Verdict::More, More) => "better",
        (Verdict::More, Neither) => "more",
        (Verdict::Less, Neither) => "less",
        (Verdict::Same, _) => "same",
        (Verdict::Undecided, _) => "-",
    }
}

/// A value of a row in its unit; a dash if it is missing.
#[must_use]
pub fn value(row: &MetricRow, measured: &Measured) -> String {
    measured.value().map_or("-".to_string(), |value| shown(value, row.unit))
}

/// A cost of code in its unit: `ns`, `cycles`; `share` for a fraction of all.
#[must_use]
pub fn cost(unit: &str, value: f64) -> String {
    match unit {
        "share" => percent(value).joined(),
        "ns" => seconds(value * 1e-9).joined(),
        _ => format!("{} {unit}", three_digits(value)),
    }
}

/// A change in the cost of code, with its sign.
#[must_use]
pub fn growth(unit: &str, row: &CodeRow) -> String {
    let sign = if row.difference > 0.0 { "+" } else { "" };
    format!("{sign}{}", cost(unit, row.difference))
}

/// A probability; below 0.001 only the bound is shown.
#[must_use]
pub fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_string() } else { three_digits(p) }
}

/// A factor's value in its unit.
#[must_use]
pub fn factor_value(factor: &str, value: f64) -> String {
    match factor {
        "frequency" => quantity(value, Unit::Hertz).joined(),
        "utilisation" => percent(value).joined(),
        "cpu_time" | "run_queue" | "throttled" | "storage" | "lock" => seconds(value * 1e-9).joined(),
        _ => three_digits(value),
    }
}

/// A factor's stable name.
#[must_use]
pub(in crate::view::diff) fn factor_name(factor: LawFactor) -> &'static str {
    match factor {
        LawFactor::PathLength => "path_length",
        LawFactor::Cpi => "cpi",
        LawFactor::Frequency => "frequency",
        LawFactor::CpuTime => "cpu_time",
        LawFactor::Utilisation => "utilisation",
    }
}

/// A factor's label for display.
#[must_use]
pub(in crate::view::diff) fn factor_label(factor: LawFactor) -> &'static str {
    match factor {
        LawFactor::PathLength => "path length (instructions/op)",
        LawFactor::Cpi => "CPI (cycles/instruction)",
        LawFactor::Frequency => "1 / frequency",
        LawFactor::CpuTime => "CPU time/op",
        LawFactor::Utilisation => "1 / utilisation (not running)",
    }
}

/// The stable name of a part of the time of an operation.
#[must_use]
pub(in crate::view::diff) fn part_name(part: TimePart) -> &'static str {
    match part {
        TimePart::Running(factor) => factor_name(factor),
        TimePart::RunQueue => "run_queue",
        TimePart::Throttled => "throttled",
        TimePart::Storage => "storage",
        TimePart::Lock => "lock",
    }
}

/// Its label for display.
#[must_use]
pub(in crate::view::diff) fn part_label(part: TimePart) -> &'static str {
    match part {
        TimePart::Running(factor) => factor_label(factor),
        TimePart::RunQueue => "waiting for a CPU/op",
        TimePart::Throttled => "stopped by the quota/op",
        TimePart::Storage => "waiting for storage/op",
        TimePart::Lock => "waiting for locks/op",
    }
}
