//! The selected item in full for the status line, and the lines below the table. Missing values come with their reason.

use super::State;
use super::rows::FunctionRow;
use crate::model::Unit;
use crate::tui::panel::PanelContext;
use crate::view::escape::visible;
use crate::view::number::{self, percent, quantity, three_digits};
use crate::view::sweep::latency;
use crate::view::sweep::{Column, Loss, PointView, SweepView, Value, words};

/// A point: throughput, efficiency, the largest losses, and the missing values.
pub(super) fn point(view: &SweepView, point: &PointView, cx: &PanelContext<'_>) -> String {
    let mut parts = vec![head(view, point, cx)];
    if let Some(efficiency) = point.values.get("efficiency").and_then(|value| value.mean()) {
        parts.push(format!("{} of the ideal", percent(efficiency).joined()));
    }
    if let Some(latency) = &point.latency {
        parts.push(latency::text(latency));
    }
    if let Some(lost) = most_lost(view, point) {
        parts.push(lost);
    }
    parts.extend(missing(view, point));
    parts.join("; ")
}

fn head(view: &SweepView, point: &PointView, cx: &PanelContext<'_>) -> String {
    let runs = number::several(u64::from(point.runs), "run");
    let base = if view.base == Some(point.n) { ", the base" } else { "" };
    let ops = match point.values.get("ops_per_s") {
        Some(Value::Known { mean, .. }) => {
            let half = spread(point).map_or_else(
                || " (one run has no interval)".to_string(),
                |half| format!(" {}{half}", cx.glyphs.plus_minus),
            );
            format!(": {}{half}", quantity(mean, Unit::PerSecond).joined())
        }
        _ => String::new(),
    };
    format!("n = {} ({}, {runs}{base}){ops}", point.n, point.region.label())
}

/// The two reasons that cost the most cores.
fn most_lost(view: &SweepView, point: &PointView) -> Option<String> {
    let stack = view.stacks.iter().find(|stack| stack.n == point.n)?;
    let mut slices: Vec<_> = stack.slices.iter().filter(|slice| slice.cores > 0.0).collect();
    slices.sort_by(|a, b| b.cores.total_cmp(&a.cores));
    let slice =
        |slice: &&crate::view::sweep::Slice| format!("{} {}", words::slice(slice.kind), three_digits(slice.cores));
    let most: Vec<_> = slices.iter().take(2).map(slice).collect();
    (!most.is_empty()).then(|| format!("cores lost: {}", most.join(", ")))
}

/// The missing values, grouped by reason.
fn missing(view: &SweepView, point: &PointView) -> Vec<String> {
    let mut reasons: Vec<(&'static str, Vec<&'static str>)> = Vec::new();
    for column in &view.columns {
        let Some(why) = words::missing(view, point, column) else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(column.label),
            None => reasons.push((why, vec![column.label])),
        }
    }
    reasons.into_iter().map(|(why, names)| format!("{}: {why}", names.join(", "))).collect()
}

/// All slices of a point, in cores and in nanoseconds per operation.
pub(super) fn stack(view: &SweepView, point: &PointView, cx: &PanelContext<'_>) -> String {
    let Some(stack) = view.stacks.iter().find(|stack| stack.n == point.n) else {
        return format!(
            "{}; where its cores went is not known: it takes operations here and at the base",
            head(view, point, cx)
        );
    };
    let slice = |slice: &crate::view::sweep::Slice| {
        format!("{} {} ({} ns/op)", words::slice(slice.kind), three_digits(slice.cores), three_digits(slice.ns_per_op))
    };
    let slices: Vec<_> = stack.slices.iter().map(slice).collect();
    let useful = format!("n = {}: {} cores' worth of work", stack.n, three_digits(stack.useful));
    if slices.is_empty() { format!("{useful}, nothing lost") } else { format!("{useful}; lost: {}", slices.join(", ")) }
}

