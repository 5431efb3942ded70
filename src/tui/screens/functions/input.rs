//! Keys and the mouse, in the table and in the detail.

use super::areas::Areas;
use super::draw::{Field, columns, frame};
use super::pane::{Item, Pane};
use super::rows::Sort;
use super::state::State;
use super::{rows, sections, words};
use crate::tui::keys::Action;
use crate::tui::list::{ListRow, WHEEL_LINES, wheel};
use crate::tui::panel::PanelRequest;
use crate::tui::widgets::table::Column;
use crate::view::functions::file_name;
use crate::view::query::TaskFilter;
use crate::view::{CodeKind, GroupBy};
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

impl State {
    pub(super) fn act_on_table(&mut self, action: Action, areas: &Areas) -> Option<Vec<PanelRequest>> {
        self.view.as_ref()?;
        match action {
            Action::Enter | Action::Detail | Action::Right => Some(self.go_into(action)),
            Action::SearchNext => Some(self.jump(1, areas)),
            Action::SearchPrevious => Some(self.jump(-1, areas)),
            Action::Zoom => Some(self.zoom_to_row()),
            Action::Back => self.undo(),
            action if self.rows.act(action, areas.table.height) => {
                self.pane.start_anew();
                Some(self.follow(areas))
            }
            action => self.arrange_by(action),
        }
    }

    /// Handles actions that change the shown rows or their order.
    pub(super) fn arrange_by(&mut self, action: Action) -> Option<Vec<PanelRequest>> {
        let view = self.view.as_ref()?;
        match action {
            Action::Sort => (self.rows.sort, self.rows.reversed) = (self.rows.sort.next(view), false),
            Action::SortReverse => self.rows.reversed = !self.rows.reversed,
            Action::Filter if self.rows.list.needle().is_empty() => {
                return Some(vec![PanelRequest::Say("nothing to filter by: search for a name first".to_string())]);
            }
            Action::Filter => self.rows.list.only = !self.rows.list.only,
            Action::Who => self.group(match self.by {
                GroupBy::Function => GroupBy::Module,
                GroupBy::Module => GroupBy::Thread,
                GroupBy::Thread => GroupBy::Process,
                GroupBy::Process => GroupBy::Function,
            }),
            _ => return None,
        }
        self.arrange();
        Some(vec![PanelRequest::Refresh])
    }

    pub(super) fn group(&mut self, by: GroupBy) {
        self.by = by;
        self.rows.module = None;
        self.rows.list.forget();
        self.pane = Pane::on(self.pane.section);
    }

    /// Opens the callers and callees of a function, the functions of a module, or those of a thread or process.
    pub(super) fn go_into(&mut self, action: Action) -> Vec<PanelRequest> {
        let Some(row) = self.row() else { return Vec::new() };
        let (name, module, id) = (row.name.clone(), row.module.clone(), row.id);
        match (self.by, id) {
            (GroupBy::Function, _) => {
                self.rows.list.select((name, module));
                self.pane.focus = true;
            }
            // The only target to the right is the detail.
            _ if action == Action::Right => return Vec::new(),
            (GroupBy::Module, _) => {
                self.group(GroupBy::Function);
                self.rows.module = Some(module);
                self.arrange();
            }
            (GroupBy::Thread, Some(tid)) => {
                self.group(GroupBy::Function);
                return vec![PanelRequest::Only(TaskFilter { tids: vec![tid], ..TaskFilter::default() }, name)];
            }
            (GroupBy::Process, Some(pid)) => {
                self.group(GroupBy::Function);
                return vec![PanelRequest::Only(TaskFilter { pids: vec![pid], ..TaskFilter::default() }, name)];
            }
            (_, None) => return Vec::new(),
        }
        vec![PanelRequest::Refresh]
    }

    fn jump(&mut self, by: isize, areas: &Areas) -> Vec<PanelRequest> {
        match self.rows.find(by, areas.table.height) {
            true => self.follow(areas),
            false => vec![PanelRequest::Say(words::nothing_found(self.rows.list.needle()))],
        }
    }

    /// Updates the detail for the selection, if it is visible.
    pub(super) fn follow(&self, areas: &Areas) -> Vec<PanelRequest> {
        if areas.pane.is_empty() { Vec::new() } else { vec![PanelRequest::Refresh] }
    }

    pub(super) fn zoom_to_row(&self) -> Vec<PanelRequest> {
        let Some(row) = self.row().filter(|_| self.by == GroupBy::Function) else { return Vec::new() };
        let detail = self.around().filter(|detail| detail.name == row.name && detail.module == row.module);
        let first = detail.and_then(|detail| Some((detail, detail.callers.entries.first()?)));
        let path = first.map(|(detail, caller)| detail.path_of(caller.path));
        vec![PanelRequest::Zoom(path.unwrap_or_else(|| vec![row.name.clone()]))]
    }

    fn undo(&mut self) -> Option<Vec<PanelRequest>> {
        if self.rows.list.filters() {
            self.rows.list.only = false;
        } else if let Some(module) = self.rows.module.take() {
            self.group(GroupBy::Module);
            self.rows.list.select((file_name(&module).to_string(), module));
        } else {
            return None;
        }
        self.arrange();
        Some(vec![PanelRequest::Refresh])
    }

