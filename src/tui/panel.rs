//! What every screen can do, so that the session treats all alike.
//! A panel never reaches beyond its own area and its own data: what it wants of the session it returns as wishes.

use super::keys::{Action, KeyTable};
use super::theme::{Glyphs, Theme};
use super::time::Time;
use crate::view::Axis;
use crate::view::look::{Ask, Body, Head, Whose};
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::MouseEvent;
use ratatui::layout::Rect;
use std::fmt::Debug;

/// What a panel may know of the session around it.
#[derive(Debug, Clone, Copy)]
pub struct Cx<'a> {
    /// How things look.
    pub theme: &'a Theme,
    /// What is drawn with.
    pub glyphs: &'a Glyphs,
    /// Which key does what, for hints.
    pub keys: &'a KeyTable,
    /// What is profiled, and the history.
    pub head: &'a Head,
    /// The time that is shown.
    pub time: &'a Time,
    /// Whose data is shown.
    pub whose: &'a Whose,
    /// What is counted.
    pub axis: Axis,
    /// Whether changes against a mark or a baseline are shown.
    pub compared: bool,
}

/// A screen of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScreenId {
    /// The factors at a glance.
    Overview,
    /// The call tree.
    Flame,
    /// The table of functions.
    Functions,
    /// The threads.
    Threads,
    /// The counters.
    Counters,
    /// The findings.
    Findings,
    /// The sweep.
    Scaling,
    /// The session against its baseline.
    Baseline,
    /// What a comparison comes to.
    Changes,
    /// The code that changed.
    Code,
    /// What a comparison was put to, and what to know before believing it.
    Conditions,
}

/// What a panel wants of the session.
#[derive(Debug, Clone, PartialEq)]
pub enum Wish {
    /// Look again: what the panel asks for has changed.
    Ask,
    /// Show another screen.
    Go(ScreenId),
    /// Show the flame graph zoomed into the cell with these names from the root (as far as they are found).
    Zoom(Vec<String>),
    /// Show a function's callers, callees and lines: name and module's path.
    Detail(String, String),
    /// Show only these threads or processes; the text says who they are.
    Only(Whose, String),
    /// Count this.
    Count(Axis),
    /// Say this in the status line.
    Say(String),
    /// Put this on the clipboard.
    Copy(String),
}

/// A screen: its state, its keys, its drawing. All areas are the one [`Panel::draw`] is given for the same terminal size.
pub trait Panel: Debug {
    /// What keys mean here besides what the table says, for the help.
    fn keys(&self) -> &'static [(Action, &'static str)] {
        &[]
    }

    /// The view it needs now.
    fn ask(&self) -> Ask;

    /// Takes a new view; what was selected stays selected by name. Another panel's view is ignored.
    fn show(&mut self, body: Body);

    /// Draws itself, at any size down to one cell, before any view has come as well.
    fn draw(&self, cx: &Cx<'_>, area: Rect, buf: &mut Buffer);

    /// Carries out a key's action; `None` if it means nothing here.
    fn act(&mut self, action: Action, cx: &Cx<'_>, area: Rect) -> Option<Vec<Wish>>;

    /// A click, a wheel's turn, a movement within its area.
    fn mouse(&mut self, event: MouseEvent, cx: &Cx<'_>, area: Rect) -> Vec<Wish> {
        let _ = (event, cx, area);
        Vec::new()
    }

    /// Searches for a text, as it is typed; an empty one ends the search.
    fn search(&mut self, text: &str);

    /// What is selected, in full: name, values, why a value is missing. For the status line.
    fn status(&self, cx: &Cx<'_>) -> Option<String>;

    /// The name that is selected, for the clipboard.
    fn selected_name(&self) -> Option<String> {
        None
    }
}