/// The law of the point's region, and its prediction for the point.
pub(super) fn law(view: &SweepView, point: &PointView, cx: &PanelContext<'_>) -> String {
    let Some(fit) = view.fits.iter().find(|fit| fit.region == point.region).or(words::chosen(&view.fits)) else {
        return format!("{}; no law is fitted", head(view, point, cx));
    };
    let here = match &fit.law {
        Ok(law) if fit.widths.contains(&point.n) => {
            let value = quantity(words::by_law(law, f64::from(point.n)), Unit::PerSecond).joined();
            format!(", by the law {value}")
        }
        _ => String::new(),
    };
    format!("{}{here}; {}", head(view, point, cx), words::law(fit))
}

/// A function and its loss.
pub(super) fn function(view: &SweepView, loss: &Loss, row: &FunctionRow<'_>, cx: &PanelContext<'_>) -> String {
    let lost = row.loss;
    let what = if row.waits { "time blocked" } else { "CPU time" };
    let unit = if row.waits { "ns" } else { view.cost_unit };
    let module = match visible(&lost.function.module) {
        module if module.is_empty() => String::new(),
        module => format!(" ({module})"),
    };
    let share = lost.share.map_or(String::new(), |share| format!(", {} of what was lost", percent(share).joined()));
    let chance = if lost.is_real() { "" } else { "; no more than chance" };
    let base = view.base.map_or(String::new(), |n| format!(" at n = {n}"));
    format!(
        "{}{module}: {what} {}{base} -> {} {unit}/op at n = {}: {} {}{}{share}{chance}",
        visible(&lost.function.name),
        three_digits(lost.base),
        three_digits(lost.here),
        loss.n,
        signed(lost.growth()),
        cx.glyphs.plus_minus,
        three_digits(lost.error),
    )
}

/// Explains why there is no function to show.
pub(super) fn no_losses(state: &State, view: &SweepView) -> String {
    match (state.point(), state.loss()) {
        (None, _) => "no run is over yet".to_string(),
        (Some(point), _) if view.base == Some(point.n) => {
            format!("n = {} is the base of the comparison: choose another point", point.n)
        }
        (Some(_), None) if view.ops.is_none() => {
            "the loss per operation is unknown: nothing counts operations (give --ops)".to_string()
        }
        (Some(point), None) => {
            format!("n = {} cannot be compared: it needs operations and samples there and at the base", point.n)
        }
        (Some(_), Some(_)) if state.functions.only => "no function matches the search".to_string(),
        (Some(point), Some(_)) => format!("no samples at n = {}", point.n),
    }
}

/// The total loss of the functions at the chosen point, for the line of page names.
pub(super) fn lost(state: &State, view: &SweepView) -> Option<String> {
    let (loss, base) = (state.loss()?, view.base?);
    let unit = view.cost_unit;
    let mut text =
        format!("n = {base} -> {}: CPU {} -> {} {unit}/op", loss.n, three_digits(loss.base), three_digits(loss.here));
    if let Some((before, here)) = loss.blocked {
        text += &format!(", blocked {} -> {} ns/op", three_digits(before), three_digits(here));
    }
    Some(text)
}

/// The lines below the table: the law of each region, and why some columns are empty.
pub(super) fn below(view: &SweepView) -> Vec<String> {
    let fits = view.fits.iter().map(|fit| format!("{}: {}", fit.region.label(), words::law(fit)));
    let mut lines: Vec<String> = fits.collect();
    if let Some(point) = view.points.last() {
        lines.extend(missing(view, point).into_iter().map(|text| format!("- {text}")));
    }
    lines
}

/// A growth with its sign.
pub(super) fn signed(value: f64) -> String {
    format!("{}{}", if value > 0.0 { "+" } else { "" }, three_digits(value))
}

/// Half the interval of the throughput, relative to its mean.
pub(super) fn spread(point: &PointView) -> Option<String> {
    match point.values.get("ops_per_s") {
        Some(Value::Known { mean, half: Some(half) }) if mean != 0.0 => Some(percent((half / mean).abs()).joined()),
        _ => None,
    }
}

/// A value without the unit, which the heading shows; a dash if it was not measured.
pub(super) fn value(point: &PointView, column: &Column) -> String {
    let Some(mean) = point.values.get(column.name).and_then(|value| value.mean()) else { return "-".to_string() };
    match column.unit {
        Unit::PerSecond => quantity(mean, Unit::Count).joined(),
        Unit::Ratio => three_digits(mean),
        unit => quantity(mean, unit).joined(),
    }
}
