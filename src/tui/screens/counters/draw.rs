//! Draws the table, and the formula and history of the selected row.

use super::{Row, State};
use crate::model::{Measure, Section, Unit};
use crate::tui::panel::PanelContext;
use crate::tui::widgets;
use crate::tui::widgets::WidgetContext;
use crate::tui::widgets::chart::{Chart, Origin, Series};
use crate::tui::widgets::sparkline::{sparkline, squeezed};
use crate::tui::widgets::table::{Cell, Column, Cut, Table, places};
use crate::view::fit::end;
use crate::view::number::{self, FormattedNumber};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

const fn column(title: &'static str, least: u16, grows: u16, right: bool, rank: u8) -> Column<'static> {
    Column { title, least, grows, right, rank, cut: Cut::End }
}

const METRICS: [Column<'static>; 7] = [
    column("", 10, 0, false, 3),
    column("metric", 22, 1, false, 0),
    column("value", 8, 0, true, 0),
    column("", 5, 0, false, 0),
    column("before", 12, 0, true, 1),
    column("counted", 7, 0, true, 4),
    column("over time", 16, 2, false, 2),
];
const COUNTERS: [Column<'static>; 7] = [
    column("whose", 10, 0, false, 2),
    column("counter", 22, 1, false, 0),
    column("total", 18, 0, true, 0),
    column("/s", 14, 0, true, 1),
    column("unit", 12, 0, false, 5),
    column("counted", 7, 0, true, 4),
    column("over time", 16, 2, false, 3),
];
const COURSE: usize = 6;

/// The areas of the table and of the detail below it.
pub(super) fn parts(state: &State, area: Rect) -> (Rect, Rect) {
    let below = match area.height {
        _ if state.folded => 0,
        0..=11 => 0,
        12..=19 => 2,
        height => (height / 3).max(8),
    };
    let table = area.height - below;
    (Rect { height: table, ..area }, Rect { y: area.y + table, height: below, ..area })
}

/// Draws the screen.
pub(super) fn draw(state: &State, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    if state.view.is_none() {
        widgets::put_line(buf, area, area.x + 1, "waiting for the first window", cx.theme.dim);
        return;
    }
    let (table, below) = parts(state, area);
    draw_table(state, cx, table, buf);
    draw_detail(state, cx, below, buf);
}

fn draw_table(state: &State, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let (rows, list_rows) = (state.rows(), state.list_rows());
    let all = if state.raw { &COUNTERS } else { &METRICS };
    let shown = |at: &usize| state.raw || all[*at].title != "before" || cx.compared;
    let kept: Vec<usize> = (0..all.len()).filter(shown).collect();
    let columns: Vec<_> = kept.iter().map(|at| all[*at]).collect();
    let table = Table {
        columns: &columns,
        sorted: None,
        rows: rows.len(),
        selected: state.list.at(&list_rows),
        top: state.list.top(&list_rows, area.height),
    };
    let context = WidgetContext { theme: cx.theme, glyphs: cx.glyphs };
    let cell = |at: usize, column: usize| {
        let before = at.checked_sub(1).filter(|_| at > table.top).map(|before| rows[before]);
        match rows[at] {
            Row::Metric(_) => metric(state, rows[at], before, kept[column], cx),
            Row::Counter(_) => counter(state, rows[at], kept[column], cx),
        }
    };
    table.draw(cell, context, area, buf);
    let inner = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let placed = places(&columns, inner.width);
    for place in placed.iter().filter(|place| kept[place.column] == COURSE) {
        for (row, y) in rows.iter().skip(table.top).zip(area.y + 1..area.bottom()) {
            let cell = Rect { x: inner.x + place.x, y, width: place.width, height: 1 };
            let values: Vec<_> = course(row).iter().map(|(_, value)| *value).collect();
            if values.iter().any(Option::is_some) {
                let values = squeezed(&values, usize::from(place.width));
                sparkline(&values, None, cx.theme.accent, context, cell, buf);
            }
        }
    }
}

fn course<'a>(row: &Row<'a>) -> &'a [(crate::units::Nanos, Option<f64>)] {
    match row {
        Row::Metric(metric) => &metric.history,
        Row::Counter(counter) => &counter.history,
    }
}

fn section(section: Section) -> &'static str {
    match section {
        Section::Operation => "operation",
        Section::Latency => "latency",
        Section::Cpu => "CPU",
        Section::Hardware => "hardware",
        Section::Scheduler => "scheduler",
        Section::Memory => "memory",
        Section::Cgroup => "cgroup",
        Section::Host => "host",
        Section::Probe => "canaries",
        Section::Tool => "ironlaw",
    }
}

