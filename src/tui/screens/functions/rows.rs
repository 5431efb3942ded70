//! The table's rows in display order: sorted, filtered, searched, with the selection kept by name.
//! Rows are indices into the view, not copies.

use super::cursor::Cursor;
use crate::view::functions::{FunctionsView, Row, file_name};
use std::cmp::Ordering;

/// The order of the rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Sort {
    /// Own share.
    #[default]
    Own,
    /// Share with callees.
    Total,
    /// Change of the own share.
    Change,
    /// Own samples.
    Samples,
    /// Name.
    Name,
}

/// A function by its name and its module's path.
pub(super) type Key = (String, String);

/// Which rows of a view are shown, and in which order.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub sort: Sort,
    pub reversed: bool,
    /// The search text, in lower case.
    pub needle: String,
    /// Whether only matches of the search are shown.
    pub filter: bool,
    /// The path of the only module whose functions are shown.
    pub module: Option<String>,
    /// The row that the user or another screen selected.
    pub chosen: Option<Key>,
    pub cursor: Cursor,
    order: Vec<u32>,
    /// Whether the chosen row is visible.
    present: bool,
}

impl Sort {
    /// The next order that is available in the view.
    pub fn next(self, view: &FunctionsView) -> Sort {
        match self {
            Sort::Own => Sort::Total,
            Sort::Total if view.compared => Sort::Change,
            // Off-CPU, that column is the time blocked, which has the same order as the own share.
            Sort::Total | Sort::Change if view.off_cpu => Sort::Name,
            Sort::Total | Sort::Change => Sort::Samples,
            Sort::Samples => Sort::Name,
            Sort::Name => Sort::Own,
        }
    }

    fn compare(self, a: &Row, b: &Row) -> Ordering {
        match self {
            Sort::Own => b.self_share.total_cmp(&a.self_share),
            Sort::Total => b.total_share.total_cmp(&a.total_share),
            Sort::Change => moved(b).total_cmp(&moved(a)),
            Sort::Samples => b.self_samples.cmp(&a.self_samples),
            Sort::Name => (&a.name, &a.module).cmp(&(&b.name, &b.module)),
        }
    }
}

/// Growth of the own share; rows without a change come last.
fn moved(row: &Row) -> f64 {
    row.change.map_or(f64::NEG_INFINITY, |change| row.self_share - change.self_before)
}

/// Whether a name matches a search text in lower case.
pub(super) fn fits(name: &str, needle: &str) -> bool {
    !needle.is_empty() && (name.contains(needle) || name.to_lowercase().contains(needle))
}

fn key_of(row: &Row) -> Key {
    (row.name.clone(), row.module.clone())
}

impl Rows {
    /// The number of shown rows.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// The row at an index of the table.
    pub fn get<'a>(&self, view: &'a FunctionsView, at: usize) -> Option<&'a Row> {
        view.rows.get(*self.order.get(at)? as usize)
    }

    /// The selected row: the first until one is chosen.
    pub fn current<'a>(&self, view: &'a FunctionsView) -> Option<&'a Row> {
        if self.selected().is_some() { self.get(view, self.cursor.at) } else { None }
    }

    /// Its index in the table; `None` if it is not among the rows.
    pub fn selected(&self) -> Option<usize> {
        (self.present && self.cursor.at < self.order.len()).then_some(self.cursor.at)
    }

    /// The function for the detail; `None` leaves the choice to the view, which takes the first in its own order.
    pub fn wanted(&self, view: Option<&FunctionsView>) -> Option<Key> {
        let as_the_view = self.sort == Sort::Own && !self.reversed && self.module.is_none() && !self.filters();
        match (&self.chosen, view) {
            (None, Some(view)) if !as_the_view => self.get(view, 0).map(key_of),
            (chosen, _) => chosen.clone(),
        }
    }

    /// Whether the search hides rows.
    pub fn filters(&self) -> bool {
        self.filter && !self.needle.is_empty()
    }

    /// Whether a row matches the search.
    pub fn finds(&self, row: &Row) -> bool {
        fits(&row.name, &self.needle) || fits(file_name(&row.module), &self.needle)
    }

    /// Sorts and filters again; the selected row stays selected, on the same screen line.
    pub fn arrange(&mut self, view: &FunctionsView) {
        let in_module = |row: &Row| self.module.as_ref().is_none_or(|module| row.module == *module);
        let kept = |row: &Row| in_module(row) && (!self.filters() || self.finds(row));
        let mut order: Vec<u32> = (0..view.rows.len() as u32).filter(|at| kept(&view.rows[*at as usize])).collect();
        order.sort_by(|a, b| self.sort.compare(&view.rows[*a as usize], &view.rows[*b as usize]));
        if self.reversed {
            order.reverse();
        }
        self.order = order;
        let Some((name, module)) = &self.chosen else {
            (self.cursor, self.present) = (Cursor::default(), true);
            return;
        };
        let is_chosen = |at: &u32| {
            let row = &view.rows[*at as usize];
            row.name == *name && row.module == *module
        };
        let at = self.order.iter().position(is_chosen);
        self.present = at.is_some();
        self.cursor.put(at.unwrap_or(self.cursor.at).min(self.order.len().saturating_sub(1)));
    }

    /// Selects the row at an index of the table.
    pub fn choose(&mut self, view: &FunctionsView, at: usize, height: usize) {
        self.cursor.go(at, self.order.len(), height);
        self.take(view);
    }

    /// Selects the row at the cursor.
    pub fn take(&mut self, view: &FunctionsView) {
        if let Some(row) = self.get(view, self.cursor.at) {
            (self.chosen, self.present) = (Some(key_of(row)), true);
        }
    }

    /// Clears the selection and returns to the first row.
    pub fn forget(&mut self) {
        (self.chosen, self.cursor) = (None, Cursor::default());
    }

    /// The index of the next row that matches the search, with wrap-around; `here` includes the selected row.
    pub fn find(&self, view: &FunctionsView, backwards: bool, here: bool) -> Option<usize> {
        let (len, from) = (self.order.len(), self.cursor.at);
        let places = usize::from(!here)..=len;
        let at = |step: usize| if backwards { (from + len - step % len.max(1)) % len } else { (from + step) % len };
        if len == 0 {
            return None;
        }
        places.map(at).find(|at| self.get(view, *at).is_some_and(|row| self.finds(row)))
    }
}
