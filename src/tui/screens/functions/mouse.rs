//! The mouse: a click selects, a second one opens, a click on a heading sorts; the wheel moves the selection.

use super::areas::Areas;
use super::draw::{Field, columns, frame};
use super::rows::Sort;
use super::{State, sections};
use crate::tui::keys::Action;
use crate::tui::panel::PanelRequest;
use crate::tui::widgets::table::Column;
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

/// Rows per step of the mouse wheel.
const WHEEL_ROWS: usize = 3;

pub(super) fn mouse(state: &mut State, event: MouseEvent, area: Rect) -> Vec<PanelRequest> {
    let areas = Areas::of(area, state);
    let at = (event.column, event.row).into();
    let wheel = |action| Some((action, areas.pane.contains(at)));
    let turned = match event.kind {
        MouseEventKind::ScrollDown => wheel(Action::Down),
        MouseEventKind::ScrollUp => wheel(Action::Up),
        _ => None,
    };
    if let Some((action, in_detail)) = turned {
        state.pane.focus = in_detail;
        let act = |state: &mut State| {
            if in_detail { state.act_in_detail(action, &areas) } else { state.act_on_table(action, &areas) }
        };
        return (0..WHEEL_ROWS).filter_map(|_| act(state)).last().unwrap_or_default();
    }
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) if areas.table.contains(at) => table(state, event, &areas),
        MouseEventKind::Down(MouseButton::Left) if areas.pane.contains(at) => detail(state, event, &areas),
        _ => Vec::new(),
    }
}

fn table(state: &mut State, event: MouseEvent, areas: &Areas) -> Vec<PanelRequest> {
    let Some(view) = &state.view else { return Vec::new() };
    let fields = columns(state, view);
    let columns: Vec<Column<'_>> = fields.iter().map(|(_, column)| *column).collect();
    let table = frame(state, &fields, &columns, areas.page());
    if event.row == areas.table.y {
        let field = table.column_at(areas.table, event.column).map(|at| fields[at].0);
        return field.and_then(sort_of).map(|sort| sort_by(state, sort)).unwrap_or_default();
    }
    let Some(row) = table.row_at(areas.table, event.row) else { return Vec::new() };
    if state.rows.selected() == Some(row) && !state.pane.focus {
        return state.go_into(Action::Enter);
    }
    state.rows.choose(view, row, areas.page());
    state.pane.start_anew();
    state.pane.focus &= areas.rule.width != 1;
    state.follow(areas)
}

/// Sorts by that order; the same order again reverses it.
fn sort_by(state: &mut State, sort: Sort) -> Vec<PanelRequest> {
    let reversed = state.rows.sort == sort && !state.rows.reversed;
    (state.rows.sort, state.rows.reversed) = (sort, reversed);
    state.arrange();
    vec![PanelRequest::Refresh]
}

fn sort_of(field: Field) -> Option<Sort> {
    match field {
        Field::Own | Field::Bar | Field::Error => Some(Sort::Own),
        Field::Total => Some(Sort::Total),
        Field::Change => Some(Sort::Change),
        Field::Samples => Some(Sort::Samples),
        Field::Name => Some(Sort::Name),
        Field::Kind | Field::Module => None,
    }
}

fn detail(state: &mut State, event: MouseEvent, areas: &Areas) -> Vec<PanelRequest> {
    let Some(detail) = state.view.as_ref().and_then(|view| view.detail.as_deref()) else { return Vec::new() };
    let was = std::mem::replace(&mut state.pane.focus, true);
    if event.row == areas.head.y + 2 && areas.head.height > 2 {
        if let Some(section) = sections::tab_at(detail, areas.head, event.column) {
            state.pane.open(section);
        }
        return Vec::new();
    }
    let Some(line) = sections::line_at(state, detail, areas, event.row) else { return Vec::new() };
    if was && state.pane.cursor.at == line {
        return state.pane.current(detail).map(|item| state.go_to(item)).unwrap_or_default();
    }
    let len = state.pane.items(detail).len();
    state.pane.cursor.go(line, len, areas.detail_page());
    state.pane.take(detail);
    Vec::new()
}
