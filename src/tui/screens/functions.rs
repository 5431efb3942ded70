//! The screen Functions.
//! It never asks a profile itself.

use crate::tui::keys::Action;
use crate::tui::panel::{Cx, Panel, Wish};
use crate::view::functions::FunctionsView as View;
use crate::view::look::{Ask, Body};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Its state.
#[derive(Debug, Default)]
pub struct State {
    view: Option<View>,
    detail: Option<(String, String)>,
}

impl State {
    /// Shows that function's callers, callees and lines.
    pub fn detail(&mut self, name: String, module: String) {
        self.detail = Some((name, module));
    }
}

impl Panel for State {
    fn ask(&self) -> Ask {
        Ask::Functions { by: crate::view::GroupBy::Function, detail: self.detail.clone() }
    }

    fn show(&mut self, body: Body) {
        if let Body::Functions(view) = body {
            self.view = Some(view);
        }
    }

    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer) {
        let _ = (cx, area, buf, &self.view);
    }

    fn act(&mut self, action: Action, cx: &Cx<'_>, area: Rect) -> Option<Vec<Wish>> {
        let _ = (action, cx, area);
        None
    }

    fn search(&mut self, text: &str) {
        let _ = text;
    }

    fn status(&self, cx: &Cx<'_>) -> Option<String> {
        let _ = cx;
        None
    }
}
