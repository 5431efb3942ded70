//! The table's rows in display order: sorted, filtered, searched, with the selection kept by name.
//! Rows are indices into the view, not copies.

use crate::tui::keys::Action;
use crate::tui::list::{List, ListRow};
use crate::tui::search::holds;
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
    /// The path of the only module whose functions are shown.
    pub module: Option<String>,
    pub list: List<Key>,
    order: Vec<u32>,
    list_rows: Vec<ListRow<Key>>,
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

/// Whether a name matches a search text.
pub(super) fn fits(name: &str, needle: &str) -> bool {
    !needle.is_empty() && holds(name, needle)
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
        self.get(view, self.selected()?)
    }

    /// Its index in the table; `None` if it is not among the rows.
    pub fn selected(&self) -> Option<usize> {
        match self.list.picked() {
            Some(_) => self.list.picked_at(&self.list_rows),
            None => self.list.at(&self.list_rows),
        }
    }

    /// The first visible row.
    pub fn top(&self, height: u16) -> usize {
        self.list.top(&self.list_rows, height)
    }

    /// The function for the detail; `None` leaves the choice to the view, which takes the first in its own order.
    pub fn wanted(&self, view: Option<&FunctionsView>) -> Option<Key> {
        let as_the_view = self.sort == Sort::Own && !self.reversed && self.module.is_none() && !self.list.filters();
        match (self.list.picked(), view) {
            (None, Some(view)) if !as_the_view => self.get(view, 0).map(key_of),
            (chosen, _) => chosen.cloned(),
        }
    }

    /// Whether a row matches the search.
    pub fn finds(&self, row: &Row) -> bool {
        self.list.finds(|text| fits(&row.name, text) || fits(file_name(&row.module), text))
    }

    /// Sorts and filters again; the selected row stays selected, on the same screen line.
    pub fn arrange(&mut self, view: &FunctionsView) {
        let in_module = |row: &Row| self.module.as_ref().is_none_or(|module| row.module == *module);
        let kept = |row: &Row| in_module(row) && (!self.list.filters() || self.finds(row));
        let mut order: Vec<u32> = (0..view.rows.len() as u32).filter(|at| kept(&view.rows[*at as usize])).collect();
        order.sort_by(|a, b| self.sort.compare(&view.rows[*a as usize], &view.rows[*b as usize]));
        if self.reversed {
            order.reverse();
        }
        let row = |row: &Row| ListRow { key: key_of(row), matches: self.finds(row) };
        self.list_rows = order.iter().map(|at| row(&view.rows[*at as usize])).collect();
        self.order = order;
    }

    /// Moves the selection, from its old place if the selected row has disappeared; returns false for other actions.
    pub fn act(&mut self, action: Action, height: u16) -> bool {
        let mut moved = self.list.clone();
        moved.settle(&self.list_rows);
        let acts = moved.act(action, &self.list_rows, height);
        if acts {
            self.list = moved;
        }
        acts
    }

    /// Selects the row at an index of the table.
    pub fn go(&mut self, at: usize, height: u16) {
        self.list.go(&self.list_rows, at, height);
    }

    /// Selects the first match of a new search.
    pub fn go_to_match(&mut self) {
        self.list.go_to_match(&self.list_rows);
    }

    /// Selects the next match of the search; returns false if there is none.
    pub fn find(&mut self, by: isize, height: u16) -> bool {
        self.list.find(&self.list_rows, by, height)
    }
}
