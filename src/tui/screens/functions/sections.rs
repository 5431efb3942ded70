//! Draws the detail around one function: its name and shares, the section names, the open section's list, the keys.

use super::areas::Areas;
use super::pane::{Item, SECTIONS, Section};
use super::rows;
use super::state::{State, mark};
use super::words::{self, percent};
use crate::tui::keys::Action;
use crate::tui::panel::PanelContext;
use crate::tui::widgets::table::{Cell, Column, Cut, Table, places};
use crate::tui::widgets::{WidgetContext, put};
use crate::view::CodeKind;
use crate::view::Measured;
use crate::view::code_ipc;
use crate::view::escape::visible;
use crate::view::fit::{function_name, middle, width, wrap};
use crate::view::functions::{Detail, FunctionsView, Tree, file_name};
use crate::view::number;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Columns a fork of the tree is indented by.
const INDENT: usize = 2;

/// Draws the detail into its areas.
pub(super) fn draw(state: &State, view: &FunctionsView, cx: &PanelContext<'_>, areas: &Areas, buf: &mut Buffer) {
    if areas.pane.is_empty() {
        return;
    }
    let context = WidgetContext { theme: cx.theme, glyphs: cx.glyphs };
    let Some(detail) = &view.detail else {
        put(buf, areas.pane, (areas.pane.x + 1, areas.pane.y), "looking ...", context.theme.dim);
        return;
    };
    head(state, view, detail, context, areas.head, buf);
    match lack(state.pane.section, detail, view.off_cpu) {
        Some(text) => {
            let inside = Rect { x: areas.lines.x + 1, width: areas.lines.width.saturating_sub(2), ..areas.lines };
            for (text, y) in wrap(text, usize::from(inside.width)).iter().zip(inside.top()..inside.bottom()) {
                put(buf, inside, (inside.x, y), text, context.theme.dim);
            }
        }
        None => list(state, view, detail, context, areas, buf),
    }
    cx.hints(&keys(state), 0, areas.hints, buf);
}

fn keys(state: &State) -> Vec<(Action, &'static str)> {
    if !state.pane.focus {
        return vec![(Action::Enter, "into it"), (Action::Zoom, "flame")];
    }
    let back = (Action::Back, if state.pane.has_history() { "last function" } else { "table" });
    let tree = matches!(state.pane.section, Section::Callers | Section::Callees);
    let mut keys = vec![back, (Action::Detail, "section"), (Action::Zoom, "flame")];
    if tree {
        keys.splice(0..0, [(Action::Enter, "go to it")]);
        keys.extend([(Action::Right, "unfold"), (Action::More, "all")]);
    }
    keys
}

/// Draws the function, its shares and the sections.
fn head(
    state: &State,
    view: &FunctionsView,
    detail: &Detail,
    context: WidgetContext<'_>,
    area: Rect,
    buf: &mut Buffer,
) {
    let room = usize::from(area.width.saturating_sub(2));
    let style = if state.pane.focus { context.theme.accent } else { context.theme.heading };
    let module = middle(&visible(file_name(&detail.module)), room / 3, context.glyphs.ellipsis);
    let left = room.saturating_sub(width(&module) + 2);
    let title = function_name(&visible(&detail.name), left, context.glyphs.ellipsis);
    put(buf, area, (area.x + 1, area.y), &title, style);
    let right = area.right().saturating_sub(width(&module) as u16 + 1);
    put(buf, area, (right, area.y), &module, context.theme.dim);
    put(buf, area, (area.x + 1, area.y + 1), &shares(view, detail, context), context.theme.dim);
    for (section, x) in tabs(detail, area) {
        let open = section == state.pane.section;
        let style = if open { context.theme.tab_open } else { context.theme.dim };
        put(buf, area, (x, area.y + 2), &tab(section, detail, area), style);
    }
}

