//! Draws the answer and the table below it.

use super::State;
use super::rows::Row;
use crate::tui::panel::PanelContext;
use crate::tui::theme::Theme;
use crate::tui::widgets::WidgetContext;
use crate::tui::widgets::interval::interval;
use crate::tui::widgets::put_line;
use crate::tui::widgets::table::{Cell, Column, Cut, Table, widened};
use crate::view::diff::{ComparisonView, MetricRow, PartRow, most, words};
use crate::view::escape::visible;
use crate::view::fit::{end, width, wrap};
use crate::view::number::percent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Minimum number of table rows if the answer needs more.
const TABLE: u16 = 8;
/// Columns of the drawing of an interval.
const PICTURE: u16 = 15;

/// The areas of answer and table.
pub(super) struct Areas {
    pub answer: Rect,
    pub table: Rect,
}

impl Areas {
    pub fn of(area: Rect, view: Option<&ComparisonView>) -> Areas {
        let wanted = view.map_or(0, |view| lines(view, area.width).len() as u16 + 1);
        // The answer's first line is the last to be dropped.
        let answer = wanted.min(area.height.saturating_sub(TABLE).max(2)).min(area.height);
        Areas {
            answer: Rect { height: answer, ..area },
            table: Rect { y: area.y + answer, height: area.height - answer, ..area },
        }
    }
}

/// The wrapped sentences of the answer; true marks the lines of the first sentence.
fn lines(view: &ComparisonView, width: u16) -> Vec<(String, bool)> {
    let room = usize::from(width.saturating_sub(2)).max(10);
    let wrapped =
        |(at, text): (usize, &String)| wrap(&visible(text), room).into_iter().map(move |line| (line, at == 0));
    view.headline.iter().enumerate().flat_map(wrapped).collect()
}

/// Draws the screen.
pub(super) fn draw(state: &State, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let area = area.intersection(buf.area);
    let Some(view) = state.view() else {
        put_line(buf, area, area.x + 1, "waiting for the comparison", cx.theme.dim);
        return;
    };
    let areas = Areas::of(area, Some(view));
    for ((line, first), y) in lines(view, area.width).into_iter().zip(areas.answer.top()..areas.answer.bottom()) {
        let row = Rect { y, height: 1, ..areas.answer };
        let text = end(&line, usize::from(row.width.saturating_sub(2)), cx.glyphs.ellipsis);
        put_line(buf, row, row.x + 1, &text, if first { answer_style(view, cx) } else { cx.theme.dim });
    }
    if !areas.table.is_empty() {
        table(state, cx, areas.table, buf);
    }
}

/// The style of the answer; its text has the same meaning.
fn answer_style(view: &ComparisonView, cx: &PanelContext<'_>) -> Style {
    match view.answer.as_ref().map(words::verdict) {
        Some("worse") => cx.theme.warn,
        Some("better" | "same") => cx.theme.good,
        _ => cx.theme.heading,
    }
}

