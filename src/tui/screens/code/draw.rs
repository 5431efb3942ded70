//! Draws the table of code that changed, and the line above it.

use super::rows::{RowKind, fits, step};
use super::state::State;
use crate::tui::keys::Action;
use crate::tui::panel::PanelContext;
use crate::tui::theme::Theme;
use crate::tui::widgets::WidgetContext;
use crate::tui::widgets::interval::interval;
use crate::tui::widgets::put_line;
use crate::tui::widgets::table::{Cell, Column, Cut, Table, widened};
use crate::view::CodeKind;
use crate::view::diff::{CodeRow, CodeView, most, words};
use crate::view::escape::visible;
use crate::view::fit::{end, width};
use crate::view::number::percent;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Columns of the drawing of a change.
const PICTURE: u16 = 17;

const fn column(title: &'static str, least: u16, grows: u16, right: bool, rank: u8) -> Column<'static> {
    Column { title, least, grows, right, rank, cut: Cut::Middle }
}

const COLUMNS: [Column<'static>; 10] = [
    column("", 2, 0, false, 0),
    column("function", 22, 4, false, 0),
    column("module", 12, 1, false, 7),
    column("base", 8, 0, true, 4),
    column("new", 8, 0, true, 2),
    column("change", 9, 0, true, 0),
    column("error", 8, 0, true, 6),
    column("", PICTURE, 0, false, 5),
    column("by", 7, 0, true, 1),
    column("of it", 6, 0, true, 3),
];

/// Draws the screen.
pub(super) fn draw(state: &State, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let area = area.intersection(buf.area);
    if area.is_empty() {
        return;
    }
    let line = |text: &str, y: u16, buf: &mut Buffer| {
        let room = usize::from(area.width.saturating_sub(2));
        put_line(buf, Rect { y, height: 1, ..area }, area.x + 1, &end(text, room, cx.glyphs.ellipsis), cx.theme.dim);
    };
    let (Some(view), code) = (state.view(), state.code()) else {
        return line("waiting for the comparison", area.y, buf);
    };
    let Some(code) = code else {
        return line(&format!("no code is compared: {}", view.code_missing.unwrap_or("no samples")), area.y, buf);
    };
    title(state, code, cx, area, buf);
    let rows = state.rows();
    if rows.is_empty() {
        return if area.height > 1 {
            line(nothing(state), area.y + 1, buf)
        };
    }
    let (list_rows, below) = (state.list_rows(), State::table(area));
    let scale = scale(&rows);
    let wide = |row: usize, column: usize| width(&cell(state, code, rows[row], column, scale, cx).text);
    let top = state.list.top(&list_rows, below.height);
    let shown = top..(top + usize::from(below.height)).min(rows.len());
    let mut columns = COLUMNS;
    // A path starts with its innermost function, which must stay.
    columns[1].cut = if state.row_kind == RowKind::Paths { Cut::End } else { Cut::Name };
    let columns = widened(&columns, &[3, 4, 5, 6, 8, 9], shown, wide);
    let table = Table {
        columns: &columns,
        sorted: Some((state.order.column(), !state.reversed)),
        rows: rows.len(),
        selected: state.list.at(&list_rows),
        top,
    };
    let context = WidgetContext { theme: cx.theme, glyphs: cx.glyphs };
    table.draw(|row, column| cell(state, code, rows[row], column, scale, cx), context, below, buf);
}

/// The scale of the drawings: the largest real change, else the largest change.
fn scale(rows: &[&CodeRow]) -> f64 {
    let real = most(rows.iter().filter(|row| row.real).map(|row| row.on_scale()));
    if real > 0.0 { real } else { most(rows.iter().map(|row| row.on_scale())) }
}

/// Explains why the table is empty.
fn nothing(state: &State) -> &'static str {
    match (state.list.filters(), state.row_kind) {
        (true, _) => "nothing matches the search",
        (false, RowKind::Waits) => "time off the CPU is not on both sides, or no share of samples on a CPU",
        (false, _) => "no samples on both sides",
    }
}

