//! The screen Overview of a comparison: the answer, the factors of the difference, every quantity with its interval.
//! It also lists everything that could not be compared.

mod draw;
mod rows;
#[cfg(test)]
mod tests;
mod words;

use crate::tui::keys::Action;
use crate::tui::list::{List, ListRow};
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
}

impl State {
    fn view(&self) -> Option<&ComparisonView> {
        self.seen.as_ref()?.one()
    }

    fn rows(&self) -> Vec<Row<'_>> {
        let all = self.view().map(rows::rows).unwrap_or_default();
        all.into_iter().filter(|row| self.list.shows(|text| row.fits(text))).collect()
    }

    fn list_rows(&self) -> Vec<ListRow<Key>> {
        let row = |row: &Row<'_>| ListRow { key: row.key(), matches: self.list.finds(|text| row.fits(text)) };
        self.rows().iter().map(row).collect()
    }

    fn row(&self) -> Option<Row<'_>> {
        let at = self.list.at(&self.list_rows())?;
        self.rows().into_iter().nth(at)
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
            Action::Filter => self.list.only = !self.list.only,
            action => {
                let rows = self.list_rows();
                return self.list.act(action, &rows, height).then(Vec::new);
            }
        }
        Some(Vec::new())
    }

    fn mouse(&mut self, event: MouseEvent, _: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        let table = Areas::of(area, self.view()).table;
        let rows = self.list_rows();
        self.list.mouse(event, &rows, table);
        Vec::new()
    }

    fn search(&mut self, text: &str) {
        self.list.search(text);
        let rows = self.list_rows();
        self.list.go_to_match(&rows);
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