fn shares(view: &FunctionsView, detail: &Detail, context: WidgetContext<'_>) -> String {
    let Some(row) = detail.row.as_ref().filter(|row| row.total_samples > 0) else {
        return "no samples in this time".to_string();
    };
    let samples = words::samples(row.total_samples, view.off_cpu);
    let dot = context.glyphs.dot;
    format!("self {} {dot} total {} {dot} {samples} = 100%", percent(row.self_share), percent(row.total_share))
}

/// The name of a section with the number of its entries, if all of these fit.
fn tab(section: Section, detail: &Detail, area: Rect) -> String {
    let counted = |section: &Section| format!("{} {}", section.title(), number::count(section.count(detail) as u64));
    let room = usize::from(area.width.saturating_sub(2));
    let fits = SECTIONS.iter().map(|section| width(&counted(section)) + 2).sum::<usize>() <= room + 2;
    if fits { counted(&section) } else { section.title().to_string() }
}

/// The sections and the columns where their names begin.
pub(super) fn tabs(detail: &Detail, area: Rect) -> Vec<(Section, u16)> {
    let mut x = area.x + 1;
    let place = |section: &Section| {
        let here = x;
        x = x.saturating_add(width(&tab(*section, detail, area)) as u16 + 2);
        (*section, here)
    };
    SECTIONS.iter().map(place).collect()
}

/// The section whose name covers a column.
pub(super) fn tab_at(detail: &Detail, area: Rect, column: u16) -> Option<Section> {
    let hit = |(section, x): &(Section, u16)| (*x..*x + width(&tab(*section, detail, area)) as u16).contains(&column);
    tabs(detail, area).into_iter().find(hit).map(|(section, _)| section)
}

/// Explains why a section is empty.
fn lack(section: Section, detail: &Detail, off_cpu: bool) -> Option<&'static str> {
    if section.count(detail) > 0 {
        return None;
    }
    Some(match section {
        Section::Callers | Section::Callees => "no samples of it in this time",
        Section::Lines if detail.instructions.is_empty() => {
            "no lines are known, and no sample was taken in its own code"
        }
        Section::Lines => match detail.row.as_ref().map(|row| row.kind) {
            Some(CodeKind::Kernel) => {
                "no lines: the kernel's list of symbols has none. Addresses are in the next section."
            }
            Some(CodeKind::Jit) => "no lines: code made just in time comes without. Addresses are in the next section.",
            _ => {
                "no lines: its module has no debug information (build it with -g, or install what belongs to it). \
                  Addresses are in the next section."
            }
        },
        Section::Addresses => "no addresses: no sample was taken in its own code",
        Section::Mix if off_cpu => "no classes of instructions: time off the CPU is spent in none",
        Section::Mix => "no samples in this time",
    })
}

/// A column of source lines or instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Field {
    Share,
    Total,
    Samples,
    Ipc,
    Mpki,
    Address,
    Text,
    Line,
    Class,
}

/// The columns of lines or instructions that have something to show.
fn fields(section: Section, detail: &Detail) -> Vec<Field> {
    if section == Section::Mix {
        return vec![Field::Share, Field::Samples, Field::Total, Field::Class];
    }
    let has_rates = detail.instructions.iter().any(|own| own.rates.is_some());
    let has_texts = detail.instructions.iter().any(|own| own.text.is_some());
    let all = [
        (Field::Share, true),
        (Field::Total, section == Section::Lines),
        (Field::Samples, true),
        (Field::Ipc, has_rates),
        (Field::Mpki, has_rates),
        (Field::Address, section == Section::Addresses),
        (Field::Text, section == Section::Addresses && has_texts),
        (Field::Line, true),
    ];
    all.into_iter().filter(|(_, shown)| *shown).map(|(field, _)| field).collect()
}

