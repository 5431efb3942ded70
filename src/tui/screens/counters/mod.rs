//! The screen Counters: every metric and every counter with formula, coverage and history.

mod draw;
#[cfg(test)]
mod tests;

use crate::model::Measure;
use crate::tui::keys::Action;
use crate::tui::list::{List, ListRow};
use crate::tui::panel::{Panel, PanelContext, PanelRequest};
use crate::view::counters::{CounterLine, CountersView as View, MetricLine};
use crate::view::number;
use crate::view::query::ViewRequest;
use crate::view::snapshot::PanelView;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::MouseEvent;
use ratatui::layout::Rect;

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
        let holds = |name: &str| name.to_lowercase().contains(text);
        match self {
            Row::Metric(metric) => holds(metric.name) || holds(metric.label),
            Row::Counter(counter) => holds(&counter.name) || holds(counter.scope),
        }
    }
}

impl State {
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

impl Panel for State {
    fn request(&self) -> ViewRequest {
        ViewRequest::Counters
    }

    fn show(&mut self, body: PanelView) {
        if let PanelView::Counters(view) = body {
            self.view = Some(view);
        }
    }

    fn draw(&self, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        draw::draw(self, cx, area, buf);
    }

    fn act(&mut self, action: Action, _: &PanelContext<'_>, area: Rect) -> Option<Vec<PanelRequest>> {
        let height = draw::parts(self, area).0.height;
        match action {
            Action::Who => self.raw = !self.raw,
            Action::Enter | Action::Detail => self.folded = !self.folded,
            Action::Filter => self.list.only = !self.list.only,
            action => {
                let rows = self.list_rows();
                return self.list.act(action, &rows, height).then(Vec::new);
            }
        }
        Some(Vec::new())
    }

    fn mouse(&mut self, event: MouseEvent, _: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        let table = draw::parts(self, area).0;
        let rows = self.list_rows();
        self.list.mouse(event, &rows, table);
        Vec::new()
    }

    fn search(&mut self, text: &str) {
        self.list.search(text);
        let rows = self.list_rows();
        self.list.go_to_match(&rows);
    }

    fn status(&self, _: &PanelContext<'_>) -> Option<String> {
        let (name, value) = match self.chosen()? {
            Row::Metric(metric) => (metric.name, metric.value),
            Row::Counter(counter) => (counter.name.as_str(), counter.total),
        };
        Some(match (value, self.chosen()?) {
            (Measure::Missing(why), Row::Metric(MetricLine { detail: Some(detail), .. })) => {
                format!("{name}: {} ({detail})", why.text())
            }
            (Measure::Missing(why), _) => format!("{name}: {}", why.text()),
            (Measure::Known { value, quality }, Row::Metric(metric)) => {
                let shown = number::quantity(value, metric.unit).joined();
                format!(
                    "{name} {shown} = {}  counted {} of the time",
                    metric.formula,
                    number::percent(quality.coverage).joined()
                )
            }
            (Measure::Known { value, quality }, Row::Counter(counter)) => {
                let shown = number::count(value.round().max(0.0) as u64);
                format!(
                    "{name} {shown} {}  counted {} of the time",
                    counter.unit,
                    number::percent(quality.coverage).joined()
                )
            }
        })
    }

    fn selected_name(&self) -> Option<String> {
        Some(match self.chosen()? {
            Row::Metric(metric) => metric.name.to_string(),
            Row::Counter(counter) => counter.name.clone(),
        })
    }
}
