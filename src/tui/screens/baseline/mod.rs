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
use crate::tui::list::{List, ListRow, wheel};
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
    list: List<Key>,
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

    fn list_rows(&self) -> Vec<ListRow<Key>> {
        let Some(view) = self.view() else { return Vec::new() };
        let matches = |key: &Key| self.list.finds(|text| words::matches(view, key, text));
        rows::keys(view, self.all).into_iter().map(|key| ListRow { matches: matches(&key), key }).collect()
    }

    /// The selected item: the first until the user moves, or after the item has disappeared.
    fn selected(&self) -> Option<Key> {
        self.list.key(&self.list_rows())
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
        if action == Action::Filter {
            self.all = !self.all;
            return Some(Vec::new());
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
