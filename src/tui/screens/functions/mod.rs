//! The screen Functions: the functions that use the time, their callers and callees, their lines.

mod areas;
mod cursor;
mod draw;
mod input;
mod pane;
mod rows;
mod sections;
mod status;
#[cfg(test)]
mod tests;
mod words;

use crate::tui::keys::Action;
use crate::tui::panel::{Cx, Panel, PanelRequest};
use crate::view::functions::{Detail, FunctionsView, Row};
use crate::view::query::ViewRequest;
use crate::view::snapshot::Body;
use crate::view::{CodeKind, GroupBy};
use areas::Areas;
use pane::{Item, Pane};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::MouseEvent;
use ratatui::layout::Rect;
use rows::{Key, Rows, Sort};

/// The screen's state.
#[derive(Debug, Default)]
pub struct State {
    view: Option<FunctionsView>,
    by: GroupBy,
    rows: Rows,
    pane: Pane,
    /// Visible rows of the table at the last key press.
    page: usize,
}

impl State {
    /// Shows that function's callers, callees and lines; without a module, the largest function of that name.
    pub fn detail(&mut self, name: String, module: String) {
        (self.by, self.rows.module, self.rows.filter) = (GroupBy::Function, None, false);
        self.pane.start_anew();
        self.pane.focus = true;
        self.look_around((name, module));
    }

    fn look_around(&mut self, key: Key) {
        self.rows.chosen = Some(key);
        self.arrange();
    }

    fn arrange(&mut self) {
        if let Some(view) = &self.view {
            self.rows.arrange(view);
        }
    }

    fn row(&self) -> Option<&Row> {
        self.rows.current(self.view.as_ref()?)
    }

    fn around(&self) -> Option<&Detail> {
        self.view.as_ref()?.detail.as_deref()
    }

    /// The selected line of the detail.
    fn item(&self) -> Option<(&Detail, Item)> {
        let detail = self.around()?;
        Some((detail, self.pane.current(detail)?))
    }

    /// Visible rows of the table.
    fn page(&self) -> usize {
        if self.page == 0 { 10 } else { self.page }
    }
}

impl Panel for State {
    fn request(&self) -> ViewRequest {
        ViewRequest::Functions { by: self.by, detail: self.rows.wanted(self.view.as_ref()) }
    }

    fn show(&mut self, body: Body) {
        let Body::Functions(view) = body else { return };
        // A view requested before the grouping changed is outdated.
        if view.by != self.by {
            return;
        }
        if self.rows.sort == Sort::Change && !view.compared {
            self.rows.sort = Sort::Own;
        }
        if let (Some((name, module)), Some(detail)) = (&mut self.rows.chosen, &view.detail)
            && module.is_empty()
            && detail.row.is_some()
        {
            (*name, *module) = (detail.name.clone(), detail.module.clone());
        }
        self.rows.arrange(&view);
        if let Some(detail) = &view.detail {
            self.pane.settle(detail);
        }
        self.view = Some(view);
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer) {
        draw::draw(self, cx, area, buf);
    }

    fn act(&mut self, action: Action, _: &Cx<'_>, area: Rect) -> Option<Vec<PanelRequest>> {
        let areas = Areas::of(area, self);
        self.page = areas.page();
        if self.pane.focus {
            match self.act_in_detail(action, &areas) {
                None => self.arrange_by(action),
                done => done,
            }
        } else {
            self.act_on_table(action, &areas)
        }
    }

    fn mouse(&mut self, event: MouseEvent, _: &Cx<'_>, area: Rect) -> Vec<PanelRequest> {
        input::mouse(self, event, area)
    }

    fn search(&mut self, text: &str) {
        let needle = text.to_lowercase();
        if needle == self.rows.needle {
            return;
        }
        self.rows.needle = needle;
        self.arrange();
        let Some(view) = self.view.as_ref().filter(|_| !self.pane.focus && !self.rows.filters()) else { return };
        if let Some(at) = self.rows.find(view, false, true) {
            self.rows.choose(view, at, self.page());
        }
    }

    fn status(&self, cx: &Cx<'_>) -> Option<String> {
        let view = self.view.as_ref()?;
        match self.item().filter(|_| self.pane.focus) {
            Some((detail, item)) => Some(status::item(view, detail, self.pane.section, item)),
            None => match self.row() {
                Some(row) => Some(status::row(view, row, cx)),
                None => self.rows.chosen.as_ref().map(|(name, _)| status::absent(name, self.rows.filters())),
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

/// The letter for the kind of code; inlined calls have their own.
fn mark(kind: CodeKind, inlined: bool) -> &'static str {
    match kind {
        CodeKind::Kernel => "k",
        CodeKind::Jit => "j",
        CodeKind::User if inlined => "i",
        CodeKind::User | CodeKind::Heading => "",
    }
}
