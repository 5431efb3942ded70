//! Choosing what to look at: a process, a control group, a command to start, a recording. It never opens it.

use super::keys::Action;
use super::theme::{Glyphs, Theme};
use crate::view::picker::{Choice, Choices};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Rect;

/// Its state.
#[derive(Debug, Default)]
pub struct Picker {
    choices: Choices,
}

impl Picker {
    /// Takes a new listing; what was selected stays selected.
    pub fn show(&mut self, choices: Choices) {
        self.choices = choices;
    }

    /// Whether keys are characters of a search or a command now.
    #[must_use]
    pub fn is_typing(&self) -> bool {
        false
    }

    /// Takes a key, with the action it is bound to; gives what was chosen.
    pub fn key(&mut self, key: KeyEvent, action: Option<Action>, area: Rect) -> Option<Choice> {
        let _ = (key, action, area);
        None
    }

    /// Takes pasted text.
    pub fn paste(&mut self, text: &str) {
        let _ = text;
    }

    /// Takes the mouse.
    pub fn mouse(&mut self, event: MouseEvent, area: Rect) -> Option<Choice> {
        let _ = (event, area);
        None
    }

    /// Draws itself.
    pub fn draw(&self, theme: &Theme, glyphs: &Glyphs, area: Rect, buf: &mut Buffer) {
        let _ = (theme, glyphs, area, buf);
    }
}
