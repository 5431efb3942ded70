//! Selection, search and scroll position of a list. The selection follows the row's key, so it survives re-sorting, and
//! the selected row keeps its line on the screen.

use super::keys::Action;
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

/// A row as a list knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListRow<K> {
    /// What identifies the row.
    pub key: K,
    /// Whether the row matches the search.
    pub matches: bool,
}

/// The selection of a list whose rows have keys of type `K`. Every `height` includes the heading.
#[derive(Debug, Clone)]
pub struct List<K> {
    /// The row the user moved to, and its index at that moment; `None` until then.
    picked: Option<(K, usize)>,
    /// The row that is selected instead: the first.
    home: usize,
    /// The first visible row when the user moved.
    top: usize,
    /// The search text.
    needle: String,
    /// Whether only matches of the search are shown.
    pub only: bool,
}

impl<K> Default for List<K> {
    fn default() -> Self {
        List { picked: None, home: 0, top: 0, needle: String::new(), only: false }
    }
}

impl<K> List<K> {
    /// Sets the row that is selected until the user moves; an index beyond the end means the last row.
    pub fn start_at(&mut self, home: usize) {
        self.home = home;
    }

    /// The key the user moved to.
    pub fn picked(&self) -> Option<&K> {
        self.picked.as_ref().map(|(key, _)| key)
    }

    /// Clears the selection and returns to the top.
    pub fn forget(&mut self) {
        (self.picked, self.top) = (None, 0);
    }

    /// Sets the search text.
    pub fn search(&mut self, text: &str) {
        self.needle = text.to_string();
    }

    /// The search text.
    pub fn needle(&self) -> &str {
        &self.needle
    }

    /// Whether there is a search and a row `fits` its text.
    pub fn finds(&self, fits: impl FnOnce(&str) -> bool) -> bool {
        !self.needle.is_empty() && fits(&self.needle)
    }

    /// Whether the search hides rows that do not match.
    pub fn filters(&self) -> bool {
        self.only && !self.needle.is_empty()
    }

    /// Whether a row that `fits` the search or not is shown.
    pub fn shows(&self, fits: impl FnOnce(&str) -> bool) -> bool {
        !self.filters() || fits(&self.needle)
    }
}

impl<K: PartialEq + Clone> List<K> {
    /// The row the user moved to, if it is among the rows.
    pub fn picked_at(&self, rows: &[ListRow<K>]) -> Option<usize> {
        let (picked, _) = self.picked.as_ref()?;
        rows.iter().position(|row| row.key == *picked)
    }

    /// The selected row: the first until the user moves, or after the selected row has disappeared.
    pub fn at(&self, rows: &[ListRow<K>]) -> Option<usize> {
        let last = rows.len().checked_sub(1)?;
        Some(self.picked_at(rows).unwrap_or(self.home.min(last)))
    }

    /// The key of the selected row.
    pub fn key(&self, rows: &[ListRow<K>]) -> Option<K> {
        Some(rows[self.at(rows)?].key.clone())
    }

    /// The first visible row.
    pub fn top(&self, rows: &[ListRow<K>], height: u16) -> usize {
        let page = usize::from(height.saturating_sub(1)).max(1);
        let at = self.at(rows).unwrap_or(0);
        let before = self.picked.as_ref().map_or(at, |(_, before)| *before);
        let line = before.saturating_sub(self.top).min(page - 1);
        at.saturating_sub(line).min(rows.len().saturating_sub(page))
    }

    /// Selects a key, which may not be among the rows yet.
    pub fn select(&mut self, key: K) {
        let before = self.picked.as_ref().map_or(self.home, |(_, before)| *before);
        self.picked = Some((key, before));
    }

    /// Selects the row with that index, or the last row.
    pub fn pick(&mut self, rows: &[ListRow<K>], to: usize) {
        if let Some(last) = rows.len().checked_sub(1) {
            let to = to.min(last);
            self.picked = Some((rows[to].key.clone(), to));
        }
    }

    /// Selects the row with that index, or the last row, with minimal scrolling.
    pub fn go(&mut self, rows: &[ListRow<K>], to: usize, height: u16) {
        self.top = self.top(rows, height);
        self.pick(rows, to);
        self.top = self.top(rows, height);
    }

