//! The screen Baseline: the session compared with its baseline, the deviations and what explains them, and the suspects
//! whose CPU use moved with them. The screen labels a correlation as no more than that.

mod draw;
mod factors;
mod rows;
#[cfg(test)]
mod tests;
mod timeline;
mod words;

use crate::tui::keys::Action;
use crate::tui::panel::{Panel, PanelContext, PanelRequest};
use crate::view::baseline::BaselineComparisonView as View;
use crate::view::query::ViewRequest;
use crate::view::snapshot::PanelView;
use draw::Areas;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};
use rows::Row;
use words::Key;

/// The screen's state.
#[derive(Debug, Default)]
pub struct State {
    contents: Contents,
    /// The item the user moved to.
    picked: Option<Key>,
    search: String,
    /// Whether all quantities are listed, not only the factors and the deviations.
    all: bool,
}

/// The result of the last snapshot.
#[derive(Debug, Default)]
enum Contents {
    /// No snapshot yet.
    #[default]
    Nothing,
    /// The session has no baseline.
    Without,
    SelectedComparison(Box<View>),
}

impl State {
    fn view(&self) -> Option<&View> {
        match &self.contents {
            Contents::SelectedComparison(view) => Some(view),
            Contents::Nothing | Contents::Without => None,
        }
    }

    fn keys(&self) -> Vec<Key> {
        self.view().map(|view| rows::keys(view, self.all)).unwrap_or_default()
    }

    /// The selected item: the first until the user moves, or after the item has disappeared.
    fn selected(&self) -> Option<Key> {
        let keys = self.keys();
        self.picked.clone().filter(|key| keys.contains(key)).or(keys.into_iter().next())
    }

    fn go(&mut self, to: impl FnOnce(usize, usize) -> usize) {
        let (keys, selected) = (self.keys(), self.selected());
        let here = keys.iter().position(|key| Some(key) == selected.as_ref()).unwrap_or(0);
        if let Some(last) = keys.len().checked_sub(1) {
            self.picked = keys.get(to(here, last).min(last)).cloned();
        }
    }

    /// Selects the next item that contains the search text and wraps around at the end.
    fn find(&mut self, by: isize) {
        let Some(view) = self.view() else { return };
        let fit: Vec<bool> = self.keys().iter().map(|key| words::matches(view, key, &self.search)).collect();
        if self.search.is_empty() || fit.is_empty() {
            return;
        }
        self.go(|here, _| {
            let at = |step: isize| (here as isize + by * step).rem_euclid(fit.len() as isize) as usize;
            (1..=fit.len() as isize).map(at).find(|at| fit[*at]).unwrap_or(here)
        });
    }

    /// The rows of one side of the screen, and the first visible one.
    fn rows(&self, cx: &PanelContext<'_>, areas: &Areas, right: bool) -> (Vec<Row>, usize) {
        let Some(view) = self.view() else { return (Vec::new(), 0) };
        let area = if right { areas.right } else { areas.left };
        let all = match (areas.is_split(), right) {
            (true, false) => rows::left(view, self.all, cx, area.width),
            (true, true) => rows::right(view, cx, area.width),
            (false, false) => rows::one(view, self.all, cx, area.width),
            (false, true) => Vec::new(),
        };
        let top = draw::top(&all, self.selected().as_ref(), area.height);
        (all, top)
    }

    fn key_at(&self, cx: &PanelContext<'_>, area: Rect, at: Position) -> Option<Key> {
        let areas = Areas::of(area);
        let right = areas.right.contains(at);
        let part = if right { areas.right } else { areas.left };
        let (rows, top) = self.rows(cx, &areas, right);
        part.contains(at).then(|| rows.get(top + usize::from(at.y - part.y))?.key.clone()).flatten()
    }
}

impl Panel for State {
    fn keys(&self) -> &'static [(Action, &'static str)] {
        &[(Action::Filter, "every quantity, or the factors and what moved")]
    }

    fn request(&self) -> ViewRequest {
        ViewRequest::Baseline
    }

    fn show(&mut self, body: PanelView) {
        if let PanelView::Baseline(view) = body {
            self.contents = view.map_or(Contents::Without, Contents::SelectedComparison);
        }
    }

    fn draw(&self, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        match &self.contents {
            Contents::Nothing => draw::lines(&words::waiting(cx), area, buf),
            Contents::Without => draw::lines(&words::without(cx, area.width), area, buf),
            Contents::SelectedComparison(_) => {
                let areas = Areas::of(area);
                for (part, right) in [(areas.left, false), (areas.right, true)] {
                    let (rows, top) = self.rows(cx, &areas, right);
                    draw::rows(&rows, top, self.selected().as_ref(), cx, part, buf);
                }
            }
        }
    }

    fn act(&mut self, action: Action, _cx: &PanelContext<'_>, area: Rect) -> Option<Vec<PanelRequest>> {
        let page = usize::from(area.height / 2).max(1);
        match action {
            Action::Up => self.go(|here, _| here.saturating_sub(1)),
            Action::Down => self.go(|here, _| here + 1),
            Action::HalfPageUp => self.go(|here, _| here.saturating_sub(page / 2)),
            Action::HalfPageDown => self.go(|here, _| here + page / 2),
            Action::PageUp => self.go(|here, _| here.saturating_sub(page)),
            Action::PageDown => self.go(|here, _| here + page),
            Action::Top => self.go(|_, _| 0),
            Action::Bottom => self.go(|_, last| last),
            Action::Filter => self.all = !self.all,
            Action::SearchNext => self.find(1),
            Action::SearchPrevious => self.find(-1),
            _ => return None,
        }
        Some(Vec::new())
    }

    fn mouse(&mut self, event: MouseEvent, cx: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        match event.kind {
            MouseEventKind::Down(MouseButton::Left) => {
                let at = Position::new(event.column, event.row);
                self.picked = self.key_at(cx, area, at).or(self.picked.take());
            }
            MouseEventKind::ScrollDown => self.go(|here, _| here + 1),
            MouseEventKind::ScrollUp => self.go(|here, _| here.saturating_sub(1)),
            _ => {}
        }
        Vec::new()
    }

    fn search(&mut self, text: &str) {
        self.search = text.to_lowercase();
        let matches = |state: &State| {
            let key = state.selected();
            key.zip(state.view()).is_some_and(|(key, view)| words::matches(view, &key, &state.search))
        };
        if !matches(self) {
            self.find(1);
        }
    }

    fn status(&self, _cx: &PanelContext<'_>) -> Option<String> {
        Some(words::status(self.view()?, &self.selected()?))
    }

    fn selected_name(&self) -> Option<String> {
        Some(words::name(self.view()?, &self.selected()?))
    }
}
