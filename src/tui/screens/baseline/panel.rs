//! The comparison with the baseline as a panel: keys, mouse, search and the status line.

use super::draw::{self, Areas};
use super::{Contents, State, words};
use crate::tui::keys::Action;
use crate::tui::list::wheel;
use crate::tui::panel::{Panel, PanelContext, PanelRequest};
use crate::view::query::ViewRequest;
use crate::view::snapshot::PanelView;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

impl Panel for State {
    fn keys(&self) -> &'static [(Action, &'static str)] {
        &[
            (Action::Filter, "every quantity, or the factors and what moved"),
            (Action::Enter, "pause at the end of the selected alarm, with what explained it"),
        ]
    }

    fn request(&self) -> ViewRequest {
        ViewRequest::Baseline
    }

    fn show(&mut self, body: PanelView) {
        if let PanelView::Baseline(view) = body {
            self.contents = view.map_or(Contents::Without, Contents::Compared);
        }
    }

    fn draw(&self, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        match &self.contents {
            Contents::Nothing => draw::lines(&words::waiting(cx), area, buf),
            Contents::Without => draw::lines(&words::without(cx, area.width), area, buf),
            Contents::Compared(_) => {
                let areas = Areas::of(area);
                for (part, right) in [(areas.left, false), (areas.right, true)] {
                    let (rows, top) = self.rows(cx, &areas, right);
                    draw::rows(&rows, top, self.selected().as_ref(), cx, part, buf);
                }
            }
        }
    }

    fn act(&mut self, action: Action, _cx: &PanelContext<'_>, area: Rect) -> Option<Vec<PanelRequest>> {
        if action == Action::Filter {
            self.all = !self.all;
            return Some(Vec::new());
        }
        if action == Action::Enter {
            return self.alarm_end().map(|at| vec![PanelRequest::At(at)]);
        }
        let rows = self.list_rows();
        // An item takes more than a line.
        self.list.act(action, &rows, area.height / 2).then(Vec::new)
    }

    fn mouse(&mut self, event: MouseEvent, cx: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        if event.kind == MouseEventKind::Down(MouseButton::Left) {
            let at = Position::new(event.column, event.row);
            self.key_at(cx, area, at).into_iter().for_each(|key| self.list.select(key));
        }
        wheel(event.kind).and_then(|action| self.act(action, cx, area)).unwrap_or_default()
    }

    fn search(&mut self, text: &str) {
        self.list.search(text);
        let rows = self.list_rows();
        self.list.go_to_match(&rows);
    }

    fn status(&self, _cx: &PanelContext<'_>) -> Option<String> {
        Some(words::status(self.view()?, &self.selected()?))
    }

    fn selected_name(&self) -> Option<String> {
        Some(words::name(self.view()?, &self.selected()?))
    }
}
