//! The screen Flame.
//! It never asks a profile itself.

use crate::tui::keys::Action;
use crate::tui::panel::{Cx, Panel, Wish};
use crate::view::icicle::Icicle as View;
use crate::view::look::{Ask, Body};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Its state.
#[derive(Debug, Default)]
pub struct State {
    view: Option<View>,
}

impl State {
    /// Zooms into the cell with these names from the root, as far as they are found.
    pub fn zoom_to(&mut self, path: Vec<String>) {
        let _ = path;
    }

    /// The names from the root to the cell that is zoomed into, and whether the root is above.
    #[must_use]
    pub fn shown(&self) -> (Vec<String>, bool) {
        (Vec::new(), true)
    }
}

impl Panel for State {
    fn ask(&self) -> Ask {
        Ask::Flame
    }

    fn show(&mut self, body: Body) {
        if let Body::Flame(view) = body {
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