fn found<'a>(state: &State, row: Row<'_>, text: &'a str, cx: &PanelContext<'_>, known: bool) -> Cell<'a> {
    let hit = state.list.finds(|text| row.fits(text));
    Cell::new(
        text,
        if hit {
            cx.theme.found
        } else if known {
            cx.theme.text
        } else {
            cx.theme.dim
        },
    )
}

fn metric<'a>(state: &State, row: Row<'a>, before: Option<Row<'a>>, column: usize, cx: &PanelContext<'_>) -> Cell<'a> {
    let Row::Metric(metric) = row else { return Cell::new("", cx.theme.text) };
    let shown = |value: Measure<f64>| value.value().map(|value| number::quantity(*value, metric.unit));
    let missing = || Cell::new("-", cx.theme.missing);
    match column {
        // Only the first row of a section shows its name.
        0 => match before {
            Some(Row::Metric(before)) if before.section == metric.section => Cell::new("", cx.theme.dim),
            _ => Cell::new(section(metric.section), cx.theme.heading),
        },
        1 => found(state, row, metric.label, cx, metric.value.value().is_some()),
        2 => {
            let high = metric.value.value().zip(metric.threshold).is_some_and(|(value, threshold)| *value > threshold);
            let style = if high { cx.theme.warn } else { cx.theme.text };
            shown(metric.value).map_or_else(missing, |FormattedNumber { number, .. }| Cell::new(number, style))
        }
        3 => shown(metric.value)
            .map_or_else(|| Cell::new("", cx.theme.dim), |FormattedNumber { unit, .. }| Cell::new(unit, cx.theme.dim)),
        4 => metric.before.and_then(shown).map_or_else(missing, |before| Cell::new(before.joined(), cx.theme.dim)),
        5 => coverage(metric.value, cx),
        _ => Cell::new("", cx.theme.text),
    }
}

fn counter<'a>(state: &State, row: Row<'a>, column: usize, cx: &PanelContext<'_>) -> Cell<'a> {
    let Row::Counter(counter) = row else { return Cell::new("", cx.theme.text) };
    let count = |value: Measure<f64>| match value.value() {
        Some(value) => Cell::new(number::count(value.round().max(0.0) as u64), cx.theme.text),
        None => Cell::new("-", cx.theme.missing),
    };
    match column {
        0 => Cell::new(counter.scope, cx.theme.dim),
        1 => found(state, row, &counter.name, cx, counter.total.value().is_some()),
        2 => count(counter.total),
        3 => count(counter.rate),
        4 => Cell::new(counter.unit, cx.theme.dim),
        5 => coverage(counter.total, cx),
        _ => Cell::new("", cx.theme.text),
    }
}

/// The share of the time in which the event was counted; less than 100% means multiplexing.
fn coverage<'a>(value: Measure<f64>, cx: &PanelContext<'_>) -> Cell<'a> {
    match value {
        Measure::Known { quality, .. } if quality.coverage < 0.995 => {
            Cell::new(number::percent(quality.coverage).joined(), cx.theme.warn)
        }
        Measure::Known { .. } => Cell::new("100%", cx.theme.dim),
        Measure::Missing(_) => Cell::new("-", cx.theme.missing),
    }
}

/// Draws the formula, its inputs, and the history as a chart if there is room.
fn draw_detail(state: &State, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let (Some(row), true) = (state.chosen(), area.height > 0) else { return };
    let (name, about, unit) = match row {
        Row::Metric(metric) => {
            let from = metric.events.join(", ");
            (metric.label, format!("{} = {}  from {from}", metric.name, metric.formula), metric.unit)
        }
        Row::Counter(counter) => {
            let group = counter.group.map_or("in no group".to_string(), |group| format!("in group {group}"));
            let text = format!(
                "{} of {}, {group}, counts {}; the course is per second",
                counter.name, counter.scope, counter.unit
            );
            (counter.name.as_str(), text, Unit::PerSecond)
        }
    };
    let line = |at: u16| Rect { y: area.y + at, height: 1, ..area };
    widgets::rule(WidgetContext { theme: cx.theme, glyphs: cx.glyphs }, line(0), buf);
    if area.height > 1 {
        let text = end(&about, usize::from(area.width.saturating_sub(2)), cx.glyphs.ellipsis);
        widgets::put_line(buf, line(1), area.x + 1, &text, cx.theme.dim);
    }
    let points = course(&row);
    if area.height < 7 || points.is_empty() {
        return;
    }
    let chart = Chart {
        series: &[Series { name, points }],
        unit,
        span: (cx.head.from, cx.head.to),
        origin: if cx.head.live { Origin::Now(cx.head.now) } else { Origin::Start(cx.head.since) },
        top: None,
        range: None,
        mark: cx.time.mark,
    };
    let below = Rect { x: area.x + 1, y: area.y + 2, width: area.width.saturating_sub(2), height: area.height - 2 };
    chart.draw(WidgetContext { theme: cx.theme, glyphs: cx.glyphs }, below, buf);
}