/// The open section's columns.
fn columns(section: Section, off_cpu: bool, detail: &Detail) -> Vec<Column<'static>> {
    let number = |title, least, rank| Column { title, least, right: true, rank, ..Column::default() };
    let share = number("share", 7, 0);
    let samples = number(if off_cpu { "blocked" } else { "samples" }, 8, 2);
    let kind = Column { least: 1, rank: 1, ..Column::default() };
    let name = |title| Column { title, least: 20, grows: 3, ..Column::default() };
    let module = Column { title: "module", least: 10, grows: 1, rank: 3, ..Column::default() };
    let column = |field: Field| match field {
        Field::Share => Column { title: if section == Section::Addresses { "share" } else { "self" }, ..share },
        Field::Total => number(if section == Section::Mix { "all" } else { "total" }, 7, 1),
        Field::Class => Column { title: "class of instructions", least: 12, grows: 1, ..Column::default() },
        Field::Samples => samples,
        Field::Ipc => number("IPC", 6, 2),
        Field::Mpki => number("MPKI", 6, 3),
        Field::Address => Column { title: "address", least: 18, grows: 0, cut: Cut::Front, ..Column::default() },
        Field::Text => Column { title: "instruction", least: 20, grows: 1, rank: 1, ..Column::default() },
        Field::Line => {
            let rank = if section == Section::Lines { 0 } else { 2 };
            Column { title: "line", least: 20, grows: 1, rank, cut: Cut::Front, ..Column::default() }
        }
    };
    match section {
        Section::Callers => vec![share, samples, kind, name("called from"), module],
        Section::Callees => vec![share, samples, kind, name("calls"), module],
        Section::Lines | Section::Addresses | Section::Mix => fields(section, detail).into_iter().map(column).collect(),
    }
}

/// The open section's list without its cells, for drawing and for the mouse.
pub(super) fn frame<'a>(state: &State, detail: &Detail, columns: &'a [Column<'a>], height: u16) -> Table<'a> {
    let rows = state.pane.list_rows(detail);
    Table {
        columns,
        sorted: None,
        rows: rows.len(),
        selected: state.pane.list.at(&rows).filter(|_| state.pane.focus),
        top: state.pane.list.top(&rows, height),
    }
}

fn list(
    state: &State,
    view: &FunctionsView,
    detail: &Detail,
    context: WidgetContext<'_>,
    areas: &Areas,
    buf: &mut Buffer,
) {
    let (section, area) = (state.pane.section, areas.lines);
    let (items, columns) = (state.pane.items(detail), columns(section, view.off_cpu, detail));
    let fields = fields(section, detail);
    let placed = places(&columns, area.width.saturating_sub(2));
    let room =
        |column: usize| placed.iter().find(|place| place.column == column).map_or(0, |place| usize::from(place.width));
    let cell = |row: usize, column: usize| {
        let item = items[row];
        let found = rows::fits(words::name_of(detail, section, item), state.rows.list.needle());
        match section.tree(detail) {
            Some(tree) => branch(tree, section, item, (column, room(column)), found, view.off_cpu, context),
            None => place(detail, section, item, fields[column], (found, view.off_cpu), context),
        }
    };
    frame(state, detail, &columns, area.height).draw(cell, context, area, buf);
    let left_out = match (section, section.tree(detail)) {
        (_, Some(tree)) => tree.left_out,
        (Section::Lines, None) => detail.lines_left_out,
        (Section::Mix, None) => 0,
        (_, None) => detail.instructions_left_out,
    };
    let shown = items.len() as u16;
    if left_out > 0 && shown + 1 < area.height {
        let text = format!("{} smaller ones left out", number::count(left_out as u64));
        put(buf, area, (area.x + 1, area.y + 1 + shown), &text, context.theme.dim);
    }
}

fn branch<'a>(
    tree: &'a Tree,
    section: Section,
    item: Item,
    (column, room): (usize, usize),
    found: bool,
    off_cpu: bool,
    context: WidgetContext<'_>,
) -> Cell<'a> {
    let theme = context.theme;
    let Some(entry) = tree.entries.get(item.index) else { return Cell::new("", theme.text) };
    match column {
        0 => Cell::new(percent(entry.share), theme.text),
        1 => Cell::new(many(entry.weight, entry.samples, off_cpu), theme.dim),
        2 => Cell::new(mark(entry.kind, entry.inlined), theme.dim),
        3 => {
            let goes_on = if section == Section::Callers { context.glyphs.left } else { context.glyphs.right };
            let fold = match item.open {
                Some(false) => "+",
                _ if item.goes_on => goes_on,
                Some(true) => "-",
                None => " ",
            };
            let indent = (usize::from(item.forks) * INDENT).min(room / 2);
            let name = function_name(&visible(&entry.name), room.saturating_sub(indent + 2), context.glyphs.ellipsis);
            let style = match entry.kind {
                _ if found => theme.found,
                CodeKind::Heading => theme.dim,
                _ => theme.text,
            };
            Cell::new(format!("{}{fold} {name}", " ".repeat(indent)), style)
        }
        _ => Cell::new(file_name(&entry.module), theme.dim),
    }
}

