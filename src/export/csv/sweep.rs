//! A sweep's points for spreadsheets and scripts: one row per point, a column for each number and for its interval.
//! Numbers are not rounded; a missing value is an empty cell.

use super::line;
use crate::export::inert;
use crate::model::Unit;
use crate::view::sweep::{Column, SweepReport, Value};

/// The points. `_ci95` is half the width of the 95% confidence interval.
#[must_use]
pub fn sweep(report: &SweepReport) -> Vec<u8> {
    let view = &report.view;
    let mut out = String::new();
    let heads = view.columns.iter().flat_map(|column| [head(column), format!("{}_ci95", head(column))]);
    let first = ["n", "region", "runs"].map(str::to_string);
    line(&mut out, &first.into_iter().chain(heads).collect::<Vec<_>>());
    for point in &view.points {
        let values = view.columns.iter().flat_map(|column| match point.values.get(column.name) {
            Some(Value::Known { mean, half }) => [number(mean), half.map_or(String::new(), number)],
            _ => [String::new(), String::new()],
        });
        let first = [point.n.to_string(), point.region.label(), point.runs.to_string()];
        line(&mut out, &first.into_iter().chain(values).collect::<Vec<_>>());
    }
    inert::document(out)
}

/// The column's stable name with its unit, unless the name contains it.
fn head(column: &Column) -> String {
    let unit = match column.unit {
        Unit::Hertz => "_hz",
        _ => "",
    };
    format!("{}{unit}", column.name)
}

fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}
