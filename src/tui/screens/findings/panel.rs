//! Keys and mouse on the screen, and what it shows and asks for.

use super::draw::{Areas, Row};
use super::{Key, State, detail, draw};
use crate::tui::finding;
use crate::tui::keys::Action;
use crate::tui::panel::{Panel, PanelContext, PanelRequest};
use crate::view::escape::visible;
use crate::view::query::ViewRequest;
use crate::view::snapshot::PanelView;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};
use ratatui::text::Line;

impl State {
    fn select(&mut self, key: Key) {
        if self.chosen() != Some(key) {
            self.scroll = 0;
        }
        self.selected = Some(key);
    }

    fn go(&mut self, to: impl FnOnce(usize, usize) -> usize) -> Vec<PanelRequest> {
        let keys = self.keys();
        let here = keys.iter().position(|key| Some(*key) == self.chosen()).unwrap_or(0);
        if let Some(last) = keys.len().checked_sub(1) {
            self.select(keys[to(here, last).min(last)]);
        }
        Vec::new()
    }

    /// Whether the item of a key contains the search text.
    fn fits(&self, key: Key) -> bool {
        let Some(view) = &self.view else { return false };
        let contains_text = |text: &str| text.to_lowercase().contains(&self.search);
        match key {
            Key::Found(rule) => {
                let found = view.found.iter().find(|found| found.rule == rule);
                found.is_some_and(|found| contains_text(found.title) || contains_text(&found.claim))
            }
            Key::Undecided(why) => view.undecided.iter().any(|other| other.why == why && contains_text(other.title)),
        }
    }

    /// Selects the next item that matches the search and wraps around at the end.
    fn find(&mut self, by: isize) -> Vec<PanelRequest> {
        let keys = self.keys();
        if self.search.is_empty() || keys.is_empty() {
            return Vec::new();
        }
        let fit: Vec<_> = keys.iter().map(|key| self.fits(*key)).collect();
        self.go(|here, _| {
            let at = |step: isize| (here as isize + by * step).rem_euclid(fit.len() as isize) as usize;
            (1..=fit.len() as isize).map(at).find(|at| fit[*at]).unwrap_or(here)
        })
    }

    fn scroll_by(&mut self, by: i32, cx: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        let areas = Areas::of(area, self.view.as_ref());
        let lines = self.detail(cx, areas.detail.width).len() as u16;
        let most = lines.saturating_sub(areas.detail.height);
        self.scroll = self.scroll.min(most).saturating_add_signed(by.clamp(-999, 999) as i16).min(most);
        Vec::new()
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
        let way = finding::way(found, cx);
        if way.is_empty() { vec![PanelRequest::Say("this finding has no place in the code".into())] } else { way }
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
        let half = i32::from(Areas::of(area, self.view.as_ref()).detail.height / 2).max(1);
        Some(match action {
            Action::Up => self.go(|here, _| here.saturating_sub(1)),
            Action::Down => self.go(|here, _| here + 1),
            Action::Top => self.go(|_, _| 0),
            Action::Bottom => self.go(|_, last| last),
            Action::HalfPageUp => self.scroll_by(-half, cx, area),
            Action::HalfPageDown => self.scroll_by(half, cx, area),
            Action::PageUp => self.scroll_by(-2 * half, cx, area),
            Action::PageDown => self.scroll_by(2 * half, cx, area),
            Action::SearchNext => self.find(1),
            Action::SearchPrevious => self.find(-1),
            Action::Enter => self.enter(cx),
            _ => return None,
        })
    }

    fn mouse(&mut self, event: MouseEvent, cx: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        let areas = Areas::of(area, self.view.as_ref());
        let at = Position::new(event.column, event.row);
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) if areas.list.contains(at) => {
                let Some(view) = &self.view else { return Vec::new() };
                let rows = draw::rows(view, self.chosen(), areas.list.height);
                match rows.get(usize::from(at.y - areas.list.y)) {
                    // A second click on the same item opens it.
                    Some(Row::Key(key)) if self.selected == Some(*key) => return self.enter(cx),
                    Some(Row::Key(key)) => self.select(*key),
                    _ => {}
                }
                Vec::new()
            }
            MouseEventKind::ScrollDown if areas.detail.contains(at) => self.scroll_by(3, cx, area),
            MouseEventKind::ScrollUp if areas.detail.contains(at) => self.scroll_by(-3, cx, area),
            MouseEventKind::ScrollDown => self.go(|here, _| here + 1),
            MouseEventKind::ScrollUp => self.go(|here, _| here.saturating_sub(1)),
            _ => Vec::new(),
        }
    }

    fn search(&mut self, text: &str) {
        self.search = text.to_lowercase();
        if !self.chosen().is_some_and(|key| self.fits(key)) {
            self.find(1);
        }
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
