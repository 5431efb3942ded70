//! The selected row of a list and its screen line; both stay in place when the list is refreshed.

use crate::tui::keys::Action;

/// A position in a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    /// The selected row.
    pub at: usize,
    /// Its distance from the first visible row.
    row: usize,
}

impl Cursor {
    /// The first row to show of `len` rows if `height` of them are visible.
    pub fn top(&self, len: usize, height: usize) -> usize {
        let at = self.at.min(len.saturating_sub(1));
        let row = self.row.min(height.saturating_sub(1)).min(at);
        (at - row).min(len.saturating_sub(height.max(1)))
    }

    /// Moves to a row with minimal scrolling.
    pub fn go(&mut self, at: usize, len: usize, height: usize) {
        let top = self.top(len, height);
        self.at = at.min(len.saturating_sub(1));
        self.row = self.at.saturating_sub(top).min(height.saturating_sub(1));
    }

    /// Sets the selected row's index in a new list; the row keeps its screen line.
    pub fn put(&mut self, at: usize) {
        self.at = at;
    }

    /// Carries out a movement; returns false if the action is not one.
    pub fn act(&mut self, action: Action, len: usize, height: usize) -> bool {
        let page = height.max(1);
        let at = match action {
            Action::Up => self.at.saturating_sub(1),
            Action::Down => self.at.saturating_add(1),
            Action::HalfPageUp => self.at.saturating_sub(page.div_ceil(2)),
            Action::HalfPageDown => self.at.saturating_add(page.div_ceil(2)),
            Action::PageUp => self.at.saturating_sub(page),
            Action::PageDown => self.at.saturating_add(page),
            Action::Top => 0,
            Action::Bottom => usize::MAX,
            _ => return false,
        };
        self.go(at, len, height);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_selected_row_is_always_seen_and_the_rest_moves_no_further_than_need_be() {
        let mut cursor = Cursor::default();
        for (action, at, top) in [
            (Action::Down, 1, 0),
            (Action::PageDown, 6, 2),
            (Action::Up, 5, 2),
            (Action::HalfPageUp, 2, 2),
            (Action::Up, 1, 1),
            (Action::Bottom, 19, 15),
            (Action::Down, 19, 15),
            (Action::Up, 18, 15),
            (Action::Top, 0, 0),
        ] {
            assert!(cursor.act(action, 20, 5), "{action:?}");
            assert_eq!((cursor.at, cursor.top(20, 5)), (at, top), "{action:?}");
        }
        assert!(!cursor.act(Action::Sort, 20, 5));
    }

    #[test]
    fn a_row_that_moved_in_the_list_stays_where_it_is_on_the_screen() {
        let mut cursor = Cursor::default();
        cursor.go(12, 100, 10);
        assert_eq!(cursor.top(100, 10), 3);
        cursor.put(40);
        assert_eq!(cursor.top(100, 10), 31);
        cursor.put(4);
        assert_eq!(cursor.top(100, 10), 0);
    }

    #[test]
    fn no_list_and_no_room_are_no_trouble() {
        let mut cursor = Cursor::default();
        assert!(cursor.act(Action::Bottom, 0, 0));
        assert_eq!((cursor.at, cursor.top(0, 0)), (0, 0));
        cursor.put(7);
        assert_eq!(cursor.top(3, 0), 2);
    }
}
