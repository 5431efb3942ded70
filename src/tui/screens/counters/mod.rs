//! The screen Counters: every metric and every counter with formula, coverage and history.

mod draw;
#[cfg(test)]
mod tests;

use crate::model::Measure;
use crate::tui::keys::Action;
use crate::tui::list::List;
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
    search: String,
    /// Whether only matches of the search are shown.
    only: bool,
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
        let shown = |row: &Row<'_>| !self.only || self.search.is_empty() || row.fits(&self.search);
        all.into_iter().filter(shown).collect()
    }

    fn keys(&self) -> Vec<Key> {
        self.rows().iter().map(Row::key).collect()
    }

    fn chosen(&self) -> Option<Row<'_>> {
        let at = self.list.at(&self.keys())?;
        self.rows().get(at).copied()
    }

    fn find(&mut self, by: isize, height: u16) -> Vec<PanelRequest> {
        if !self.search.is_empty() {
            let fit: Vec<bool> = self.rows().iter().map(|row| row.fits(&self.search)).collect();
            let keys = self.keys();
            self.list.find(&keys, by, height, |at| fit[at]);
        }
        Vec::new()
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
            Action::Filter => self.only = !self.only,
            Action::SearchNext => return Some(self.find(1, height)),
            Action::SearchPrevious => return Some(self.find(-1, height)),
            action => {
                let keys = self.keys();
                return self.list.act(action, &keys, height).then(Vec::new);
            }
        }
        Some(Vec::new())
    }

    fn mouse(&mut self, event: MouseEvent, _: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        let table = draw::parts(self, area).0;
        let keys = self.keys();
        self.list.mouse(event, &keys, table);
        Vec::new()
    }

    fn search(&mut self, text: &str) {
        self.search = text.to_lowercase();
        let fits = |row: &Row<'_>| row.fits(&self.search);
        if !text.is_empty() && !self.chosen().as_ref().is_some_and(fits) {
            let first = self.rows().iter().find(|row| fits(row)).map(Row::key);
            if let Some(first) = first {
                self.list.pick(first);
            }
        }
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
