//! Keys and mouse on the screen, and what it shows and asks for.

use super::draw::{Areas, Row};
use super::{Key, State, detail, draw};
use crate::tui::finding;
use crate::tui::keys::Action;
use crate::tui::list::{ListRow, WHEEL_LINES, scrolled, wheel};
use crate::tui::panel::{Panel, PanelContext, PanelRequest};
use crate::view::escape::visible;
use crate::view::query::ViewRequest;
use crate::view::snapshot::PanelView;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

impl State {
    /// Changes the selection; the detail of another item is shown from its start.
    fn select(&mut self, change: impl FnOnce(&mut Self, &[ListRow<Key>])) {
        let (rows, before) = (self.list_rows(), self.chosen());
        change(self, &rows);
        if self.chosen() != before {
            self.scroll = 0;
        }
    }

    /// Scrolls the detail.
    fn scroll(&mut self, action: Action, cx: &PanelContext<'_>, area: Rect) {
        let detail = Areas::of(area, self.view.as_ref()).detail;
        let lines = self.detail(cx, detail.width).len();
        self.scroll = scrolled(action, self.scroll, lines, detail.height).unwrap_or(self.scroll);
    }

    fn detail(&self, cx: &PanelContext<'_>, width: u16) -> Vec<Line<'static>> {
        match (self.chosen(), self.found(), &self.view) {
            (_, Some(found), _) => detail::found(found, cx, usize::from(width)),
            (Some(Key::Undecided(why)), _, Some(view)) => {
                let titles = view.undecided.iter().filter(|other| other.why == why).map(|other| other.title);
                detail::undecided(why, titles, cx, usize::from(width))
            }
            _ => Vec::new(),
        }
    }

    fn enter(&self, cx: &PanelContext<'_>) -> Vec<PanelRequest> {
        let Some(found) = self.found() else { return Vec::new() };
        let evidence = finding::evidence(found, cx);
        if evidence.is_empty() {
            vec![PanelRequest::Say("the numbers of this finding are here only".into())]
        } else {
            evidence
        }
    }
}

impl Panel for State {
    fn request(&self) -> ViewRequest {
        ViewRequest::Findings
    }

    fn show(&mut self, body: PanelView) {
        if let PanelView::Findings(view) = body {
            self.view = Some(view);
        }
    }

    fn draw(&self, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        let Some(view) = &self.view else { return draw::waiting(cx, area, buf) };
        let areas = Areas::of(area, Some(view));
        draw::list(view, self.chosen(), cx, areas.list, buf);
        draw::detail(&self.detail(cx, areas.detail.width), self.scroll, &areas, cx, buf);
    }

    fn act(&mut self, action: Action, cx: &PanelContext<'_>, area: Rect) -> Option<Vec<PanelRequest>> {
        match action {
            Action::Enter => Some(self.enter(cx)),
            Action::HalfPageUp | Action::HalfPageDown | Action::PageUp | Action::PageDown => {
                self.scroll(action, cx, area);
                Some(Vec::new())
            }
            action => {
                let mut done = false;
                self.select(|state, rows| done = state.list.act(action, rows, area.height));
                done.then(Vec::new)
            }
        }
    }

    fn mouse(&mut self, event: MouseEvent, cx: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        let areas = Areas::of(area, self.view.as_ref());
        let at = Position::new(event.column, event.row);
        if let Some(action) = wheel(event.kind) {
            if areas.detail.contains(at) {
                (0..WHEEL_LINES).for_each(|_| self.scroll(action, cx, area));
            } else {
                self.act(action, cx, area);
            }
        }
        if event.kind == MouseEventKind::Down(MouseButton::Left) && areas.list.contains(at) {
            let Some(view) = &self.view else { return Vec::new() };
            let rows = draw::rows(view, self.chosen(), areas.list.height);
            match rows.get(usize::from(at.y - areas.list.y)) {
                // A second click on the same item opens it.
                Some(Row::Key(key)) if self.list.picked() == Some(key) => return self.enter(cx),
                Some(Row::Key(key)) => self.select(|state, _| state.list.select(*key)),
                _ => {}
            }
        }
        Vec::new()
    }

    fn search(&mut self, text: &str) {
        self.list.search(text);
        self.select(|state, rows| state.list.go_to_match(rows));
    }

    fn status(&self, _cx: &PanelContext<'_>) -> Option<String> {
        Some(match (self.chosen()?, self.found()) {
            (_, Some(found)) => {
                let (share, sure) = (finding::share(found), finding::confidence(found.confidence));
                format!("{}: {share} of the time, confidence {sure}", visible(found.title))
            }
            (Key::Undecided(why), _) => format!("cannot be decided: {}", why.text()),
            (Key::Found(_), None) => return None,
        })
    }

    fn selected_name(&self) -> Option<String> {
        let found = self.found()?;
        let function = found.place.as_ref().and_then(|place| place.frames.last());
        Some(function.cloned().unwrap_or_else(|| found.title.to_string()))
    }
}