    /// Takes new rows: if the selected row has disappeared, selects the one in its place.
    pub fn settle(&mut self, rows: &[ListRow<K>]) {
        let Some((_, before)) = self.picked else { return };
        match self.picked_at(rows) {
            Some(at) => {
                self.top = at.saturating_sub(before.saturating_sub(self.top));
                self.pick(rows, at);
            }
            // In an empty list, the next selected row is not the user's choice.
            None if rows.is_empty() => self.forget(),
            None => self.pick(rows, before),
        }
    }

    /// Moves the selection, or goes to a match of the search; returns false if the action does neither.
    pub fn act(&mut self, action: Action, rows: &[ListRow<K>], height: u16) -> bool {
        match action {
            Action::SearchNext => _ = self.find(rows, 1, height),
            Action::SearchPrevious => _ = self.find(rows, -1, height),
            action => match moved(action, self.at(rows).unwrap_or(0), height.saturating_sub(2)) {
                Some(to) => self.go(rows, to, height),
                None => return false,
            },
        }
        true
    }

    /// Selects the clicked row of a table with a heading, or scrolls; true if the click hit the row already selected.
    pub fn mouse(&mut self, event: MouseEvent, rows: &[ListRow<K>], table: Rect) -> bool {
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) if table.contains((event.column, event.row).into()) => {
                let Some(row) = usize::from(event.row - table.y).checked_sub(1) else { return false };
                let row = row + self.top(rows, table.height);
                let again = self.at(rows) == Some(row);
                if row < rows.len() {
                    self.go(rows, row, table.height);
                }
                again
            }
            kind => {
                wheel(kind).into_iter().for_each(|action| _ = self.act(action, rows, table.height));
                false
            }
        }
    }

    /// Selects the next match of the search and wraps around at the end; returns false if there is none.
    pub fn find(&mut self, rows: &[ListRow<K>], by: isize, height: u16) -> bool {
        let next = self.next_match(rows, by, 1);
        next.into_iter().for_each(|next| self.go(rows, next, height));
        next.is_some()
    }

    /// Selects the first match of a new search, from the selected row on.
    pub fn go_to_match(&mut self, rows: &[ListRow<K>]) {
        let next = self.next_match(rows, 1, 0);
        next.filter(|next| self.at(rows) != Some(*next)).into_iter().for_each(|next| self.pick(rows, next));
    }

    fn next_match(&self, rows: &[ListRow<K>], by: isize, first: isize) -> Option<usize> {
        let (here, count) = (self.at(rows)? as isize, rows.len() as isize);
        (first..=count).map(|step| (here + by * step).rem_euclid(count) as usize).find(|at| rows[*at].matches)
    }
}

/// The row, or line, that a movement leads to; `None` if the action is not one. The caller limits it to the last one.
pub fn moved(action: Action, here: usize, page: u16) -> Option<usize> {
    let page = usize::from(page).max(1);
    Some(match action {
        Action::Up => here.saturating_sub(1),
        Action::Down => here.saturating_add(1),
        Action::HalfPageUp => here.saturating_sub(page / 2),
        Action::HalfPageDown => here.saturating_add(page / 2),
        Action::PageUp => here.saturating_sub(page),
        Action::PageDown => here.saturating_add(page),
        Action::Top => 0,
        Action::Bottom => usize::MAX,
        _ => return None,
    })
}

/// Lines or rows that a step of the mouse wheel moves where a single one is too few.
pub const WHEEL_LINES: usize = 3;

/// The movement of the mouse wheel.
pub fn wheel(event: MouseEventKind) -> Option<Action> {
    match event {
        MouseEventKind::ScrollDown => Some(Action::Down),
        MouseEventKind::ScrollUp => Some(Action::Up),
        _ => None,
    }
}

