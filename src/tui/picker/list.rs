//! What is selected in a list that changes under the user's hands, and which part of it is in sight.
//! A selection goes by what it is, never by where it stood.

use super::rows::Row;
use crate::view::picker::Choice;

/// The selection of one section.
#[derive(Debug, Clone, Default)]
pub(super) struct List {
    /// What the user has selected; nothing until something was moved.
    picked: Option<Choice>,
    /// Where the selection stands; `None` when nothing is selected.
    pub at: Option<usize>,
    /// The first row in sight, as far as the height allows.
    top: usize,
}

impl List {
    /// Finds the selection among new rows: what was picked, where it is gone whatever stands there now, and before
    /// anything was picked what `likely` says.
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

    /// Selects a row, the last if there are fewer.
    pub fn pick(&mut self, rows: &[Row<'_>], at: usize) {
        self.at = rows.len().checked_sub(1).map(|last| at.min(last));
        // With nothing to select, what comes next is not the user's choice.
        self.picked = self.at.map(|at| rows[at].choice());
    }

    /// Moves the selection.
    pub fn step(&mut self, rows: &[Row<'_>], by: isize) {
        let at = self.at.map_or(0, |at| at.saturating_add_signed(by));
        self.pick(rows, at);
    }

    /// Lets go of what the user has selected.
    pub fn forget(&mut self) {
        *self = List::default();
    }

    /// The first row in sight when `height` of `len` rows are, the selected one among them.
    pub fn first(&self, len: usize, height: usize) -> usize {
        let top = self.top.min(len.saturating_sub(height));
        match self.at {
            Some(at) if at < top => at,
            Some(at) if height > 0 && at >= top + height => at + 1 - height,
            // Nothing hides above a selection in the first screenful.
            Some(at) if self.picked.is_none() && at < height => 0,
            _ => top,
        }
    }

    /// Remembers what is in sight.
    pub fn scroll(&mut self, len: usize, height: usize) {
        self.top = self.first(len, height);
    }
}
