//! The screen Findings: findings with their evidence and the next step, and undecided checks with the reason.

mod detail;
mod draw;
mod panel;
#[cfg(test)]
mod tests;

use crate::model::Why;
use crate::tui::list::{List, ListRow};
use crate::tui::search::holds;
use crate::view::findings::{FindingView, FindingsView as View};

/// The screen's state.
#[derive(Debug, Default)]
pub struct State {
    view: Option<View>,
    list: List<Key>,
    /// Lines scrolled off the top of the detail.
    scroll: usize,
}

/// A selectable item: a finding by its rule, or all checks that are undecided for one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Found(&'static str),
    Undecided(Why),
}

impl State {
    /// The number of findings, for the tab; `None` before the first snapshot.
    #[must_use]
    pub fn count(&self) -> Option<usize> {
        self.view.as_ref().map(|view| view.found.len())
    }

    /// All selectable items.
    fn list_rows(&self) -> Vec<ListRow<Key>> {
        let Some(view) = &self.view else { return Vec::new() };
        let reasons = view.undecided_by_reason().into_iter().map(|(why, _)| Key::Undecided(why));
        let keys = view.found.iter().map(|found| Key::Found(found.rule)).chain(reasons);
        keys.map(|key| ListRow { key, matches: self.list.finds(|text| fits(view, key, text)) }).collect()
    }

    /// The selected item: the first until the user moves, or after the item has disappeared.
    fn chosen(&self) -> Option<Key> {
        self.list.key(&self.list_rows())
    }

    fn found(&self) -> Option<&FindingView> {
        match self.chosen()? {
            Key::Found(rule) => self.view.as_ref()?.found.iter().find(|found| found.rule == rule),
            Key::Undecided(_) => None,
        }
    }
}

/// Whether an item contains the text.
fn fits(view: &View, key: Key, text: &str) -> bool {
    let contains = |whole: &str| holds(whole, text);
    match key {
        Key::Found(rule) => {
            let found = view.found.iter().find(|found| found.rule == rule);
            found.is_some_and(|found| contains(found.title) || contains(&found.claim))
        }
        Key::Undecided(why) => view.undecided.iter().any(|other| other.why == why && contains(other.title)),
    }
}
