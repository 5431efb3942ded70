//! The whole state of the terminal session: open screen, shown time, thread filter, overlay.
//! All changes go through [`App::update`], which turns a message into effects; [`App::draw`] only fills a buffer.

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
use super::screens::{Panels, SessionKind};
use super::settings::Settings;
use super::theme::{Glyphs, Theme};
use super::time::Time;
use crate::view::Axis;
use crate::view::diff::Per;
use crate::view::query::{Query, TaskFilter};
use crate::view::snapshot::Head;

/// A line for the user and its severity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Notice {
    pub text: String,
    pub bad: bool,
}

/// What the session has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing: the picker is shown.
    Picking,
    /// A target is being opened.
    Opening,
    /// A session.
    Open {
        /// Whether this is a live capture, running or ended.
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
    /// Whether a target that fails to open leads back to the picker.
    pub(super) from_picker: bool,
    pub(super) picker: Picker,
    /// Which set of screens the session has.
    pub(super) kind: SessionKind,
    pub(super) screen: ScreenId,
    pub(super) panels: Panels,
    pub(super) time: Time,
    pub(super) filter: TaskFilter,
    /// `filter` as a label.
    pub(super) filter_label: String,
    pub(super) axis: Axis,
    /// The selected side of a comparison, and the divisor of its costs if the user chose one.
    pub(super) side: u32,
    pub(super) per: Option<Per>,
    pub(super) head: Option<Head>,
    /// Why the last snapshot has no view.
    pub(super) problem: Option<crate::error::Error>,
    pub(super) search: String,
    pub(super) overlay: Overlay,
    pub(super) notice: Option<Notice>,
    /// Why the capture ended.
    pub(super) ended: Option<String>,
    /// A snapshot is pending; `stale` remembers that another one is needed after it.
    pub(super) looking: bool,
    pub(super) stale: bool,
    pub(super) size: (u16, u16),
    /// Where a drag on the history strip began.
    pub(super) drag: Option<crate::units::Nanos>,
    dirty: bool,
    /// Whether a signal or the loss of the terminal ended the session.
    pub(super) forced: bool,
    /// Why the target could not be opened, if that ended the session.
    pub(super) refused: Option<crate::error::Error>,
}

impl App {
    /// Creates a session with nothing open: it shows the picker.
    #[must_use]
    pub fn new(settings: &Settings, size: (u16, u16)) -> App {
        App {
            theme: settings.theme(),
            glyphs: settings.glyphs(),
            keys: settings.keys.clone(),
            stage: Stage::Picking,
            from_picker: true,
            picker: Picker::default(),
            kind: SessionKind::Profile,
            screen: ScreenId::Overview,
            panels: Panels::default(),
            time: Time::new(true, false),
            filter: TaskFilter::default(),
            filter_label: String::new(),
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

    /// Creates a session whose target is already being opened.
    #[must_use]
    pub fn opening(settings: &Settings, size: (u16, u16)) -> App {
        App { stage: Stage::Opening, from_picker: false, ..App::new(settings, size) }
    }

    /// Creates a session for a sweep, which the host opens.
    #[must_use]
    pub fn sweep(settings: &Settings, size: (u16, u16)) -> App {
        App { kind: SessionKind::Sweep, screen: SessionKind::Sweep.first(), ..App::opening(settings, size) }
    }

    /// Creates a session for a comparison, which the host computes.
    #[must_use]
    pub fn comparison(settings: &Settings, size: (u16, u16)) -> App {
        let kind = SessionKind::Comparison;
        App { kind, screen: kind.first(), ..App::opening(settings, size) }
    }

    /// Sets the first screen; the default is the overview.
    pub fn start_on(&mut self, screen: ScreenId) {
        self.screen = screen;
    }

    /// Returns whether a redraw is due, and resets the flag.
    pub fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.dirty)
    }

    /// Whether a signal or the loss of the terminal ended the session; unsaved data must then be saved.
    #[must_use]
    pub fn was_forced(&self) -> bool {
        self.forced
    }

    /// Takes the error that ended the session before its target was open.
    pub fn take_refusal(&mut self) -> Option<crate::error::Error> {
        self.refused.take()
    }

    pub(super) fn panel(&self) -> &dyn Panel {
        self.panels.get(self.screen)
    }

    /// Runs `f` with the open screen's panel and its context; `None` before the first snapshot.
    pub(super) fn with_panel<T>(&mut self, f: impl FnOnce(&mut dyn Panel, &Cx<'_>) -> T) -> Option<T> {
        let head = self.head.as_ref()?;
        let cx = Cx {
            theme: &self.theme,
            glyphs: &self.glyphs,
            keys: &self.keys,
            head,
            time: &self.time,
            filter: &self.filter,
            axis: self.axis,
            compared: self.time.compare,
        };
        Some(f(self.panels.get_mut(self.screen), &cx))
    }

    /// The query for the open screen in its current state.
    pub(super) fn query(&self) -> Query {
        Query {
            time: self.time.selector(),
            end: self.time.end,
            filter: self.filter.clone(),
            axis: self.axis,
            compare_with: self.time.compare_with(),
            point: match self.kind {
                SessionKind::Comparison => Some(self.side),
                SessionKind::Profile | SessionKind::Sweep => self.panels.scaling.chosen(),
            },
            per: self.per,
            request: self.panel().request(),
        }
    }
}
