//! Selection and scroll position of a list that is refreshed while the user works in it.
//! The selection follows the item, not its position.

use super::rows::Row;
use crate::view::picker::Choice;

/// The selection of one section.
#[derive(Debug, Clone, Default)]
pub(super) struct List {
    /// The item the user selected; `None` until the selection was moved.
    picked: Option<Choice>,
    /// The index of the selected row; `None` without a selection.
    pub at: Option<usize>,
    /// The first visible row, as far as the height allows.
    top: usize,
}

impl List {
    /// Finds the selection among new rows: the picked item, or the row at its old place if it has disappeared. Before
    /// the user picks one, `likely` selects the row.
    pub fn settle(&mut self, rows: &[Row<'_>], likely: impl FnOnce(&[Row<'_>]) -> Option<usize>) {
        let Some(picked) = &self.picked else {
            self.at = likely(rows).filter(|at| *at < rows.len());
            return;
        };
        match rows.iter().position(|row| row.choice() == *picked) {
            Some(at) => self.at = Some(at),
            None => self.pick(rows, self.at.unwrap_or(0)),
        }
    }

    /// Selects the row with that index, or the last row.
    pub fn pick(&mut self, rows: &[Row<'_>], at: usize) {
        self.at = rows.len().checked_sub(1).map(|last| at.min(last));
        // In an empty list, the next selected row is not the user's choice.
        self.picked = self.at.map(|at| rows[at].choice());
    }

    /// Moves the selection.
    pub fn step(&mut self, rows: &[Row<'_>], by: isize) {
        let at = self.at.map_or(0, |at| at.saturating_add_signed(by));
        self.pick(rows, at);
    }

    /// Clears the user's selection.
    pub fn forget(&mut self) {
        *self = List::default();
    }

    /// The first visible row if `height` of `len` rows fit; the selected row is always visible.
    pub fn first(&self, len: usize, height: usize) -> usize {
        let top = self.top.min(len.saturating_sub(height));
        match self.at {
            Some(at) if at < top => at,
            Some(at) if height > 0 && at >= top + height => at + 1 - height,
            // An automatic selection within the first screenful leaves the list at its top.
            Some(at) if self.picked.is_none() && at < height => 0,
            _ => top,
        }
    }

    /// Stores the scroll position.
    pub fn scroll(&mut self, len: usize, height: usize) {
        self.top = self.first(len, height);
    }
}
