//! Overlays: help, command palette, line prompt, notes. At most one is open.

use super::keys::{Action, KeyTable};
use super::line::Line;

/// The purpose of a typed line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptKind {
    /// A text to search for.
    Search,
    /// The directory of a new recording.
    Record,
    /// The file of a new image.
    Export,
}

/// The open overlay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Overlay {
    /// Nothing.
    #[default]
    None,
    /// The keys, with the number of lines scrolled down.
    Help(usize),
    /// What to know before trusting the numbers; the number is as for `Help`.
    Notes(usize),
    /// The command palette.
    Palette(Palette),
    /// A line being typed.
    Prompt(PromptKind, Line),
}

/// Every action by name, filtered by the typed text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Palette {
    /// The typed text.
    pub line: Line,
    /// The selected row.
    pub selected: usize,
}

impl Palette {
    /// The actions that match the typed text, best first, with the name and text of the key table.
    #[must_use]
    pub fn rows(&self, keys: &KeyTable) -> Vec<(Action, &'static str, &'static str)> {
        let typed = self.line.text().trim().to_lowercase();
        let mut rows: Vec<_> = keys
            .actions()
            .filter_map(|(action, name, text)| fit(&typed, name, text).map(|rank| (rank, action, name, text)))
            .collect();
        rows.sort_by_key(|(rank, ..)| *rank);
        rows.into_iter().map(|(_, action, name, text)| (action, name, text)).collect()
    }

    /// The action that Enter runs.
    #[must_use]
    pub fn chosen(&self, keys: &KeyTable) -> Option<Action> {
        let rows = self.rows(keys);
        rows.get(self.selected.min(rows.len().saturating_sub(1))).map(|(action, ..)| *action)
    }

    /// Moves the selection.
    pub fn step(&mut self, by: isize, keys: &KeyTable) {
        let last = self.rows(keys).len().saturating_sub(1);
        self.selected = self.selected.min(last).saturating_add_signed(by).min(last);
    }
}

/// How well an action matches; lower is better, `None` for no match.
fn fit(typed: &str, name: &str, text: &str) -> Option<u8> {
    let text = text.to_lowercase();
    if name.starts_with(typed) {
        Some(0)
    } else if name.contains(typed) {
        Some(1)
    } else if text.contains(typed) {
        Some(2)
    } else {
        in_order(typed, name).then_some(3)
    }
}

/// Whether the typed characters occur in the name in this order.
fn in_order(typed: &str, name: &str) -> bool {
    let mut rest = name.chars();
    typed.chars().all(|wanted| rest.any(|c| c == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_palette_finds_actions_by_name_text_and_initials() {
        let keys = KeyTable::default();
        for (typed, expected) in [("pause", Action::Pause), ("quit", Action::Quit), ("hlf-pg-dn", Action::HalfPageDown)]
        {
            let palette = Palette { line: Line::new(typed), selected: 0 };
            assert_eq!(palette.chosen(&keys), Some(expected), "{typed}");
        }
        let palette = Palette { line: Line::new("no such thing"), selected: 3 };
        assert_eq!((palette.chosen(&keys), palette.rows(&keys).len()), (None, 0));
    }

    #[test]
    fn the_selection_stays_within_what_is_left() {
        let keys = KeyTable::default();
        let mut palette = Palette::default();
        palette.step(1000, &keys);
        assert_eq!(palette.selected, palette.rows(&keys).len() - 1);
        palette.line.insert("quit");
        assert_eq!(palette.chosen(&keys), Some(Action::Quit));
        palette.step(-1000, &keys);
        assert_eq!(palette.selected, 0);
    }
}