/// Draws the kind of rows, the total cost, and the keys that switch to other rows.
fn title(state: &State, code: &CodeView, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let row = Rect { height: 1, ..area };
    let [base, new] = code.whole.map(|whole| words::cost(code.unit, whole));
    let x = put_line(buf, row, row.x + 1, state.row_kind.title(), cx.theme.heading);
    let real = state.row_kind.rows(code).iter().filter(|row| row.real).count();
    let of = match state.row_kind {
        RowKind::Waits => format!("time blocked {}", words::per(code.per)),
        _ => format!("CPU time {}: {base} -> {new}", words::per(code.per)),
    };
    let text = format!("{of}, {real} changed beyond chance");
    let next = state.row_kind.next().title().to_lowercase();
    let hint = format!("{}: {next}  {}: divide", cx.keys.first(Action::Who), cx.keys.first(Action::Per));
    let room = usize::from(row.right().saturating_sub(x + 3));
    put_line(buf, row, x + 2, &end(&text, room, cx.glyphs.ellipsis), cx.theme.dim);
    if room > width(&text) + width(&hint) + 3 {
        put_line(buf, row, row.right() - width(&hint) as u16 - 1, &hint, cx.theme.dim);
    }
}

fn cell(
    state: &State,
    code: &CodeView,
    row: &CodeRow,
    column: usize,
    scale: f64,
    cx: &PanelContext<'_>,
) -> Cell<'static> {
    let unit = state.row_kind.unit(code);
    let changed = if row.real { cx.theme.change_text(step(row)) } else { cx.theme.dim };
    match column {
        0 => Cell::new(Theme::change_mark(step(row)), changed),
        1 => {
            let found = state.list.finds(|text| fits(row, text));
            Cell::new(name(row), if found { cx.theme.found } else { cx.theme.text }).marked(mark(row.kind))
        }
        2 => Cell::new(row.module.clone(), cx.theme.dim),
        3 => Cell::new(words::cost(unit, row.base), cx.theme.dim),
        4 => Cell::new(words::cost(unit, row.new), cx.theme.text),
        5 => Cell::new(words::growth(unit, row), changed),
        6 => Cell::new(format!("{}{}", cx.glyphs.plus_minus, words::cost(unit, 2.0 * row.error)), cx.theme.dim),
        7 => {
            let (value, ends) = row.on_scale();
            Cell::new(interval(value, ends, scale, usize::from(PICTURE), cx.glyphs), changed)
        }
        8 => Cell::new(by(row), changed),
        _ => match row.share {
            Some(share) => Cell::new(percent(share).joined(), cx.theme.text),
            None => Cell::new("-", cx.theme.missing),
        },
    }
}

/// The mark for the kind of code, as in the flame graph.
fn mark(kind: CodeKind) -> &'static str {
    match kind {
        CodeKind::Kernel => "k ",
        CodeKind::Jit => "J ",
        CodeKind::User | CodeKind::Heading => "",
    }
}

/// The function; a path lists its callers after it.
fn name(row: &CodeRow) -> String {
    let callers: Vec<&str> = row.callers.iter().rev().map(String::as_str).collect();
    let behind = if callers.is_empty() { String::new() } else { format!(" < {}", callers.join(" < ")) };
    format!("{}{behind}", row.name)
}

fn by(row: &CodeRow) -> String {
    if row.state == "changed" { words::relative(row.new / row.base - 1.0) } else { row.state.to_string() }
}

/// A row in full, in one line.
pub(super) fn status(code: &CodeView, row_kind: RowKind, row: &CodeRow, cx: &PanelContext<'_>) -> String {
    let unit = row_kind.unit(code);
    let module = match visible(&row.module) {
        module if module.is_empty() => String::new(),
        module => format!(" ({module})"),
    };
    let per = words::per(code.per);
    let share = row.share.map_or(String::new(), |share| format!(", {} of the change", percent(share).joined()));
    let sure = if row.real { String::new() } else { "; no more than chance".to_string() };
    let parts =
        row.inlined.iter().map(|part| format!("; inlined: {} {}", visible(&part.name), words::growth(unit, part)));
    let inlined: String = parts.collect();
    format!(
        "{}{module}: {} -> {} {per}, {} {}{} ({}){share}, q {}{sure}{inlined}",
        visible(&row.name),
        words::cost(unit, row.base),
        words::cost(unit, row.new),
        words::growth(unit, row),
        cx.glyphs.plus_minus,
        words::cost(unit, 2.0 * row.error),
        by(row),
        words::probability(row.q),
    )
}
