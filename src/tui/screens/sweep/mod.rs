//! The screen Scaling: throughput against width with its law, where the cores went, the table, and the code that lost.

mod areas;
mod chart;
mod draw;
mod losses;
mod panel;
mod rows;
mod stack;
mod table;
#[cfg(test)]
mod tests;
mod words;

use crate::tui::list::{List, ListRow};
use crate::view::sweep::{Loss, PointView, SweepView as View};
use areas::Page;
use rows::{FunctionRow, Key};

/// The screen's state.
#[derive(Debug, Default)]
pub struct State {
    view: Option<Box<View>>,
    page: Page,
    /// The points by their width.
    widths: List<u32>,
    functions: List<Key>,
}

impl State {
    /// The chosen width: the widest until the user moves, or after the chosen one has disappeared.
    #[must_use]
    pub fn chosen(&self) -> Option<u32> {
        self.point().map(|point| point.n)
    }

    /// The number of findings, for the tab; `None` before the first snapshot.
    #[must_use]
    pub fn findings(&self) -> Option<usize> {
        self.view.as_ref().map(|view| view.findings.found.len())
    }

    /// Chooses the point that many places further, but stops at the first or last one.
    pub fn step(&mut self, by: isize) {
        if let Some(at) = self.at() {
            let rows = self.widths();
            self.widths.pick(&rows, at.saturating_add_signed(by));
        }
    }

    fn points(&self) -> &[PointView] {
        self.view.as_ref().map_or(&[], |view| &view.points)
    }

    fn widths(&self) -> Vec<ListRow<u32>> {
        self.points().iter().map(|point| ListRow { key: point.n, matches: false }).collect()
    }

    fn at(&self) -> Option<usize> {
        self.widths.at(&self.widths())
    }

    fn point(&self) -> Option<&PointView> {
        self.points().get(self.at()?)
    }

    /// The losses at the chosen point.
    fn loss(&self) -> Option<&Loss> {
        let n = self.chosen()?;
        self.view.as_ref()?.losses.iter().find(|loss| loss.n == n)
    }

    fn rows(&self) -> Vec<FunctionRow<'_>> {
        let all = self.loss().map(rows::rows).unwrap_or_default();
        all.into_iter().filter(|row| self.functions.shows(|text| row.fits(text))).collect()
    }

    fn functions(&self) -> Vec<ListRow<Key>> {
        let matches = |row: &FunctionRow<'_>| self.functions.finds(|text| row.fits(text));
        self.rows().iter().map(|row| ListRow { key: row.key(), matches: matches(row) }).collect()
    }

    /// The selected function, if the keys move through functions.
    fn row(&self) -> Option<FunctionRow<'_>> {
        let at = self.functions.at(&self.functions()).filter(|_| self.page == Page::Functions)?;
        self.rows().get(at).copied()
    }
}
