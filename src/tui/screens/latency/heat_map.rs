//! Latency over time as a heat map: a row for each range of latencies, a column for each window, coloured and shaded by
//! the operations; below it the quantiles of each window.

use super::State;
use super::layout::{GUTTER, Layout};
use super::words::time;
use crate::tui::panel::PanelContext;
use crate::tui::theme::HEAT;
use crate::tui::widgets::chart::{Origin, round_times};
use crate::tui::widgets::sparkline::{highest, sparkline};
use crate::tui::widgets::{WidgetContext, put};
use crate::view::fit::width;
use crate::view::latency_history::{Band, LatencyColumn, LatencyView, OVER_TIME, QUANTILES};
use crate::view::number::count;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::ops::Range;

/// Operations beyond a quantile of a column that it takes to be shown, as in the analysis.
const FEWEST_BEYOND: f64 = 2.0;

/// The part of an area right of the labels.
fn plot(area: Rect, layout: &Layout) -> Rect {
    let x = area.x + GUTTER.min(area.width);
    Rect { x, width: layout.cells.width().min(area.right() - x), ..area }
}

/// Draws the heading with the scale, the map and its axes.
pub(super) fn draw(state: &State, view: &LatencyView, layout: &Layout, cx: &PanelContext<'_>, buf: &mut Buffer) {
    let heat = cells(view, layout);
    let most = heat.iter().flatten().copied().fold(0.0, f64::max);
    heading(most, cx, layout.areas.over_time, buf);
    let area = layout.areas.heat;
    let inner = plot(area, layout);
    let cursor = state.cursor.and_then(|cursor| layout.rows.group(cursor.band));
    let column = state.column().and_then(|column| layout.cells.of_column(column));
    for (row, counts) in (0..).zip(&heat) {
        let Some(y) = area.bottom().checked_sub(row + 1).filter(|y| *y >= area.y) else { break };
        label(row, cursor == Some(row), layout, cx, Rect { y, height: 1, ..area }, buf);
        for (at, count) in counts.iter().enumerate() {
            let cell = Rect { x: inner.x + at as u16 * layout.cells.wide, y, width: layout.cells.wide, height: 1 };
            let chosen = cursor == Some(row) && column == Some(at);
            fill(*count, most, chosen, cx, cell.intersection(inner), buf);
        }
    }
    times(view, column, layout, cx, buf);
}

/// The operations by row, from the bottom, and by column.
fn cells(view: &LatencyView, layout: &Layout) -> Vec<Vec<f64>> {
    let first = view.bands.first().map_or(0, |band| band.band.0);
    let sum = |row: u16, run: usize| {
        view.columns[layout.cells.run(run)].iter().map(|column| layout.rows.sum(row, first, &column.bands)).sum()
    };
    (0..layout.rows.count).map(|row| (0..layout.cells.runs).map(|run| sum(row, run)).collect()).collect()
}

fn heading(most: f64, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let x = put(buf, area, (area.x + 1, area.y), "operations by latency and time", cx.theme.dim);
    let scale = [(0, "1".to_string()), (HEAT - 1, count(most.round().max(1.0) as u64))];
    let wide: usize = scale.iter().map(|(_, text)| width(text) + 4).sum();
    let mut x = (area.right().saturating_sub(wide as u16 + 1)).max(x + 2);
    for (level, text) in scale {
        x = put(buf, area, (x, area.y), cx.glyphs.heat[level], cx.theme.heat[level]);
        x = put(buf, area, (x + 1, area.y), &text, cx.theme.dim) + 2;
    }
}

/// Draws the latency at which a row begins, for all rows if they are few.
fn label(row: u16, chosen: bool, layout: &Layout, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    put(buf, area, (area.x + GUTTER - 1, area.y), cx.glyphs.bar, cx.theme.dim);
    if chosen || layout.rows.count <= 8 || row.is_multiple_of(2) {
        let text = time(Band(layout.rows.bands(row).start).low());
        let x = area.x + (GUTTER - 2).saturating_sub(width(&text) as u16);
        put(buf, area, (x, area.y), &text, if chosen { cx.theme.selected } else { cx.theme.dim });
    }
}

/// The level of a count on a logarithmic scale; `None` for none. A single operation is visible beside many.
fn level(count: f64, most: f64) -> Option<usize> {
    let share = count.ln_1p() / most.ln_1p();
    (count > 0.0).then(|| ((share * (HEAT - 1) as f64).round() as usize).min(HEAT - 1))
}

fn fill(count: f64, most: f64, chosen: bool, cx: &PanelContext<'_>, cell: Rect, buf: &mut Buffer) {
    if let Some(level) = level(count, most) {
        for x in cell.left()..cell.right() {
            put(buf, cell, (x, cell.y), cx.glyphs.heat[level], cx.theme.heat[level]);
        }
    }
    if chosen {
        buf.set_style(cell, cx.theme.selected);
    }
}

