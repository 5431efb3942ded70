//! A comparison's quantities for spreadsheets and scripts: one row per quantity and side.
//! Numbers are not rounded; a missing value is an empty cell.

use crate::export::csv::{line, text};
use crate::export::inert;
use crate::view::Measured;
use crate::view::diff::{ComparisonView, DiffView, MetricRow, Role, Scale, words};

/// The quantities. `low`, `high` and `detectable` are fractions of the base if `scale` is `relative`, else differences.
#[must_use]
pub fn csv(view: &DiffView) -> Vec<u8> {
    let mut out = String::new();
    let head = [
        "new",
        "metric",
        "at",
        "role",
        "base",
        "value",
        "difference",
        "relative",
        "scale",
        "low",
        "high",
        "p",
        "corrected_p",
        "detectable",
        "verdict",
    ];
    line(&mut out, &head.map(str::to_string));
    for comparison in &view.comparisons {
        for (at, rows) in [("as_recorded", &comparison.metrics), ("same_load", &comparison.adjusted)] {
            rows.iter().for_each(|row| line(&mut out, &cells(comparison, at, row)));
        }
    }
    inert::document(out)
}

fn cells(comparison: &ComparisonView, at: &str, row: &MetricRow) -> [String; 15] {
    let role = match row.role {
        Role::Cost => "cost",
        Role::Latency => "latency",
        Role::Load => "load",
        Role::Context => "context",
    };
    let scale = match row.scale {
        Some(Scale::Relative) => "relative",
        Some(Scale::Absolute) => "absolute",
        None => "",
    };
    let known = |measured: &Measured| number(measured.value());
    [
        text(&comparison.new.label),
        row.name.to_string(),
        at.to_string(),
        role.to_string(),
        known(&row.base),
        known(&row.new),
        number(row.difference),
        number(row.relative),
        scale.to_string(),
        number(row.low),
        number(row.high),
        number(row.p),
        number(row.corrected_p),
        number(row.detectable),
        words::verdict(row).to_string(),
    ]
}

fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or(String::new(), |value| value.to_string())
}
