//! Counters as a panel: keys, mouse, search and the status line.

use super::{Row, State, draw};
use crate::model::Measure;
use crate::tui::keys::Action;
use crate::tui::panel::{Panel, PanelContext, PanelRequest};
use crate::view::counters::MetricLine;
use crate::view::number;
use crate::view::query::ViewRequest;
use crate::view::snapshot::PanelView;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::MouseEvent;
use ratatui::layout::Rect;

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