/// Draws the time axis, and on it the chosen column.
fn times(view: &LatencyView, chosen: Option<usize>, layout: &Layout, cx: &PanelContext<'_>, buf: &mut Buffer) {
    let area = layout.areas.times;
    let inner = plot(area, layout);
    put(buf, area, (area.x + GUTTER - 1, area.y), cx.glyphs.axes[0], cx.theme.dim);
    let (Some(first), Some(last)) = (view.columns.first(), view.columns.last()) else { return };
    for x in inner.left()..inner.right() {
        put(buf, inner, (x, area.y), cx.glyphs.rule, cx.theme.dim);
    }
    let span = (first.window.from, last.window.to);
    let origin = if cx.head.live && cx.time.follows() { Origin::Now(span.1) } else { Origin::Start(cx.head.since) };
    let mut free = inner.x;
    for (at, label) in round_times(span, origin, inner.width) {
        let share = (at - span.0).as_f64() / (span.1 - span.0).as_f64().max(1.0);
        let x = inner.x + (share * f64::from(inner.width.saturating_sub(1))).round() as u16;
        let wide = width(&label) as u16;
        let start = x.saturating_sub(wide / 2).min(inner.right().saturating_sub(wide)).max(inner.x);
        if start >= free {
            free = put(buf, inner, (start, area.y), &label, cx.theme.dim) + 1;
        }
    }
    if let Some(chosen) = chosen {
        let x = inner.x + chosen as u16 * layout.cells.wide + layout.cells.wide / 2;
        put(buf, inner, (x, area.y), cx.glyphs.up, cx.theme.accent);
    }
}

/// Draws a row for each quantile: its value in the selected time, and each window's as a rising block.
pub(super) fn quantiles(view: &LatencyView, layout: &Layout, cx: &PanelContext<'_>, buf: &mut Buffer) {
    let area = layout.areas.quantiles;
    let context = WidgetContext { theme: cx.theme, glyphs: cx.glyphs };
    for ((at, name), y) in QUANTILES.iter().enumerate().zip(area.top()..area.bottom()) {
        let row = Rect { y, height: 1, ..area };
        put(buf, row, (row.x + 1, y), name, cx.theme.text);
        let total = view.total.iter().flat_map(|total| &total.rows).find(|row| row.label == *name);
        let value = total.and_then(|row| row.value).map_or("-".to_string(), time);
        let x = row.x + (GUTTER - 1).saturating_sub(width(&value) as u16);
        put(buf, row, (x, y), &value, cx.theme.heading);
        let values: Vec<Option<f64>> =
            (0..layout.cells.runs).map(|run| quantile(view, layout.cells.run(run), at)).collect();
        let wide: Vec<Option<f64>> =
            values.iter().flat_map(|value| std::iter::repeat_n(*value, usize::from(layout.cells.wide))).collect();
        let style = cx.theme.series[at % cx.theme.series.len()];
        sparkline(&wide, None, style, context, plot(row, layout), buf);
        if values.iter().all(Option::is_none) {
            continue;
        }
        let heading = at == 0 && layout.areas.over_time.is_empty();
        let top = if heading { "over time".to_string() } else { format!("up to {}", time(highest(&values))) };
        let after = plot(row, layout).right() + 2;
        if usize::from(row.right().saturating_sub(after)) > width(&top) {
            put(buf, row, (after, y), &top, cx.theme.dim);
        }
    }
}

/// A quantile of some columns: of one as measured, of several from their bands, because quantiles are not averaged.
fn quantile(view: &LatencyView, columns: Range<usize>, at: usize) -> Option<f64> {
    let columns: &[LatencyColumn] = view.columns.get(columns)?;
    if let [one] = columns {
        return one.quantiles[at];
    }
    let sums: Vec<f64> =
        (0..view.bands.len()).map(|band| columns.iter().map(|column| column.bands[band]).sum()).collect();
    let count: f64 = sums.iter().sum();
    let mut before = 0.0;
    let rank = count * OVER_TIME[at];
    let found = view.bands.iter().zip(sums).find(|(_, sum)| {
        before += sum;
        before >= rank
    });
    let enough = count * (1.0 - OVER_TIME[at]) >= FEWEST_BEYOND;
    found.filter(|_| enough).map(|(band, _)| (band.low * band.high).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_operation_is_seen_beside_a_million_and_none_is_blank() {
        assert_eq!((level(0.0, 1e6), level(0.25, 1e6), level(1.0, 1e6)), (None, Some(0), Some(0)));
        assert_eq!((level(1e6, 1e6), level(1e3, 1e6), level(1.0, 1.0)), (Some(HEAT - 1), Some(4), Some(HEAT - 1)));
    }
}
