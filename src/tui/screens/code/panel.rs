//! The screen's answers to keys, the mouse and new views.

use super::draw;
use super::state::State;
use crate::tui::keys::Action;
use crate::tui::panel::{Panel, PanelContext, PanelRequest};
use crate::view::query::{ComparisonTab, ViewRequest};
use crate::view::snapshot::PanelView;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::MouseEvent;
use ratatui::layout::Rect;

impl Panel for State {
    fn keys(&self) -> &'static [(Action, &'static str)] {
        &[
            (Action::Who, "functions, call paths, waits"),
            (Action::Per, "what costs are divided by"),
            (Action::Sort, "by change, by ratio, by cost"),
            (Action::Enter, "show it in the flame graph"),
            (Action::StepForward, "the next side, from any screen"),
        ]
    }

    fn request(&self) -> ViewRequest {
        ViewRequest::Comparison(ComparisonTab::Functions)
    }

    fn show(&mut self, body: PanelView) {
        if let PanelView::Comparison(ComparisonTab::Functions, seen) = body {
            self.seen = Some(seen);
            self.settle();
        }
    }

    fn draw(&self, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        draw::draw(self, cx, area, buf);
    }

    fn act(&mut self, action: Action, cx: &PanelContext<'_>, area: Rect) -> Option<Vec<PanelRequest>> {
        let height = State::table(area).height;
        match action {
            Action::Enter | Action::Zoom => return Some(self.zoom(cx)),
            Action::Who => self.row_kind = self.row_kind.next(),
            Action::Sort => self.order = self.order.next(),
            Action::SortReverse => self.reversed = !self.reversed,
            Action::Filter => self.list.only = !self.list.only,
            action => {
                let rows = self.list_rows();
                return self.list.act(action, &rows, height).then(Vec::new);
            }
        }
        Some(Vec::new())
    }

    fn mouse(&mut self, event: MouseEvent, cx: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        let rows = self.list_rows();
        if self.list.mouse(event, &rows, State::table(area)) { self.zoom(cx) } else { Vec::new() }
    }

    fn search(&mut self, text: &str) {
        self.list.search(text);
        let rows = self.list_rows();
        self.list.go_to_match(&rows);
    }

    fn status(&self, cx: &PanelContext<'_>) -> Option<String> {
        Some(draw::status(self.code()?, self.row_kind, self.row()?, cx))
    }

    fn selected_name(&self) -> Option<String> {
        self.row().map(|row| row.name.clone())
    }
}