    pub(super) fn act_in_detail(&mut self, action: Action, areas: &Areas) -> Option<Vec<PanelRequest>> {
        let Some(detail) = self.view.as_ref().and_then(|view| view.detail.as_deref()) else {
            self.pane.focus &= action != Action::Back;
            return Some(Vec::new());
        };
        let needle = self.rows.list.needle();
        let matches = |item| rows::fits(words::name_of(detail, self.pane.section, item), needle);
        let items = self.pane.items(detail).into_iter();
        let rows: Vec<_> = items.map(|item| ListRow { key: item.id, matches: matches(item) }).collect();
        match (action, self.pane.current(detail)) {
            (Action::Enter, Some(item)) => return Some(self.go_to(item)),
            (Action::Zoom, Some(item)) => return Some(self.zoom_to(item)),
            (Action::More | Action::Less, Some(item)) => {
                self.pane.turn_all(detail, item, action == Action::More);
                self.pane.settle(detail);
            }
            (Action::Left | Action::Right, item) => self.step_aside(action == Action::Right, item, areas),
            (Action::Detail, _) => self.pane.open(self.pane.section.beside(1).unwrap_or_default()),
            (Action::SearchNext | Action::SearchPrevious, _) if !rows.iter().any(|row| row.matches) => {
                return Some(vec![PanelRequest::Say(words::nothing_found(needle))]);
            }
            (Action::Back, _) => return Some(self.back()),
            (action, _) => return self.pane.list.act(action, &rows, areas.lines.height).then(Vec::new),
        }
        Some(Vec::new())
    }

    /// Right unfolds and descends, Left folds and ascends; if there is nothing to fold, they change the section.
    fn step_aside(&mut self, right: bool, item: Option<Item>, areas: &Areas) {
        let Some(detail) = self.view.as_ref().and_then(|view| view.detail.as_deref()) else { return };
        let rows = self.pane.list_rows(detail);
        match (right, item.and_then(|item| item.open), item) {
            (true, Some(false), Some(item)) => self.pane.turn(item, true),
            (true, Some(true), _) => _ = self.pane.list.act(Action::Down, &rows, areas.lines.height),
            (false, Some(true), Some(item)) => self.pane.turn(item, false),
            (right, _, item) => match (right, item.and_then(|item| self.pane.above(detail, item))) {
                (false, Some(above)) => self.pane.list.go(&rows, above, areas.lines.height),
                _ => {
                    let by = if right { 1 } else { -1 };
                    match self.pane.section.beside(by) {
                        Some(section) => self.pane.open(section),
                        // The table is left of the first section.
                        None => self.pane.focus &= right,
                    }
                }
            },
        }
    }

    pub(super) fn go_to(&mut self, item: Item) -> Vec<PanelRequest> {
        let Some(detail) = self.around() else { return Vec::new() };
        let from = (detail.name.clone(), detail.module.clone());
        let Some(entry) = self.pane.section.tree(detail).and_then(|tree| tree.entries.get(item.index)) else {
            return Vec::new();
        };
        if entry.kind == CodeKind::Heading {
            return vec![PanelRequest::Say(format!("{} is not a function", entry.name))];
        }
        let to = (entry.name.clone(), entry.module.clone());
        if to == from {
            return Vec::new();
        }
        self.pane.leave(from);
        self.look_around(to);
        vec![PanelRequest::Refresh]
    }

    fn zoom_to(&self, item: Item) -> Vec<PanelRequest> {
        let Some(detail) = self.around() else { return Vec::new() };
        match self.pane.section.tree(detail).and_then(|tree| tree.entries.get(item.index)) {
            Some(entry) => vec![PanelRequest::Zoom(detail.path_of(entry.path))],
            None => self.zoom_to_row(),
        }
    }

    /// Returns to the previous function, or to the table if there is none.
    fn back(&mut self) -> Vec<PanelRequest> {
        match self.pane.back() {
            Some(key) => {
                self.look_around(key);
                vec![PanelRequest::Refresh]
            }
            None => {
                self.pane.focus = false;
                Vec::new()
            }
        }
    }
}

pub(super) fn mouse(state: &mut State, event: MouseEvent, area: Rect) -> Vec<PanelRequest> {
    let areas = Areas::of(area, state);
    let at = (event.column, event.row).into();
    if let Some(action) = wheel(event.kind) {
        let in_detail = areas.pane.contains(at);
        state.pane.focus = in_detail;
        let act = |state: &mut State| {
            if in_detail { state.act_in_detail(action, &areas) } else { state.act_on_table(action, &areas) }
        };
        return (0..WHEEL_LINES).filter_map(|_| act(state)).last().unwrap_or_default();
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
    let table = frame(state, &fields, &columns, areas.table.height);
    if event.row == areas.table.y {
        let field = table.column_at(areas.table, event.column).map(|at| fields[at].0);
        return field.and_then(sort_of).map(|sort| sort_by(state, sort)).unwrap_or_default();
    }
    let Some(row) = table.row_at(areas.table, event.row) else { return Vec::new() };
    if state.rows.selected() == Some(row) && !state.pane.focus {
        return state.go_into(Action::Enter);
    }
    state.rows.go(row, areas.table.height);
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
        Field::Ipc | Field::Mpki | Field::Kind | Field::Module => None,
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
    let rows = state.pane.list_rows(detail);
    if was && state.pane.list.at(&rows) == Some(line) {
        return state.pane.current(detail).map(|item| state.go_to(item)).unwrap_or_default();
    }
    state.pane.list.go(&rows, line, areas.lines.height);
    Vec::new()
}
