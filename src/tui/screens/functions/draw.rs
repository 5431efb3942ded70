//! Draws the table of functions, its description and its keys; the detail next to it draws itself.

use super::areas::Areas;
use super::rows::Sort;
use super::sections::{self, rate};
use super::state::{State, mark};
use super::words::{self, percent, points};
use crate::tui::keys::Action;
use crate::tui::panel::PanelContext;
use crate::tui::widgets::table::{Cell, Column, Cut, Table};
use crate::tui::widgets::{WidgetContext, bar, put};
use crate::view::GroupBy;
use crate::view::escape::visible;
use crate::view::fit::{end, width};
use crate::view::functions::{FunctionsView, Row, file_name, is_real};
use crate::view::number;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Columns of a share's bar.
const BAR: usize = 6;

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Own,
    Bar,
    Error,
    Total,
    Change,
    Samples,
    Ipc,
    Mpki,
    Kind,
    Name,
    Module,
}

/// Draws the screen.
pub(super) fn draw(state: &State, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let areas = Areas::of(area, state);
    let context = WidgetContext { theme: cx.theme, glyphs: cx.glyphs };
    match &state.view {
        None => message("waiting for the first window", context, area, buf),
        Some(view) if view.rows.is_empty() => message(&nothing(view), context, area, buf),
        Some(view) => {
            if !areas.table.is_empty() {
                table(state, view, context, areas.table, buf);
                footer(state, view, cx, areas.footer, buf);
            }
            rule(areas.rule, context, buf);
            sections::draw(state, view, cx, &areas, buf);
        }
    }
}

fn message(text: &str, context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
    put(buf, area, (area.x + 1, area.y), text, context.theme.dim);
}

/// Explains why there are no rows.
fn nothing(view: &FunctionsView) -> String {
    if view.off_cpu {
        return "no thread waited in this time, or no wait has ended yet".to_string();
    }
    match view.cpu_time.and_then(|time| time.value()) {
        Some(seconds) if seconds < 0.01 => {
            format!("no samples in this time: the target did not run (CPU time {seconds:.2} s)")
        }
        Some(seconds) => format!("no samples in this time, though the target ran: CPU time {seconds:.2} s"),
        None => "no samples in this time".to_string(),
    }
}

fn rule(area: Rect, context: WidgetContext<'_>, buf: &mut Buffer) {
    let symbol = if area.width == 1 { context.glyphs.bar } else { context.glyphs.rule };
    for place in area.positions() {
        put(buf, area, (place.x, place.y), symbol, context.theme.dim);
    }
}

/// The table's columns with their headings. On a narrow terminal, the least important have the highest rank.
pub(super) fn columns(state: &State, view: &FunctionsView) -> Vec<(Field, Column<'static>)> {
    let number = |title, least, rank| Column { title, least, right: true, rank, ..Column::default() };
    let what = match view.by {
        GroupBy::Function => "function",
        GroupBy::Module => "module",
        GroupBy::Thread => "thread",
        GroupBy::Process => "process",
    };
    let is_code = matches!(view.by, GroupBy::Function | GroupBy::Module);
    let mut columns = vec![
        (Field::Own, number(if is_code { "self" } else { "share" }, 7, 0)),
        (Field::Bar, Column { least: BAR as u16, rank: 6, ..Column::default() }),
    ];
    if !view.off_cpu {
        columns.push((Field::Error, number("+-", 5, 4)));
    }
    if is_code {
        columns.push((Field::Total, number("total", 7, 0)));
    }
    if view.compared {
        let title = if state.rows.sort == Sort::Total { "ch.total" } else { "change" };
        columns.push((Field::Change, number(title, 8, 2)));
    }
    columns.push((Field::Samples, number(if view.off_cpu { "blocked" } else { "samples" }, 9, 3)));
    if view.code_ipc.is_some() {
        columns.extend([(Field::Ipc, number("IPC", 6, 2)), (Field::Mpki, number("MPKI", 6, 4))]);
    }
    if is_code {
        columns.push((Field::Kind, Column { least: 1, rank: 1, ..Column::default() }));
    }
    let cut = if view.by == GroupBy::Function { Cut::Name } else { Cut::Middle };
    columns.push((Field::Name, Column { title: what, least: 27, grows: 3, cut, ..Column::default() }));
    if view.by == GroupBy::Function {
        columns.push((Field::Module, Column { title: "module", least: 8, grows: 1, rank: 5, ..Column::default() }));
    }
    columns
}

/// The column of the sort order.
pub(super) fn sorted(sort: Sort) -> Field {
    match sort {
        Sort::Own => Field::Own,
        Sort::Total => Field::Total,
        Sort::Change => Field::Change,
        Sort::Samples => Field::Samples,
        Sort::Name => Field::Name,
    }
}

/// The table without its cells, for drawing and for the mouse.
pub(super) fn frame<'a>(
    state: &State,
    fields: &[(Field, Column<'_>)],
    columns: &'a [Column<'a>],
    height: u16,
) -> Table<'a> {
    let by = fields.iter().position(|(field, _)| *field == sorted(state.rows.sort));
    let descending = (state.rows.sort == Sort::Name) == state.rows.reversed;
    Table {
        columns,
        sorted: by.map(|at| (at, descending)),
        rows: state.rows.len(),
        selected: state.rows.selected(),
        top: state.rows.top(height),
    }
}

