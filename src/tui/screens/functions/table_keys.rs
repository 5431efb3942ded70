//! Keys in the table: move, sort, filter, group, open a row.

use super::areas::Areas;
use super::pane::Pane;
use super::{State, words};
use crate::tui::keys::Action;
use crate::tui::panel::PanelRequest;
use crate::view::GroupBy;
use crate::view::functions::file_name;
use crate::view::query::TaskFilter;

impl State {
    pub(super) fn act_on_table(&mut self, action: Action, areas: &Areas) -> Option<Vec<PanelRequest>> {
        let view = self.view.as_ref()?;
        if self.rows.cursor.act(action, self.rows.len(), areas.page()) {
            self.rows.take(view);
            self.pane.start_anew();
            return Some(self.follow(areas));
        }
        match action {
            Action::Enter | Action::Detail | Action::Right => Some(self.go_into(action)),
            Action::SearchNext => Some(self.jump(false, areas)),
            Action::SearchPrevious => Some(self.jump(true, areas)),
            Action::Zoom => Some(self.zoom_to_row()),
            Action::Back => self.undo(),
            action => self.arrange_by(action),
        }
    }

    /// Handles actions that change the shown rows or their order.
    pub(super) fn arrange_by(&mut self, action: Action) -> Option<Vec<PanelRequest>> {
        let view = self.view.as_ref()?;
        match action {
            Action::Sort => (self.rows.sort, self.rows.reversed) = (self.rows.sort.next(view), false),
            Action::SortReverse => self.rows.reversed = !self.rows.reversed,
            Action::Filter if self.rows.needle.is_empty() => {
                return Some(vec![PanelRequest::Say("nothing to filter by: search for a name first".to_string())]);
            }
            Action::Filter => self.rows.filter = !self.rows.filter,
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

    fn group(&mut self, by: GroupBy) {
        self.by = by;
        self.rows.module = None;
        self.rows.forget();
        self.pane = Pane::on(self.pane.section);
    }

    /// Opens the callers and callees of a function, the functions of a module, or those of a thread or process.
    pub(super) fn go_into(&mut self, action: Action) -> Vec<PanelRequest> {
        let Some(row) = self.row() else { return Vec::new() };
        let (name, module, id) = (row.name.clone(), row.module.clone(), row.id);
        match (self.by, id) {
            (GroupBy::Function, _) => {
                (self.rows.chosen, self.pane.focus) = (Some((name, module)), true);
                self.arrange();
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

    fn jump(&mut self, backwards: bool, areas: &Areas) -> Vec<PanelRequest> {
        let Some(view) = &self.view else { return Vec::new() };
        match self.rows.find(view, backwards, false) {
            Some(at) => {
                self.rows.choose(view, at, areas.page());
                self.follow(areas)
            }
            None => vec![PanelRequest::Say(words::nothing_found(&self.rows.needle))],
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
        if self.rows.filters() {
            self.rows.filter = false;
        } else if let Some(module) = self.rows.module.take() {
            self.group(GroupBy::Module);
            self.rows.chosen = Some((file_name(&module).to_string(), module));
        } else {
            return None;
        }
        self.arrange();
        Some(vec![PanelRequest::Refresh])
    }
}
