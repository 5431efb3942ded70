//! Draws a page onto the screen.

use super::page::{Drawing, Item, Page, PageElement};
use super::split::mark;
use super::words;
use crate::model::MetricId;
use crate::tui::panel::PanelContext;
use crate::tui::widgets::bar::{Part, stacked};
use crate::tui::widgets::chart::{Chart, Origin, Series};
use crate::tui::widgets::sparkline::{sparkline, squeezed};
use crate::tui::widgets::{WidgetContext, put};
use crate::view::overview::{Factor, Overview};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Draws the screen before the first snapshot.
pub(super) fn waiting(cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    if area.height > 0 {
        buf.set_stringn(area.x, area.y, " waiting for the first window", usize::from(area.width), cx.theme.dim);
    }
}

/// Draws the page and highlights the selected item.
pub(super) fn draw(page: &Page, view: &Overview, selected: Option<&Item>, cx: &PanelContext<'_>, buf: &mut Buffer) {
    for piece in &page.pieces {
        let at = piece.at.intersection(buf.area);
        if at.area() > 0 {
            draw_piece(piece, at, view, cx, buf);
            if piece.item.is_some() && piece.item.as_ref() == selected {
                // A chart is highlighted by its name: a coloured area would hide the curve.
                let height = if matches!(piece.drawn, Drawing::Chart(_)) { 1 } else { at.height };
                buf.set_style(Rect { height, ..at }, cx.theme.selected);
            }
        }
    }
}

fn draw_piece(piece: &PageElement, at: Rect, view: &Overview, cx: &PanelContext<'_>, buf: &mut Buffer) {
    match &piece.drawn {
        Drawing::Text(line) => _ = buf.set_line(at.x, at.y, line, at.width),
        Drawing::Rule => {
            for x in at.left()..at.right() {
                buf.set_stringn(x, at.y, cx.glyphs.rule, 1, cx.theme.dim);
            }
        }
        Drawing::Bar => bar(view, at, cx, buf),
        Drawing::Curve(id) => {
            if let Some(factor) = view.factor(*id) {
                curve(factor, at, cx, buf);
            }
        }
        Drawing::Chart(id) => {
            if let Some(factor) = view.factor(*id) {
                chart(factor, view, at, cx, buf);
            }
        }
    }
}

/// Draws the parts one after another, each with its own fill.
fn bar(view: &Overview, at: Rect, cx: &PanelContext<'_>, buf: &mut Buffer) {
    let parts = &view.split.parts;
    if let Some(why) = parts.iter().find_map(|part| part.value.why()) {
        let text = format!("{} {}", words::DASH, why.text());
        put(buf, at, (at.x, at.y), &text, cx.theme.missing);
        return;
    }
    let known = |(at, part): (usize, &Factor)| Part {
        share: part.value.value().copied().unwrap_or(0.0),
        style: mark(at, cx).1,
    };
    stacked(&parts.iter().enumerate().map(known).collect::<Vec<_>>(), context(cx), at, buf);
}

fn context<'a>(cx: &PanelContext<'a>) -> WidgetContext<'a> {
    WidgetContext { theme: cx.theme, glyphs: cx.glyphs }
}

/// Draws the history in one row, starting at the left where the value starts.
fn curve(factor: &Factor, at: Rect, cx: &PanelContext<'_>, buf: &mut Buffer) {
    let values: Vec<_> = factor.history.iter().map(|(_, value)| *value).collect();
    let values = squeezed(&values, usize::from(at.width));
    let at = Rect { width: at.width.min(values.len() as u16), ..at };
    sparkline(&values, None, cx.theme.accent, context(cx), at, buf);
}

/// Draws the name and value, and below them the history with axes.
fn chart(factor: &Factor, view: &Overview, at: Rect, cx: &PanelContext<'_>, buf: &mut Buffer) {
    let reference = (factor.id == MetricId::CpuUtilisation && view.cpus > 0).then_some(view.cpus);
    let of = reference.map(|cpus| format!(" of {cpus}")).unwrap_or_default();
    let x = put(buf, at, (at.x, at.y), factor.label, cx.theme.dim);
    put(buf, at, (x + 1, at.y), &format!("{}{of}", words::value(factor)), cx.theme.heading);
    let series = [Series { name: factor.label, points: &factor.history }];
    let (from, to) = (cx.head.from, cx.head.to);
    let chart = Chart {
        series: &series,
        unit: factor.unit,
        span: (from, to),
        origin: if cx.head.live && cx.time.follows() { Origin::Now(to) } else { Origin::Start(cx.head.since) },
        top: reference.map(|cpus| cpus as f64),
        range: cx.time.range.map(|range| (range.anchor.min(range.other), range.anchor.max(range.other))),
        mark: cx.time.mark,
    };
    let below = Rect { y: at.y.saturating_add(1), height: at.height.saturating_sub(1), ..at };
    chart.draw(context(cx), below, buf);
}
