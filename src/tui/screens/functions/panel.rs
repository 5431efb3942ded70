//! The screen's answers to keys, the mouse and new views.

use super::areas::Areas;
use super::rows::Sort;
use super::state::State;
use super::{draw, input, status, words};
use crate::tui::keys::Action;
use crate::tui::panel::{Panel, PanelContext, PanelRequest};
use crate::view::query::ViewRequest;
use crate::view::snapshot::PanelView;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::MouseEvent;
use ratatui::layout::Rect;

impl Panel for State {
    fn request(&self) -> ViewRequest {
        ViewRequest::Functions { by: self.by, detail: self.rows.wanted(self.view.as_ref()) }
    }

    fn show(&mut self, body: PanelView) {
        let PanelView::Functions(view) = body else { return };
        // A view requested before the grouping changed is outdated.
        if view.by != self.by {
            return;
        }
        if self.rows.sort == Sort::Change && !view.compared {
            self.rows.sort = Sort::Own;
        }
        if let (Some((_, module)), Some(detail)) = (self.rows.list.picked(), &view.detail)
            && module.is_empty()
            && detail.row.is_some()
        {
            self.rows.list.select((detail.name.clone(), detail.module.clone()));
        }
        self.rows.arrange(&view);
        if let Some(detail) = &view.detail {
            self.pane.settle(detail);
        }
        self.view = Some(view);
    }

    fn draw(&self, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        draw::draw(self, cx, area, buf);
    }

    fn act(&mut self, action: Action, _: &PanelContext<'_>, area: Rect) -> Option<Vec<PanelRequest>> {
        let areas = Areas::of(area, self);
        if self.pane.focus {
            match self.act_in_detail(action, &areas) {
                None => self.arrange_by(action),
                done => done,
            }
        } else {
            self.act_on_table(action, &areas)
        }
    }

    fn mouse(&mut self, event: MouseEvent, _: &PanelContext<'_>, area: Rect) -> Vec<PanelRequest> {
        input::mouse(self, event, area)
    }

    fn search(&mut self, text: &str) {
        self.rows.list.search(text);
        self.arrange();
        if !self.pane.focus && !self.rows.list.filters() {
            self.rows.go_to_match();
        }
    }

    fn status(&self, cx: &PanelContext<'_>) -> Option<String> {
        let view = self.view.as_ref()?;
        match self.item().filter(|_| self.pane.focus) {
            Some((detail, item)) => Some(status::item(view, detail, self.pane.section, item)),
            None => match self.row() {
                Some(row) => Some(status::row(view, row, cx)),
                None => self.rows.list.picked().map(|(name, _)| status::absent(name, self.rows.list.filters())),
            },
        }
    }

    fn selected_name(&self) -> Option<String> {
        match self.item().filter(|_| self.pane.focus) {
            Some((detail, item)) => Some(words::text_of(detail, self.pane.section, item)),
            None => self.row().map(|row| row.name.clone()),
        }
    }
}