const fn column(title: &'static str, least: u16, grows: u16, right: bool, rank: u8) -> Column<'static> {
    Column { title, least, grows, right, rank, cut: Cut::End }
}

const COLUMNS: [Column<'static>; 9] = [
    column("", 2, 0, false, 0),
    column("", 26, 3, false, 0),
    column("base", 8, 0, true, 5),
    column("new", 8, 0, true, 3),
    column("change", 8, 0, true, 0),
    column("interval", 18, 0, true, 4),
    column("", PICTURE, 0, false, 6),
    column("of it", 6, 0, true, 2),
    column("verdict", 7, 0, false, 1),
];

fn table(state: &State, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let (rows, list_rows) = (state.rows(), state.list_rows());
    let scales = Scales::of(&rows);
    let wide = |row: usize, column: usize| width(&cell(state, &rows[row], column, &scales, cx).text);
    let top = state.list.top(&list_rows, area.height);
    let shown = top..(top + usize::from(area.height)).min(rows.len());
    let columns = widened(&COLUMNS, &[2, 3, 4, 7], shown, wide);
    let table = Table { columns: &columns, sorted: None, rows: rows.len(), selected: state.list.at(&list_rows), top };
    let context = WidgetContext { theme: cx.theme, glyphs: cx.glyphs };
    table.draw(|row, column| cell(state, &rows[row], column, &scales, cx), context, area, buf);
    // Headings and reasons take the whole line.
    for (row, y) in rows.iter().skip(table.top).zip(area.top() + 1..area.bottom()) {
        let line = Rect { y, height: 1, ..area };
        let room = |x: u16| usize::from(line.right().saturating_sub(x + 1));
        match row {
            Row::Heading(name, about) => {
                let x = put_line(buf, line, line.x + 1, &end(name, room(line.x), cx.glyphs.ellipsis), cx.theme.heading);
                put_line(buf, line, x + 2, &end(about, room(x + 2), cx.glyphs.ellipsis), cx.theme.dim);
            }
            Row::Text(text) => {
                put_line(buf, line, line.x + 3, &end(text, room(line.x + 3), cx.glyphs.ellipsis), cx.theme.dim);
            }
            Row::Factor(_) | Row::Quantity(..) => {}
        }
    }
}

/// The scales of the drawings for factors and for quantities.
struct Scales {
    factors: f64,
    quantities: f64,
}

impl Scales {
    fn of(rows: &[Row<'_>]) -> Scales {
        let factor = |row: &Row<'_>| if let Row::Factor(part) = row { Some((part.ns, None)) } else { None };
        let quantity = |row: &Row<'_>| if let Row::Quantity(row, _) = row { row.on_scale() } else { None };
        Scales { factors: most(rows.iter().filter_map(factor)), quantities: most(rows.iter().filter_map(quantity)) }
    }
}

fn cell(state: &State, row: &Row<'_>, column: usize, scales: &Scales, cx: &PanelContext<'_>) -> Cell<'static> {
    let changed = row.step().map_or(cx.theme.dim, |step| cx.theme.change_text(step));
    let text = match (row, column) {
        (Row::Heading(..) | Row::Text(_), _) => String::new(),
        (row, 0) => row.step().map_or(String::new(), |step| Theme::change_mark(step).to_string()),
        (Row::Factor(part), column) => factor(part, column, scales.factors, cx),
        (Row::Quantity(row, _), column) => quantity(row, column, scales.quantities, cx),
    };
    let found = state.list.finds(|text| row.fits(text));
    let style = match column {
        1 if found => cx.theme.found,
        2 | 5 => cx.theme.dim,
        0 | 4 | 6 | 8 => changed,
        _ => cx.theme.text,
    };
    Cell::new(text, style)
}

fn factor(part: &PartRow, column: usize, scale: f64, cx: &PanelContext<'_>) -> String {
    let value = |at: usize| part.values[at].map_or("-".to_string(), |value| words::factor_value(part.factor, value));
    match column {
        1 => part.label.to_string(),
        2 => value(0),
        3 => value(1),
        4 => words::relative(part.ratio - 1.0),
        5 => format!("{} per op", words::amount(part)),
        6 => interval(part.ns, None, scale, usize::from(PICTURE), cx.glyphs),
        7 => part.share.map_or("-".to_string(), |share| percent(share).joined()),
        _ => String::new(),
    }
}

fn quantity(row: &MetricRow, column: usize, scale: f64, cx: &PanelContext<'_>) -> String {
    let dash = |text: Option<String>| text.unwrap_or("-".to_string());
    match column {
        1 => row.label.to_string(),
        2 => words::value(row, &row.base),
        3 => words::value(row, &row.new),
        4 => dash(words::own_change(row)),
        5 => dash(words::interval(row)),
        6 => row
            .on_scale()
            .map_or(String::new(), |(value, ends)| interval(value, ends, scale, usize::from(PICTURE), cx.glyphs)),
        7 => String::new(),
        _ => words::verdict(row).to_string(),
    }
}
