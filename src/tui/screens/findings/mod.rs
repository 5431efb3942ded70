//! The screen Findings: findings with their evidence and the next step, and undecided checks with the reason.

mod detail;
mod draw;
mod panel;
#[cfg(test)]
mod tests;

use crate::model::Why;
use crate::view::findings::{FindingView, FindingsView as View};

/// The screen's state.
#[derive(Debug, Default)]
pub struct State {
    view: Option<View>,
    /// The item the user moved to.
    selected: Option<Key>,
    search: String,
    /// Lines scrolled off the top of the detail.
    scroll: u16,
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

    /// All selectable items, in the order of the list.
    fn keys(&self) -> Vec<Key> {
        let Some(view) = &self.view else { return Vec::new() };
        let reasons = view.undecided_by_reason().into_iter().map(|(why, _)| Key::Undecided(why));
        view.found.iter().map(|found| Key::Found(found.rule)).chain(reasons).collect()
    }

    /// The selected item: the first until the user moves, or after the item has disappeared.
    fn chosen(&self) -> Option<Key> {
        let keys = self.keys();
        self.selected.filter(|key| keys.contains(key)).or(keys.first().copied())
    }

    fn found(&self) -> Option<&FindingView> {
        match self.chosen()? {
            Key::Found(rule) => self.view.as_ref()?.found.iter().find(|found| found.rule == rule),
            Key::Undecided(_) => None,
        }
    }
}
