//! The whole state of the terminal session: which screen, which time, whose data, what lies on top.
//! It never does anything itself: [`App::update`] turns a message into effects, [`App::draw`] fills a buffer.

mod actions;
mod draw;
mod input;
#[cfg(test)]
mod tests;
mod update;

use super::keys::KeyTable;
use super::overlay::Overlay;
use super::panel::{Cx, Panel, ScreenId};
use super::picker::Picker;
use super::screens::{self, Kind, Panels};
use super::settings::Settings;
use super::theme::{Glyphs, Theme};
use super::time::Time;
use crate::view::Axis;
use crate::view::compare::Per;
use crate::view::look::{Head, Query, Whose};

/// A line for the user, with how grave it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Notice {
    pub text: String,
    pub bad: bool,
}

/// What is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing yet: the picker.
    Picking,
    /// Something is being opened.
    Opening,
    /// A session.
    Open {
        /// Whether the capture is, or was, a live one.
        live: bool,
    },
}

/// The session's state.
#[derive(Debug)]
pub struct App {
    pub(super) theme: Theme,
    pub(super) glyphs: Glyphs,
    pub(super) keys: KeyTable,
    pub(super) stage: Stage,
    /// Whether what cannot be opened leads back to the picker.
    pub(super) from_picker: bool,
    pub(super) picker: Picker,
    /// Which screens there are.
    pub(super) kind: Kind,
    pub(super) screen: ScreenId,
    pub(super) panels: Panels,
    pub(super) time: Time,
    pub(super) whose: Whose,
    /// Who `whose` is, in words.
    pub(super) whose_label: String,
    pub(super) axis: Axis,
    /// Which of the sides of a comparison, and what its costs are divided by if the user has said so.
    pub(super) side: u32,
    pub(super) per: Option<Per>,
    pub(super) head: Option<Head>,
    /// Why the last look gave no view.
    pub(super) problem: Option<crate::error::Error>,
    pub(super) search: String,
    pub(super) overlay: Overlay,
    pub(super) notice: Option<Notice>,
    /// Why the capture is over.
    pub(super) ended: Option<String>,
    /// A look is under way; what is asked meanwhile waits for it.
    pub(super) looking: bool,
    pub(super) stale: bool,
    pub(super) size: (u16, u16),
    /// Where a drag on the strip began.
    pub(super) drag: Option<crate::units::Nanos>,
    dirty: bool,
    /// Whether the session was ended by others: a signal, or the terminal's end.
    pub(super) forced: bool,
    /// Why nothing could be opened, if that ended the session.
    pub(super) refused: Option<crate::error::Error>,
}

impl App {
    /// A session without anything open: the picker.
    #[must_use]
    pub fn new(settings: &Settings, size: (u16, u16)) -> App {
        App {
            theme: settings.theme(),
            glyphs: settings.glyphs(),
            keys: settings.keys.clone(),
            stage: Stage::Picking,
            from_picker: true,
            picker: Picker::default(),
            kind: Kind::Profile,
            screen: ScreenId::Overview,
            panels: screens::all(),
            time: Time::new(true, false),
            whose: Whose::default(),
            whose_label: String::new(),
            axis: Axis::Event(0),
            side: 0,
            per: None,
            head: None,
            problem: None,
            search: String::new(),
            overlay: Overlay::None,
            notice: None,
            ended: None,
            looking: false,
            stale: false,
            size,
            drag: None,
            dirty: true,
            forced: false,
            refused: None,
        }
    }

    /// A session whose target is already being opened.
    #[must_use]
    pub fn opening(settings: &Settings, size: (u16, u16)) -> App {
        App { stage: Stage::Opening, from_picker: false, ..App::new(settings, size) }
    }

    /// A session on a sweep, which its host opens.
    #[must_use]
    pub fn sweep(settings: &Settings, size: (u16, u16)) -> App {
        App { kind: Kind::Sweep, screen: Kind::Sweep.first(), ..App::opening(settings, size) }
    }

    /// A session on a comparison, which its host works out.
    #[must_use]
    pub fn comparison(settings: &Settings, size: (u16, u16)) -> App {
        let kind = Kind::Comparison;
        App { kind, screen: kind.first(), ..App::opening(settings, size) }
    }

    /// Begins on another screen than the overview.
    pub fn start_on(&mut self, screen: ScreenId) {
        self.screen = screen;
    }

    /// Whether there is something to draw; asking forgets it.
    pub fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.dirty)
    }

    /// Whether the session was ended by a signal or the terminal's end: what is held must then not be lost.
    #[must_use]
    pub fn was_forced(&self) -> bool {
        self.forced
    }

    /// Why the session ended before it began: its target could not be opened.
    pub fn take_refusal(&mut self) -> Option<crate::error::Error> {
        self.refused.take()
    }

    pub(super) fn panel(&self) -> &dyn Panel {
        self.panels.get(self.screen)
    }

    /// Runs `f` with the open screen's panel and what it may know; `None` before the first look.
    pub(super) fn with_panel<T>(&mut self, f: impl FnOnce(&mut dyn Panel, &Cx<'_>) -> T) -> Option<T> {
        let head = self.head.as_ref()?;
        let cx = Cx {
            theme: &self.theme,
            glyphs: &self.glyphs,
            keys: &self.keys,
            head,
            time: &self.time,
            whose: &self.whose,
            axis: self.axis,
            compared: self.time.compare,
        };
        Some(f(self.panels.get_mut(self.screen), &cx))
    }

    /// What the open screen needs to know now.
    pub(super) fn query(&self) -> Query {
        Query {
            when: self.time.when(),
            end: self.time.end,
            whose: self.whose.clone(),
            axis: self.axis,
            against: self.time.against(),
            point: match self.kind {
                Kind::Comparison => Some(self.side),
                Kind::Profile | Kind::Sweep => self.panels.scaling.chosen(),
            },
            per: self.per,
            ask: self.panel().ask(),
        }
    }
}