/// The first visible of `lines` lines without a selection after a movement; `None` if the action is not one.
pub fn scrolled(action: Action, top: usize, lines: usize, height: u16) -> Option<usize> {
    let most = lines.saturating_sub(usize::from(height));
    moved(action, top.min(most), height.saturating_sub(1)).map(|top| top.min(most))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(keys: impl IntoIterator<Item = u32>) -> Vec<ListRow<u32>> {
        keys.into_iter().map(|key| ListRow { key, matches: key % 50 == 0 }).collect()
    }

    #[test]
    fn a_selection_follows_what_was_selected_and_the_top_stays_until_somebody_moves() {
        let mut list = List::default();
        assert_eq!((list.at(&rows([5, 6, 7])), list.at(&rows([]))), (Some(0), None));
        assert!(list.act(Action::Down, &rows([5, 6, 7]), 10));
        assert_eq!(list.at(&rows([7, 5, 6])), Some(2), "it moved, and is still selected");
        assert_eq!(list.at(&rows([7, 5])), Some(0), "it is gone");
        assert!(!list.act(Action::Enter, &rows([5]), 10));
        list.start_at(usize::MAX);
        assert_eq!(list.at(&rows([7, 5])), Some(1), "this list starts at its end");
    }

    #[test]
    fn movements_stay_within_the_rows_and_in_sight() {
        let rows = rows(0..100);
        let mut list = List::default();
        for (action, at, top) in [
            (Action::Bottom, 99, 91),
            (Action::Down, 99, 91),
            (Action::Up, 98, 91),
            (Action::PageUp, 90, 90),
            (Action::Top, 0, 0),
            (Action::HalfPageDown, 4, 0),
            (Action::Up, 3, 0),
            (Action::PageDown, 11, 3),
            (Action::Up, 10, 3),
        ] {
            assert!(list.act(action, &rows, 10), "{action:?}");
            assert_eq!((list.at(&rows), list.top(&rows, 10)), (Some(at), top), "{action:?}");
        }
        for at in [0, 50] {
            list.act(Action::SearchPrevious, &rows, 10);
            assert_eq!(list.at(&rows), Some(at));
        }
        assert!(!list.find(&rows[51..99], 1, 10), "nothing matches");
    }

    #[test]
    fn a_row_that_moved_in_the_list_stays_where_it_is_on_the_screen() {
        let mut list = List::default();
        list.go(&rows(0..100), 12, 11);
        assert_eq!(list.top(&rows(0..100), 11), 3);
        for (order, at, top) in [((0..100).collect(), 12, 3), ((60..160).collect(), 0, 0), (front(28), 40, 31)] {
            let order: Vec<u32> = order;
            assert_eq!((list.at(&rows(order.clone())), list.top(&rows(order), 11)), (Some(at), top));
        }
        list.settle(&rows(front(28)));
        assert_eq!(list.top(&rows(front(28)), 11), 31, "new rows are taken without a movement");
    }

    /// The numbers from 0 with others in front of them.
    fn front(others: u32) -> Vec<u32> {
        (1000..1000 + others).chain(0..72).collect()
    }

    #[test]
    fn the_row_in_its_place_follows_one_that_has_disappeared() {
        let mut list = List::default();
        list.go(&rows(0..9), 4, 10);
        list.settle(&rows([8, 4, 1]));
        list.settle(&rows([8, 3, 1]));
        assert_eq!(list.picked(), Some(&3));
        list.settle(&rows([]));
        assert_eq!((list.picked(), list.at(&rows(0..9))), (None, Some(0)));
    }

    #[test]
    fn a_new_search_stays_at_a_match_and_scrolls_no_further_than_need_be() {
        let rows = rows(1..120);
        let mut list = List::default();
        list.go(&rows, 45, 11);
        assert_eq!(list.top(&rows, 11), 36);
        for (at, top) in [(49, 40), (49, 40)] {
            list.go_to_match(&rows);
            assert_eq!((list.at(&rows), list.top(&rows, 11)), (Some(at), top));
        }
    }

    #[test]
    fn no_list_and_no_room_are_no_trouble() {
        let mut list = List::default();
        assert!(list.act(Action::Bottom, &rows([]), 0));
        assert_eq!((list.at(&rows([])), list.top(&rows([]), 0)), (None, 0));
        list.go(&rows(0..3), 7, 0);
        assert_eq!(list.top(&rows(0..3), 0), 2);
    }

    #[test]
    fn lines_scroll_only_as_far_as_there_are_any() {
        for (action, top, lines, expected) in [
            (Action::Down, 0, 30, Some(1)),
            (Action::PageDown, 0, 30, Some(9)),
            (Action::Bottom, 0, 30, Some(20)),
            (Action::Up, 99, 30, Some(19)),
            (Action::Down, 0, 5, Some(0)),
            (Action::Enter, 0, 5, None),
        ] {
            assert_eq!(scrolled(action, top, lines, 10), expected, "{action:?}");
        }
    }
}
