//! The screen Functions of a comparison: the code that changed, by how much, with error bars.
//! Changes that chance may explain come last and are marked.

mod draw;
mod rows;
#[cfg(test)]
mod tests;

use crate::tui::keys::Action;
use crate::tui::list::List;
use crate::tui::panel::{Cx, Panel, PanelRequest};
use crate::view::Axis;
use crate::view::diff::{CodeRow, CodeView, ComparisonView};
use crate::view::query::{ComparisonTab, ViewRequest};
use crate::view::snapshot::{Body, Compared};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::MouseEvent;
use ratatui::layout::Rect;
use rows::{Key, Order, What};

/// The screen's state.
#[derive(Debug, Default)]
pub struct State {
    seen: Option<Compared>,
    what: What,
    order: Order,
    reversed: bool,
    list: List<Key>,
    search: String,
    /// Whether only matches of the search are shown.
    only: bool,
    /// The function that another screen points to, until it is found.
    wanted: Option<String>,
}

impl State {
    /// Selects a function by its name.
    pub fn point_to(&mut self, name: &str) {
        (self.what, self.only) = (What::Functions, false);
        self.wanted = Some(name.to_string());
        self.settle();
    }

    fn settle(&mut self) {
        let Some(name) = &self.wanted else { return };
        if let Some(key) = self.rows().into_iter().find(|row| row.name == *name).map(rows::key) {
            self.list.pick(key);
            self.wanted = None;
        }
    }

    fn view(&self) -> Option<&ComparisonView> {
        self.seen.as_ref()?.one()
    }

    fn code(&self) -> Option<&CodeView> {
        self.view()?.code.as_ref()
    }

    fn rows(&self) -> Vec<&CodeRow> {
        let Some(code) = self.code() else { return Vec::new() };
        let mut all: Vec<&CodeRow> = self.what.rows(code).iter().collect();
        if self.only && !self.search.is_empty() {
            all.retain(|row| rows::fits(row, &self.search));
        }
        self.order.sort(&mut all);
        if self.reversed {
            all.reverse();
        }
        all
    }

    fn keys(&self) -> Vec<Key> {
        self.rows().into_iter().map(rows::key).collect()
    }

    fn row(&self) -> Option<&CodeRow> {
        let at = self.list.at(&self.keys())?;
        self.rows().into_iter().nth(at)
    }

    /// The table, below the title line.
    fn table(area: Rect) -> Rect {
        Rect { y: area.y + 1.min(area.height), height: area.height.saturating_sub(1), ..area }
    }

    fn find(&mut self, by: isize, height: u16) {
        if !self.search.is_empty() {
            let fit: Vec<bool> = self.rows().iter().map(|row| rows::fits(row, &self.search)).collect();
            let keys = self.keys();
            self.list.find(&keys, by, height, |at| fit[at]);
        }
    }

    /// The flame graph zoomed to the selected function, on the axis of the selected rows.
    fn zoom(&self, cx: &Cx<'_>) -> Vec<PanelRequest> {
        let Some(row) = self.row() else { return Vec::new() };
        let axis = if self.what == What::Waits { Axis::OffCpu } else { Axis::Event(0) };
        let path = row.callers.iter().chain([&row.name]).cloned().collect();
        (axis != cx.axis).then_some(PanelRequest::Count(axis)).into_iter().chain([PanelRequest::Zoom(path)]).collect()
    }
}

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

    fn show(&mut self, body: Body) {
        if let Body::Comparison(ComparisonTab::Functions, seen) = body {
            self.seen = Some(seen);
            self.settle();
        }
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer) {
        draw::draw(self, cx, area, buf);
    }

    fn act(&mut self, action: Action, cx: &Cx<'_>, area: Rect) -> Option<Vec<PanelRequest>> {
        let height = State::table(area).height;
        match action {
            Action::Enter | Action::Zoom => return Some(self.zoom(cx)),
            Action::Who => self.what = self.what.next(),
            Action::Sort => self.order = self.order.next(),
            Action::SortReverse => self.reversed = !self.reversed,
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

    fn mouse(&mut self, event: MouseEvent, cx: &Cx<'_>, area: Rect) -> Vec<PanelRequest> {
        let keys = self.keys();
        if self.list.mouse(event, &keys, State::table(area)) { self.zoom(cx) } else { Vec::new() }
    }

    fn search(&mut self, text: &str) {
        self.search = text.to_lowercase();
        if !text.is_empty() && !self.row().is_some_and(|row| rows::fits(row, &self.search)) {
            let first = self.rows().into_iter().find(|row| rows::fits(row, &self.search)).map(rows::key);
            first.into_iter().for_each(|first| self.list.pick(first));
        }
    }

    fn status(&self, cx: &Cx<'_>) -> Option<String> {
        Some(draw::status(self.code()?, self.what, self.row()?, cx))
    }

    fn selected_name(&self) -> Option<String> {
        self.row().map(|row| row.name.clone())
    }
}
