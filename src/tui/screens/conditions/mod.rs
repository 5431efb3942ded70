//! The screen Conditions of a comparison: a text with its conditions and every reason to doubt its result.

mod lines;
#[cfg(test)]
mod tests;

use crate::tui::keys::Action;
use crate::tui::list::{WHEEL_LINES, scrolled, wheel};
use crate::tui::panel::{Panel, PanelContext, PanelRequest};
use crate::tui::search::holds;
use crate::tui::widgets::put_line;
use crate::view::escape::visible;
use crate::view::fit::{end, wrap};
use crate::view::number;
use crate::view::query::{ComparisonTab, ViewRequest};
use crate::view::snapshot::{PanelView, SelectedComparison};
use lines::{Line, Tone};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::MouseEvent;
use ratatui::layout::Rect;

/// The screen's state.
#[derive(Debug, Default)]
pub struct State {
    seen: Option<SelectedComparison>,
    top: usize,
    search: String,
}

impl State {
    /// All lines, wrapped to a width.
    fn lines(&self, width: u16) -> Vec<Line> {
        let Some(seen) = &self.seen else { return vec![Line::of(Tone::Quiet, "waiting for the comparison".into())] };
        let room = usize::from(width.saturating_sub(2)).max(10);
        let all = seen.one().map(|found| lines::lines(&seen.view, found)).unwrap_or_default();
        let broken = |line: Line| -> Vec<Line> {
            let indent = " ".repeat(line.text.len() - line.text.trim_start().len());
            let wrapped = wrap(&visible(line.text.trim_start()), room.saturating_sub(indent.len()).max(10));
            wrapped.into_iter().map(|text| Line { text: format!("{indent}{text}"), ..line }).collect()
        };
        all.into_iter().flat_map(broken).collect()
    }

    /// Scrolls; returns false if the action is not a movement.
    fn scroll(&mut self, action: Action, area: Rect) -> bool {
        let top = scrolled(action, self.top, self.lines(area.width).len(), area.height);
        self.top = top.unwrap_or(self.top);
        top.is_some()
    }

    fn fits(&self, line: &Line) -> bool {
        !self.search.is_empty() && holds(&line.text, &self.search)
    }

    /// Scrolls to the next line that contains the search text and wraps around at the end.
    fn find(&mut self, by: i64, area: Rect) {
        let lines = self.lines(area.width);
        let count = lines.len() as i64;
        let steps = (1..=count).map(|step| (self.top as i64 + by * step).rem_euclid(count.max(1)));
        if let Some(next) = steps.into_iter().find(|at| self.fits(&lines[*at as usize])) {
            self.top = (next as usize).min(lines.len().saturating_sub(usize::from(area.height)));
        }
    }
}

impl Panel for State {
    fn request(&self) -> ViewRequest {
        ViewRequest::Comparison(ComparisonTab::Conditions)
    }

    fn show(&mut self, body: PanelView) {
        if let PanelView::Comparison(ComparisonTab::Conditions, seen) = body {
            self.seen = Some(seen);
        }
    }

    fn draw(&self, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        let area = area.intersection(buf.area);
        let lines = self.lines(area.width);
        let top = self.top.min(lines.len().saturating_sub(usize::from(area.height)));
        for (line, y) in lines.iter().skip(top).zip(area.top()..area.bottom()) {
            let style = match line.tone {
                _ if self.fits(line) => cx.theme.found,
                Tone::Heading => cx.theme.heading,
                Tone::Text => cx.theme.text,
                Tone::Quiet => cx.theme.dim,
                Tone::Good => cx.theme.good,
                Tone::Bad => cx.theme.warn,
            };
            let row = Rect { y, height: 1, ..area };
            let room = usize::from(row.width.saturating_sub(2));
            put_line(buf, row, row.x + 1, &end(&line.text, room, cx.glyphs.ellipsis), style);
        }
    }

    fn act(&mut self, action: Action, _: &PanelContext<'_>, area: Rect) -> Option<Vec<PanelRequest>> {
        match action {
            Action::SearchNext => self.find(1, area),
            Action::SearchPrevious => self.find(-1, area),
            action => return self.scroll(action, area).then(Vec::new),
        }
        Some(Vec::new())
    }

    fn mouse(&mut self, event: MouseEvent, _: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        if let Some(action) = wheel(event.kind) {
            (0..WHEEL_LINES).for_each(|_| _ = self.scroll(action, area));
        }
        Vec::new()
    }

    fn search(&mut self, text: &str) {
        self.search = text.to_string();
    }

    fn status(&self, _: &PanelContext<'_>) -> Option<String> {
        let found = self.seen.as_ref()?.one()?;
        let count = |count: usize, what: &str| number::several(count as u64, what);
        let moved = found.groups.iter().filter(|check| check.disagrees).count();
        let broken = found.gates.iter().filter(|gate| !gate.passes).count();
        let parts = [
            count(found.mismatches.len(), "unlike condition"),
            count(moved, "moved mixture"),
            count(broken, "broken gate"),
        ];
        Some(parts.join(", "))
    }
}
