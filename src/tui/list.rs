//! Selection and scroll position of a table. The selection follows the row's key, so it survives re-sorting.

use super::keys::Action;
use super::widgets::table::scrolled;
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

/// The selection of a table whose rows have keys of type `K`.
#[derive(Debug, Clone)]
pub struct List<K> {
    /// The key the user moved to; `None` until then, so that the table stays at its top.
    picked: Option<K>,
    top: usize,
}

impl<K> Default for List<K> {
    fn default() -> Self {
        List { picked: None, top: 0 }
    }
}

impl<K: PartialEq + Clone> List<K> {
    /// The selected row: the first until the user moves, or after the selected key has disappeared.
    pub fn at(&self, keys: &[K]) -> Option<usize> {
        let found = self.picked.as_ref().and_then(|picked| keys.iter().position(|key| key == picked));
        found.or((!keys.is_empty()).then_some(0))
    }

    /// Selects a row.
    pub fn pick(&mut self, key: K) {
        self.picked = Some(key);
    }

    /// The first visible row in a table of that height, heading included.
    pub fn top(&self, keys: &[K], height: u16) -> usize {
        scrolled(self.top, self.at(keys).unwrap_or(0), keys.len(), height)
    }

    /// Moves the selection; returns false if the action is not a movement.
    pub fn act(&mut self, action: Action, keys: &[K], height: u16) -> bool {
        let page = usize::from(height.saturating_sub(2)).max(1);
        let here = self.at(keys).unwrap_or(0);
        let to = match action {
            Action::Up => here.saturating_sub(1),
            Action::Down => here + 1,
            Action::HalfPageUp => here.saturating_sub(page / 2),
            Action::HalfPageDown => here + page / 2,
            Action::PageUp => here.saturating_sub(page),
            Action::PageDown => here + page,
            Action::Top => 0,
            Action::Bottom => usize::MAX,
            _ => return false,
        };
        self.go(keys, to, height);
        true
    }

    /// Selects the row with that index, or the last row.
    pub fn go(&mut self, keys: &[K], to: usize, height: u16) {
        if let Some(last) = keys.len().checked_sub(1) {
            self.picked = Some(keys[to.min(last)].clone());
            self.top = self.top(keys, height);
        }
    }

    /// Selects the clicked row of a table with a heading, or scrolls; true if the click hit the row already selected.
    pub fn mouse(&mut self, event: MouseEvent, keys: &[K], table: Rect) -> bool {
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) if table.contains((event.column, event.row).into()) => {
                let Some(row) = usize::from(event.row - table.y).checked_sub(1) else { return false };
                let row = row + self.top(keys, table.height);
                let again = self.at(keys) == Some(row);
                self.go(keys, row, table.height);
                return again;
            }
            MouseEventKind::ScrollDown => _ = self.act(Action::Down, keys, table.height),
            MouseEventKind::ScrollUp => _ = self.act(Action::Up, keys, table.height),
            _ => {}
        }
        false
    }

    /// Selects the next matching row and wraps around at the end.
    pub fn find(&mut self, keys: &[K], by: isize, height: u16, fits: impl Fn(usize) -> bool) {
        let here = self.at(keys).unwrap_or(0) as isize;
        let count = keys.len() as isize;
        let next = (1..=count).map(|step| (here + by * step).rem_euclid(count) as usize).find(|at| fits(*at));
        if let Some(next) = next {
            self.go(keys, next, height);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_selection_follows_what_was_selected_and_the_top_stays_until_somebody_moves() {
        let mut list = List::default();
        assert_eq!((list.at(&[5, 6, 7]), list.at(&[])), (Some(0), None));
        assert!(list.act(Action::Down, &[5, 6, 7], 10));
        assert_eq!(list.at(&[7, 5, 6]), Some(2), "it moved, and is still selected");
        assert_eq!(list.at(&[7, 5]), Some(0), "it is gone");
        assert!(!list.act(Action::Enter, &[5], 10));
    }

    #[test]
    fn movements_stay_within_the_rows_and_in_sight() {
        let keys: Vec<u32> = (0..100).collect();
        let mut list = List::default();
        for (action, at, top) in [
            (Action::Bottom, 99, 91),
            (Action::Up, 98, 91),
            (Action::PageUp, 90, 90),
            (Action::Top, 0, 0),
            (Action::HalfPageDown, 4, 0),
            (Action::Up, 3, 0),
        ] {
            list.act(action, &keys, 10);
            assert_eq!((list.at(&keys), list.top(&keys, 10)), (Some(at), top), "{action:?}");
        }
        list.find(&keys, -1, 10, |at| at % 50 == 0);
        list.find(&keys, -1, 10, |at| at % 50 == 0);
        assert_eq!(list.at(&keys), Some(50));
    }
}
