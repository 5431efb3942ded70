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

use crate::tui::list::List;
use crate::view::sweep::{Loss, PointView, SweepView as View};
use areas::Page;
use rows::{FunctionRow, Key};

/// The screen's state.
#[derive(Debug, Default)]
pub struct State {
    view: Option<Box<View>>,
    /// The width of the point the user moved to; until then the widest is chosen.
    picked: Option<u32>,
    page: Page,
    functions: List<Key>,
    search: String,
    /// Whether only functions that match the search are shown.
    only: bool,
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
            self.choose(at.saturating_add_signed(by));
        }
    }

    fn points(&self) -> &[PointView] {
        self.view.as_ref().map_or(&[], |view| &view.points)
    }

    fn at(&self) -> Option<usize> {
        let points = self.points();
        let picked = self.picked.and_then(|n| points.iter().position(|point| point.n == n));
        picked.or(points.len().checked_sub(1))
    }

    fn point(&self) -> Option<&PointView> {
        self.points().get(self.at()?)
    }

    fn choose(&mut self, at: usize) {
        let last = self.points().len().saturating_sub(1);
        self.picked = self.points().get(at.min(last)).map(|point| point.n).or(self.picked);
    }

    /// The losses at the chosen point.
    fn loss(&self) -> Option<&Loss> {
        let n = self.chosen()?;
        self.view.as_ref()?.losses.iter().find(|loss| loss.n == n)
    }

    fn rows(&self) -> Vec<FunctionRow<'_>> {
        let all = self.loss().map(rows::rows).unwrap_or_default();
        let shown = |row: &FunctionRow<'_>| !self.only || self.search.is_empty() || row.fits(&self.search);
        all.into_iter().filter(shown).collect()
    }

    fn keys(&self) -> Vec<Key> {
        self.rows().iter().map(FunctionRow::key).collect()
    }

    /// The selected function, if the keys move through functions.
    fn row(&self) -> Option<FunctionRow<'_>> {
        let at = self.functions.at(&self.keys()).filter(|_| self.page == Page::Functions)?;
        self.rows().get(at).copied()
    }
}
