//! The table's rows as they are shown: sorted, filtered, searched, the selected one kept by its name.
//! It never copies a row: it holds their places in the view.

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

/// What is shown of a view, and how.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub sort: Sort,
    pub reversed: bool,
    /// What is searched for, in lower case.
    pub needle: String,
    /// Whether only what fits the search is shown.
    pub filter: bool,
    /// The only module whose functions are shown, by its path.
    pub module: Option<String>,
    /// The row the user, or another screen, has selected.
    pub chosen: Option<Key>,
    pub cursor: Cursor,
    order: Vec<u32>,
    /// Whether the chosen row is among those shown.
    present: bool,
}

impl Sort {
    /// The next one that means something in the view.
    pub fn next(self, view: &FunctionsView) -> Sort {
        match self {
            Sort::Own => Sort::Total,
            Sort::Total if view.compared => Sort::Change,
            // Off the CPU that column is the time blocked, the order of own shares.
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

/// How much the own share grew; rows without a change come last.
fn moved(row: &Row) -> f64 {
    row.change.map_or(f64::NEG_INFINITY, |change| row.self_share - change.self_before)
}

/// Whether a name fits a search that is in lower case.
pub(super) fn fits(name: &str, needle: &str) -> bool {
    !needle.is_empty() && (name.contains(needle) || name.to_lowercase().contains(needle))
}

fn key_of(row: &Row) -> Key {
    (row.name.clone(), row.module.clone())
}

impl Rows {
    /// How many are shown.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// The row at a place of the table.
    pub fn get<'a>(&self, view: &'a FunctionsView, at: usize) -> Option<&'a Row> {
        view.rows.get(*self.order.get(at)? as usize)
    }

    /// The selected row: the first one as long as nothing was chosen.
    pub fn current<'a>(&self, view: &'a FunctionsView) -> Option<&'a Row> {
        if self.selected().is_some() { self.get(view, self.cursor.at) } else { None }
    }

    /// Its place in the table; `None` if it is not among the rows.
    pub fn selected(&self) -> Option<usize> {
        (self.present && self.cursor.at < self.order.len()).then_some(self.cursor.at)
    }

    /// The function to look around: `None` leaves it to the view, which takes the first in its own order.
    pub fn wanted(&self, view: Option<&FunctionsView>) -> Option<Key> {
        let as_the_view = self.sort == Sort::Own && !self.reversed && self.module.is_none() && !self.filters();
        match (&self.chosen, view) {
            (None, Some(view)) if !as_the_view => self.get(view, 0).map(key_of),
            (chosen, _) => chosen.clone(),
        }
    }

    /// Whether the search leaves rows out.
    pub fn filters(&self) -> bool {
        self.filter && !self.needle.is_empty()
    }

    /// Whether a row fits the search.
    pub fn finds(&self, row: &Row) -> bool {
        fits(&row.name, &self.needle) || fits(file_name(&row.module), &self.needle)
    }

    /// Sorts and filters anew; the selected row stays the same one, in the same line of the screen.
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

    /// Selects the row at a place of the table.
    pub fn choose(&mut self, view: &FunctionsView, at: usize, height: usize) {
        self.cursor.go(at, self.order.len(), height);
        self.take(view);
    }

    /// Selects the row the cursor has moved to.
    pub fn take(&mut self, view: &FunctionsView) {
        if let Some(row) = self.get(view, self.cursor.at) {
            (self.chosen, self.present) = (Some(key_of(row)), true);
        }
    }

    /// Back to the first row, whichever that is.
    pub fn forget(&mut self) {
        (self.chosen, self.cursor) = (None, Cursor::default());
    }

    /// The place of the next row that fits the search, around the end; the selected one itself comes first if `here`.
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
