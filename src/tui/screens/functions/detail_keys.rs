//! Keys in the detail: move, fold and unfold, change the section, go to a caller or callee and back.

use super::areas::Areas;
use super::pane::Item;
use super::{State, rows, words};
use crate::tui::keys::Action;
use crate::tui::panel::PanelRequest;
use crate::view::CodeKind;

impl State {
    pub(super) fn act_in_detail(&mut self, action: Action, areas: &Areas) -> Option<Vec<PanelRequest>> {
        let Some(detail) = self.view.as_ref().and_then(|view| view.detail.as_deref()) else {
            self.pane.focus &= action != Action::Back;
            return Some(Vec::new());
        };
        let items = self.pane.items(detail);
        if self.pane.cursor.act(action, items.len(), areas.detail_page()) {
            self.pane.take(detail);
            return Some(Vec::new());
        }
        match (action, self.pane.current(detail)) {
            (Action::Enter, Some(item)) => return Some(self.go_to(item)),
            (Action::Zoom, Some(item)) => return Some(self.zoom_to(item)),
            (Action::More | Action::Less, Some(item)) => {
                self.pane.turn_all(detail, item, action == Action::More);
                self.pane.settle(detail);
            }
            (Action::Left | Action::Right, item) => self.step_aside(action == Action::Right, item),
            (Action::Detail, _) => self.pane.open(self.pane.section.beside(1).unwrap_or_default()),
            (Action::SearchNext | Action::SearchPrevious, _) => {
                return Some(self.jump_in_detail(action == Action::SearchPrevious, &items, areas));
            }
            (Action::Back, _) => return Some(self.back()),
            _ => return None,
        }
        Some(Vec::new())
    }

    /// Right unfolds and descends, Left folds and ascends; if there is nothing to fold, they change the section.
    fn step_aside(&mut self, right: bool, item: Option<Item>) {
        let Some(detail) = self.view.as_ref().and_then(|view| view.detail.as_deref()) else { return };
        match (right, item.and_then(|item| item.open), item) {
            (true, Some(false), Some(item)) => self.pane.turn(item, true),
            (true, Some(true), _) => self.pane.cursor.put(self.pane.cursor.at + 1),
            (false, Some(true), Some(item)) => self.pane.turn(item, false),
            (right, _, item) => match (right, item.and_then(|item| self.pane.above(detail, item))) {
                (false, Some(above)) => self.pane.cursor.put(above),
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
        self.pane.take(detail);
    }

    pub(super) fn go_to(&mut self, item: Item) -> Vec<PanelRequest> {
        let Some(detail) = self.around() else { return Vec::new() };
        let from = (detail.name.clone(), detail.module.clone());
        let Some(entry) = self.pane.section.tree(detail).and_then(|tree| tree.entries.get(item.index)) else {
            return Vec::new();
        };
        if entry.kind == CodeKind::Heading {
            return vec![PanelRequest::Say(format!("{} is no function", entry.name))];
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

    fn jump_in_detail(&mut self, backwards: bool, items: &[Item], areas: &Areas) -> Vec<PanelRequest> {
        let Some(detail) = self.view.as_ref().and_then(|view| view.detail.as_deref()) else { return Vec::new() };
        let (len, from) = (items.len(), self.pane.cursor.at);
        let at = |step: usize| if backwards { (from + len - step) % len } else { (from + step) % len };
        let fits = |at: &usize| rows::fits(words::name_of(detail, self.pane.section, items[*at]), &self.rows.needle);
        match (1..=len).map(at).find(fits) {
            Some(at) => {
                self.pane.cursor.go(at, len, areas.detail_page());
                self.pane.take(detail);
                Vec::new()
            }
            None => vec![PanelRequest::Say(words::nothing_found(&self.rows.needle))],
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