/// Formats the number of samples, or the time blocked off-CPU.
fn many(weight: u64, samples: u64, off_cpu: bool) -> String {
    if off_cpu { number::seconds(weight as f64 / 1e9).joined() } else { number::count(samples) }
}

/// A rate of code; a dash if it is not known.
pub(super) fn rate<'a>(value: Option<Measured>, context: WidgetContext<'_>) -> Cell<'a> {
    match value.filter(|value| value.value().is_some()) {
        Some(value) => Cell::new(code_ipc::cell(value), context.theme.text),
        None => Cell::new("-", context.theme.missing),
    }
}

/// A source line or an instruction.
fn place<'a>(
    detail: &'a Detail,
    section: Section,
    item: Item,
    field: Field,
    (found, off_cpu): (bool, bool),
    context: WidgetContext<'_>,
) -> Cell<'a> {
    let theme = context.theme;
    let style = if found { theme.found } else { theme.text };
    if section == Section::Lines {
        let Some(line) = detail.lines.get(item.index) else { return Cell::new("", theme.text) };
        return match field {
            Field::Share => Cell::new(percent(line.self_share), theme.text),
            Field::Total => Cell::new(percent(line.total_share), theme.text),
            Field::Samples => Cell::new(many(line.self_weight, line.self_samples, off_cpu), theme.dim),
            Field::Ipc => rate(line.rates.map(|rates| rates.ipc), context),
            Field::Mpki => rate(line.rates.map(|rates| rates.mpki), context),
            _ => Cell::new(words::line_place(line), style),
        };
    }
    if section == Section::Mix {
        let Some(row) = detail.mix.get(item.index) else { return Cell::new("", theme.text) };
        return match field {
            Field::Share if row.self_samples == 0 => Cell::new("-", theme.missing),
            Field::Share => Cell::new(percent(row.self_share), theme.text),
            Field::Samples => Cell::new(number::count(row.self_samples), theme.dim),
            Field::Total => Cell::new(percent(row.all_share), theme.dim),
            _ => Cell::new(row.label(), if row.class.is_none() && !found { theme.missing } else { style }),
        };
    }
    let Some(own) = detail.instructions.get(item.index) else { return Cell::new("", theme.text) };
    match field {
        Field::Share | Field::Total => Cell::new(percent(own.share), theme.text),
        Field::Samples => Cell::new(many(own.weight, own.samples, off_cpu), theme.dim),
        Field::Ipc => rate(own.rates.map(|rates| rates.ipc), context),
        Field::Mpki => rate(own.rates.map(|rates| rates.mpki), context),
        Field::Address => Cell::new(own.place.as_str(), style),
        Field::Text => match &own.text {
            Some(text) => Cell::new(text.as_str(), style),
            None => Cell::new("-", theme.missing),
        },
        Field::Line | Field::Class => {
            Cell::new(words::source(own), if own.line.is_some() { theme.dim } else { theme.missing })
        }
    }
}

/// The list's line at a screen line.
pub(super) fn line_at(state: &State, detail: &Detail, areas: &Areas, y: u16) -> Option<usize> {
    let columns = columns(state.pane.section, false, detail);
    frame(state, detail, &columns, areas.lines.height).row_at(areas.lines, y)
}
