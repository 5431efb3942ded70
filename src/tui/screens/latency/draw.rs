//! Draws the parts of the screen in their areas, or why there is nothing to draw.

use super::layout::Layout;
use super::{State, distribution, heat_map, slow, words};
use crate::tui::panel::PanelContext;
use crate::tui::widgets::{put, put_line};
use crate::view::escape::visible;
use crate::view::fit::{end, middle, width, wrap};
use crate::view::latency::{CAPTIONS, LatencyRow, OperationLatencyView};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Columns of a quantile's name and of its value.
const NAME: u16 = 8;
const VALUE: u16 = 9;

/// Draws the screen.
pub(super) fn draw(state: &State, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let area = area.intersection(buf.area);
    let Some(view) = state.view.as_deref() else {
        put_line(buf, area, area.x + 1, "waiting for the first window", cx.theme.dim);
        return;
    };
    if let Some((what, remedy)) = words::nothing(view, cx) {
        return nothing(&what, &remedy, cx, area, buf);
    }
    let layout = Layout::of(view, area);
    let Some(total) = &view.total else { return };
    put_line(buf, layout.areas.head, area.x + 1, &head(total, cx, area.width), cx.theme.heading);
    table(total, cx, layout.areas.table, buf);
    if !layout.areas.distribution.is_empty() {
        distribution::draw(state, view, cx, layout.areas.distribution, buf);
    }
    if layout.areas.heat.is_empty() {
        let row = layout.areas.over_time;
        put(buf, row, (row.x + 1, row.y), "over time", cx.theme.dim);
    } else {
        heat_map::draw(state, view, &layout, cx, buf);
    }
    heat_map::quantiles(view, &layout, cx, buf);
    slow::draw(view, cx, layout.areas.slow, buf);
}

/// Columns of a path that still tell programs apart.
const PATH: usize = 8;

/// What was measured, how often. The path of a program is cut or left out before the function's name and the numbers.
fn head(total: &OperationLatencyView, cx: &PanelContext<'_>, columns: u16) -> String {
    let (about, source) = (visible(&total.about()).into_owned(), visible(&total.source).into_owned());
    let numbers = about.strip_prefix(source.as_str()).unwrap_or_default();
    let room = usize::from(columns.saturating_sub(2));
    let (what, place) = source.split_at(source.find(" in /").map_or(0, |at| at + " in ".len()));
    let left = room.saturating_sub(width(what) + width(numbers));
    let source = match what.strip_suffix(" in ") {
        Some(what) if left < PATH.min(width(place)) => what.to_string(),
        _ => format!("{what}{}", middle(place, left, cx.glyphs.ellipsis)),
    };
    end(&format!("{source}{numbers}"), room, cx.glyphs.ellipsis)
}

fn nothing(what: &str, remedy: &[String], cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let room = usize::from(area.width.saturating_sub(2)).max(10);
    let style = |text: &str| if text.starts_with("ironlaw ") { cx.theme.accent } else { cx.theme.dim };
    let remedy = remedy.iter().map(|text| (text.as_str(), style(text)));
    let lines = std::iter::once((what, cx.theme.text)).chain(remedy);
    let lines = lines.flat_map(|(text, style)| {
        wrap(&visible(text), room).into_iter().map(move |line| (line, style)).collect::<Vec<_>>()
    });
    for ((line, style), y) in lines.zip(area.top()..area.bottom()) {
        put(buf, area, (area.x + 1, y), &line, style);
    }
}

/// Draws the quantiles with their intervals.
fn table(total: &OperationLatencyView, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let right = |text: &str, end: u16| area.x + end.saturating_sub(width(text) as u16);
    put(buf, area, (right(CAPTIONS[1], NAME + VALUE), area.y), CAPTIONS[1], cx.theme.dim);
    put(buf, area, (area.x + NAME + VALUE + 2, area.y), CAPTIONS[2], cx.theme.dim);
    for (row, y) in total.rows.iter().zip(area.top() + 1..area.bottom()) {
        let [name, value, interval] = LatencyRow::cells(row);
        put(buf, area, (area.x + 1, y), &name, cx.theme.text);
        let style = if row.value.is_some() { cx.theme.heading } else { cx.theme.missing };
        put(buf, area, (right(&value, NAME + VALUE), y), &value, style);
        put(buf, area, (area.x + NAME + VALUE + 2, y), &interval, cx.theme.dim);
    }
}