fn table(state: &State, view: &FunctionsView, context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
    let mut fields = columns(state, view);
    if let Some((_, column)) = fields.iter_mut().find(|(field, _)| *field == Field::Error) {
        column.title = context.glyphs.plus_minus;
    }
    let columns: Vec<Column<'_>> = fields.iter().map(|(_, column)| *column).collect();
    let shown = frame(state, &fields, &columns, area.height);
    let value = |row: usize, column: usize| match state.rows.get(view, row) {
        Some(row) => cell(state, view, row, fields[column].0, context),
        None => Cell::new("", Style::new()),
    };
    shown.draw(value, context, area, buf);
    if state.rows.len() == 0 {
        let text = format!("no name holds '{}'", visible(state.rows.list.needle()));
        let text = if state.rows.list.filters() { text } else { "none of its functions in this time".to_string() };
        put(buf, area, (area.x + 1, area.y + 1), &text, context.theme.dim);
    }
}

fn cell<'a>(state: &State, view: &FunctionsView, row: &'a Row, field: Field, context: WidgetContext<'_>) -> Cell<'a> {
    let theme = context.theme;
    match field {
        Field::Own => Cell::new(percent(row.self_share), theme.text),
        Field::Bar => Cell::new(bar::filled(row.self_share, BAR, context.glyphs), theme.accent),
        Field::Error => Cell::new(words::error(row.self_error), theme.dim),
        Field::Total => Cell::new(percent(row.total_share), theme.text),
        Field::Change => change(state, row, context),
        Field::Samples if view.off_cpu => {
            Cell::new(number::seconds(row.total_weight as f64 / 1e9).joined(), theme.text)
        }
        Field::Samples => Cell::new(number::count(row.self_samples), theme.text),
        Field::Ipc => rate(row.rates.map(|rates| rates.ipc), context),
        Field::Mpki => rate(row.rates.map(|rates| rates.mpki), context),
        Field::Kind => Cell::new(mark(row.kind, row.inlined), theme.dim),
        Field::Name => {
            let style = if state.rows.finds(row) { theme.found } else { theme.text };
            Cell::new(row.name.as_str(), style)
        }
        Field::Module => Cell::new(file_name(&row.module), theme.dim),
    }
}

/// A change that chance may explain is marked as none; the cell still shows its size.
fn change<'a>(state: &State, row: &Row, context: WidgetContext<'_>) -> Cell<'a> {
    let Some(change) = row.change else { return Cell::new("-", context.theme.missing) };
    let (difference, error) = match state.rows.sort {
        Sort::Total => (row.total_share - change.total_before, change.total_error),
        _ => (row.self_share - change.self_before, change.self_error),
    };
    if !is_real(difference, error) {
        return Cell::new(format!("= {}", points(difference)), context.theme.dim);
    }
    let style = if difference > 0.0 { context.theme.warn } else { context.theme.accent };
    Cell::new(points(difference), style)
}

/// Draws the description of the rows, and the keys.
fn footer(state: &State, view: &FunctionsView, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let what = what(state, view, cx);
    let room = usize::from(area.width.saturating_sub(2));
    let y = area.y;
    put(buf, area, (area.x + 1, y), &end(&what, room, cx.glyphs.ellipsis), cx.theme.dim);
    let is_function = view.by == GroupBy::Function;
    let enter = if is_function { "callers" } else { "functions" };
    let mut keys = vec![(Action::Enter, enter), (Action::Sort, "sort"), (Action::Who, "group")];
    keys.extend(is_function.then_some((Action::Zoom, "flame")));
    keys.extend([(Action::Search, "search"), (Action::Filter, "filter")]);
    cx.hints(&keys, width(&what) + 3, area, buf);
}

fn what(state: &State, view: &FunctionsView, cx: &PanelContext<'_>) -> String {
    let (one, more) = match view.by {
        GroupBy::Function => ("function", "functions"),
        GroupBy::Module => ("module", "modules"),
        GroupBy::Thread => ("thread", "threads"),
        GroupBy::Process => ("process", "processes"),
    };
    let all = (view.rows.len() + view.left_out) as u64;
    let mut text = match state.rows.len() {
        len if len == view.rows.len() => words::many(all, one, more),
        len => format!("{} of {}", number::count(len as u64), words::many(all, one, more)),
    };
    if let Some(module) = &state.rows.module {
        text += &format!(" in {}", visible(file_name(module)));
    }
    if state.rows.list.filters() {
        text += &format!(" with '{}'", visible(state.rows.list.needle()));
    }
    if view.left_out > 0 {
        let most = percent(view.left_out_share.max(0.0001));
        text += &format!(" ({} of at most {most} each not listed)", number::count(view.left_out as u64));
    }
    let counted = if view.off_cpu { "time blocked" } else { cx.head.event.as_str() };
    text + &format!(" {} share of {}", cx.glyphs.dot, visible(counted))
}
