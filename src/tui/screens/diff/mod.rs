//! The screen Overview of a comparison: the answer, the factors of the difference, every quantity with its interval.
//! It also lists everything that could not be compared.

mod draw;
mod rows;
#[cfg(test)]
mod tests;
mod words;

use crate::tui::keys::Action;
use crate::tui::list::List;
use crate::tui::panel::{Panel, PanelContext, PanelRequest, ScreenId};
use crate::view::diff::ComparisonView;
use crate::view::query::{ComparisonTab, ViewRequest};
use crate::view::snapshot::{PanelView, SelectedComparison};
use draw::Areas;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::MouseEvent;
use ratatui::layout::Rect;
use rows::{Key, Row};

/// The screen's state.
#[derive(Debug, Default)]
pub struct State {
    seen: Option<SelectedComparison>,
    list: List<Key>,
    search: String,
    /// Whether only matches of the search are shown.
    only: bool,
}

impl State {
    fn view(&self) -> Option<&ComparisonView> {
        self.seen.as_ref()?.one()
    }

    fn rows(&self) -> Vec<Row<'_>> {
        let all = self.view().map(rows::rows).unwrap_or_default();
        let shown = |row: &Row<'_>| !self.only || self.search.is_empty() || row.fits(&self.search);
        all.into_iter().filter(shown).collect()
    }

    fn keys(&self) -> Vec<Key> {
        self.rows().iter().map(Row::key).collect()
    }

    fn row(&self) -> Option<Row<'_>> {
        let at = self.list.at(&self.keys())?;
        self.rows().into_iter().nth(at)
    }

    fn find(&mut self, by: isize, height: u16) {
        if !self.search.is_empty() {
            let fit: Vec<bool> = self.rows().iter().map(|row| row.fits(&self.search)).collect();
            let keys = self.keys();
            self.list.find(&keys, by, height, |at| fit[at]);
        }
    }
}

impl Panel for State {
    fn keys(&self) -> &'static [(Action, &'static str)] {
        &[
            (Action::StepBack, "the side before, from any screen"),
            (Action::StepForward, "the next side, from any screen"),
            (Action::Per, "what costs of functions are divided by"),
            (Action::Enter, "flame graph of the change"),
        ]
    }

    fn request(&self) -> ViewRequest {
        ViewRequest::Comparison(ComparisonTab::Overview)
    }

    fn show(&mut self, body: PanelView) {
        if let PanelView::Comparison(ComparisonTab::Overview, seen) = body {
            self.seen = Some(seen);
        }
    }

    fn draw(&self, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        draw::draw(self, cx, area, buf);
    }

    fn act(&mut self, action: Action, _: &PanelContext<'_>, area: Rect) -> Option<Vec<PanelRequest>> {
        let height = Areas::of(area, self.view()).table.height;
        match action {
            Action::Enter | Action::Zoom => return Some(vec![PanelRequest::Go(ScreenId::Flame)]),
            Action::Detail => return Some(vec![PanelRequest::Go(ScreenId::Code)]),
            Action::Filter => self.only = !self.only,
            Action::SearchNext => self.find(1, height),
            Action::SearchPrevious => self.find(-1, height),
            action => {
                let keys = self.keys();
                return self.list.act(action, &keys, height).then(Vec::new);
            }
        }
        Some(Vec::new())
    }

    fn mouse(&mut self, event: MouseEvent, _: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        let table = Areas::of(area, self.view()).table;
        let keys = self.keys();
        self.list.mouse(event, &keys, table);
        Vec::new()
    }

    fn search(&mut self, text: &str) {
        self.search = text.to_lowercase();
        if !text.is_empty() && !self.row().is_some_and(|row| row.fits(&self.search)) {
            let first = self.rows().iter().find(|row| row.fits(&self.search)).map(Row::key);
            first.into_iter().for_each(|first| self.list.pick(first));
        }
    }

    fn status(&self, cx: &PanelContext<'_>) -> Option<String> {
        Some(words::status(self.view()?, &self.row()?, cx))
    }

    fn selected_name(&self) -> Option<String> {
        match self.row()? {
            Row::Factor(part) => Some(part.factor.to_string()),
            Row::Quantity(row, _) => Some(row.name.to_string()),
            Row::Heading(..) | Row::Text(_) => None,
        }
    }
}
