//! The table of points: one row per width, with the most important columns at the left.
//! A value that was not measured is a dash, never a zero.

use super::{Page, State, words};
use crate::tui::panel::PanelContext;
use crate::tui::widgets::WidgetContext;
use crate::tui::widgets::put_line;
use crate::tui::widgets::table::{Cell, Column, Cut, Table};
use crate::view::fit::{end, width, wrap};
use crate::view::sweep::{PointView, SweepView};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Columns that stay on a narrow terminal, most important first; all others are dropped before them, from the last.
const FIRST: [&str; 11] = [
    "ops_per_s",
    "efficiency",
    "latency_p99_ns",
    "latency_p50_ns",
    "us_per_op",
    "cpu_ns_per_op",
    "path_length",
    "cpi",
    "frequency",
    "utilisation",
    "speedup",
];
/// The contents of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FormattedNumber {
    Width,
    Region,
    Runs,
    /// A measured value, by its index among the view's columns.
    Value(usize),
    /// The interval of the throughput.
    Spread,
}

/// Draws the table; below it the laws and the reasons for missing values, as far as there is room.
pub(super) fn draw(state: &State, view: &SweepView, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let shown = shown(view);
    let columns: Vec<Column<'_>> = shown.iter().map(|shown| column(view, cx, *shown)).collect();
    let table = Table {
        columns: &columns,
        sorted: None,
        rows: view.points.len(),
        selected: state.at().filter(|_| state.page != Page::Functions),
        top: top(state, area.height),
    };
    let context = WidgetContext { theme: cx.theme, glyphs: cx.glyphs };
    let cell = |row: usize, column: usize| {
        let text = text(view, &view.points[row], shown[column], cx);
        let style = match (shown[column], text.as_str()) {
            (FormattedNumber::Value(_), "-") => cx.theme.missing,
            (FormattedNumber::Width, _) => cx.theme.heading,
            (FormattedNumber::Value(_), _) => cx.theme.text,
            _ => cx.theme.dim,
        };
        Cell::new(text, style)
    };
    table.draw(cell, context, area, buf);
    let used = (view.points.len() as u16).saturating_add(1).min(area.height);
    let below = Rect { y: area.y + used, height: area.height - used, ..area };
    let room = usize::from(below.width.saturating_sub(2));
    let lines = words::below(view).into_iter().flat_map(|text| wrap(&text, room.max(10)));
    for (line, y) in lines.zip(below.top()..below.bottom()) {
        let row = Rect { y, height: 1, ..below };
        put_line(buf, row, row.x + 1, &end(&line, room, cx.glyphs.ellipsis), cx.theme.dim);
    }
}

/// The row at a terminal line.
pub(super) fn row_at(state: &State, area: Rect, y: u16) -> Option<usize> {
    let row = usize::from(y.checked_sub(area.y + 1)?) + top(state, area.height);
    (row < state.points().len()).then_some(row)
}

fn top(state: &State, height: u16) -> usize {
    state.widths.top(&state.widths(), height)
}

fn shown(view: &SweepView) -> Vec<FormattedNumber> {
    let mut shown = vec![FormattedNumber::Width, FormattedNumber::Region, FormattedNumber::Runs];
    for (at, column) in view.columns.iter().enumerate() {
        shown.push(FormattedNumber::Value(at));
        if column.name == "ops_per_s" {
            shown.push(FormattedNumber::Spread);
        }
    }
    shown
}

fn column<'a>(view: &'a SweepView, cx: &PanelContext<'_>, shown: FormattedNumber) -> Column<'a> {
    let (title, rank) = match shown {
        FormattedNumber::Width => ("n", 0),
        FormattedNumber::Region => ("CPUs", 19),
        FormattedNumber::Runs => ("runs", 20),
        FormattedNumber::Spread => (cx.glyphs.plus_minus, 11),
        FormattedNumber::Value(at) => {
            view.columns.get(at).map_or(("", u8::MAX), |column| (column.label, rank(view, column.name, at)))
        }
    };
    let widest = view.points.iter().map(|point| width(&text(view, point, shown, cx))).max().unwrap_or(0);
    let least = widest.max(width(title)).min(24) as u16;
    Column { title, least, grows: 0, right: shown != FormattedNumber::Region, rank, cut: Cut::End }
}

/// Columns that were never measured are dropped first; throughput stays.
fn rank(view: &SweepView, name: &str, at: usize) -> u8 {
    let known = |point: &PointView| point.values.get(name).is_some_and(|value| value.mean().is_some());
    if !view.points.iter().any(known) {
        return 140_u8.saturating_add(at.min(100) as u8);
    }
    let first = FIRST.iter().position(|first| *first == name).map(|at| at as u8);
    first.unwrap_or_else(|| 30_u8.saturating_add(at.min(100) as u8))
}

fn text(view: &SweepView, point: &PointView, shown: FormattedNumber, cx: &PanelContext<'_>) -> String {
    match shown {
        FormattedNumber::Width => point.n.to_string(),
        FormattedNumber::Region => point.region.label(),
        FormattedNumber::Runs => point.runs.to_string(),
        FormattedNumber::Spread => {
            words::spread(point).map_or(String::new(), |half| format!("{}{half}", cx.glyphs.plus_minus))
        }
        FormattedNumber::Value(at) => view.columns.get(at).map_or(String::new(), |column| words::value(point, column)),
    }
}
