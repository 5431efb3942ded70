//! The screen Counters: every metric and every counter with formula, coverage and history.

mod draw;
mod panel;
#[cfg(test)]
mod tests;

use crate::model::MetricId;
use crate::tui::list::{List, ListRow};
use crate::tui::search::holds;
use crate::view::counters::{CounterLine, CountersView as View, MetricLine};

/// The screen's state.
#[derive(Debug, Default)]
pub struct State {
    view: Option<View>,
    list: List<Key>,
    /// Whether the raw counters are shown instead of the metrics.
    raw: bool,
    /// Whether the history is hidden.
    folded: bool,
}

/// Identifies a row by its name, a counter also by its scope.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Key {
    Metric(&'static str),
    Counter(String, &'static str),
}

/// The contents of a row.
#[derive(Debug, Clone, Copy)]
enum Row<'a> {
    Metric(&'a MetricLine),
    Counter(&'a CounterLine),
}

impl Row<'_> {
    fn key(&self) -> Key {
        match self {
            Row::Metric(metric) => Key::Metric(metric.name),
            Row::Counter(counter) => Key::Counter(counter.name.clone(), counter.scope),
        }
    }

    fn fits(&self, text: &str) -> bool {
        match self {
            Row::Metric(metric) => holds(metric.name, text) || holds(metric.label, text),
            Row::Counter(counter) => holds(&counter.name, text) || holds(counter.scope, text),
        }
    }
}

impl State {
    /// Selects a metric, and shows its history.
    pub fn point_to(&mut self, id: MetricId) {
        (self.raw, self.folded, self.list.only) = (false, false, false);
        self.list.select(Key::Metric(id.name()));
    }

    fn rows(&self) -> Vec<Row<'_>> {
        let Some(view) = &self.view else { return Vec::new() };
        let all: Vec<Row<'_>> = match self.raw {
            true => view.counters.iter().map(Row::Counter).collect(),
            false => view.metrics.iter().map(Row::Metric).collect(),
        };
        all.into_iter().filter(|row| self.list.shows(|text| row.fits(text))).collect()
    }

    fn list_rows(&self) -> Vec<ListRow<Key>> {
        let row = |row: &Row<'_>| ListRow { key: row.key(), matches: self.list.finds(|text| row.fits(text)) };
        self.rows().iter().map(row).collect()
    }

    fn chosen(&self) -> Option<Row<'_>> {
        let at = self.list.at(&self.list_rows())?;
        self.rows().get(at).copied()
    }
}
