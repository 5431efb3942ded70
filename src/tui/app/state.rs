//! The state of the session, and the query that follows from it.

use crate::tui::keys::KeyTable;
use crate::tui::overlay::Overlay;
use crate::tui::panel::{Panel, PanelContext, ScreenId};
use crate::tui::picker::Picker;
use crate::tui::screens::{Panels, SessionKind};
use crate::tui::settings::Settings;
use crate::tui::theme::{Glyphs, Theme};
use crate::tui::time::Time;
use crate::view::Axis;
use crate::view::diff::Per;
use crate::view::query::{Query, TaskFilter};
use crate::view::snapshot::ScreenHeader;

/// A line for the user and its severity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tui) struct Notice {
    pub text: String,
    pub bad: bool,
}

/// What the session has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) enum SessionPhase {
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
    pub(in crate::tui) theme: Theme,
    pub(in crate::tui) glyphs: Glyphs,
    pub(in crate::tui) keys: KeyTable,
    pub(in crate::tui) phase: SessionPhase,
    /// Whether the session that is open behind the picker is live; `None` without one.
    pub(in crate::tui) behind: Option<bool>,
    /// Whether a target that fails to open leads back to the picker.
    pub(in crate::tui) from_picker: bool,
    pub(in crate::tui) picker: Picker,
    /// Which set of screens the session has.
    pub(in crate::tui) kind: SessionKind,
    pub(in crate::tui) screen: ScreenId,
    pub(in crate::tui) panels: Panels,
    pub(in crate::tui) time: Time,
    pub(in crate::tui) filter: TaskFilter,
    /// `filter` as a label.
    pub(in crate::tui) filter_label: String,
    pub(in crate::tui) axis: Axis,
    /// Whether the user chose `axis`; until then it is that of the first event with samples.
    pub(in crate::tui) chosen_axis: bool,
    /// The selected side of a comparison, and the divisor of its costs if the user chose one.
    pub(in crate::tui) side: u32,
    pub(in crate::tui) per: Option<Per>,
    pub(in crate::tui) head: Option<ScreenHeader>,
    /// Why the last snapshot has no view.
    pub(in crate::tui) problem: Option<crate::error::Error>,
    pub(in crate::tui) search: String,
    pub(in crate::tui) overlay: Overlay,
    pub(in crate::tui) notice: Option<Notice>,
    /// Why the capture ended.
    pub(in crate::tui) ended: Option<String>,
    /// A snapshot is pending; `stale` remembers that another one is needed after it.
    pub(in crate::tui) looking: bool,
    pub(in crate::tui) stale: bool,
    pub(in crate::tui) size: (u16, u16),
    /// Where a drag on the history strip began.
    pub(in crate::tui) drag: Option<crate::units::Nanos>,
    pub(super) dirty: bool,
    /// Whether a running capture has sent no window for several intervals.
    pub(super) silent: bool,
    /// Whether a signal or the loss of the terminal ended the session.
    pub(in crate::tui) forced: bool,
    /// Why the target could not be opened, if that ended the session.
    pub(in crate::tui) refused: Option<crate::error::Error>,
}

impl App {
    /// Creates a session with nothing open: it shows the picker.
    #[must_use]
    pub fn new(settings: &Settings, size: (u16, u16)) -> App {
        App {
            theme: settings.theme(),
            glyphs: settings.glyphs(),
            keys: settings.keys.clone(),
            phase: SessionPhase::Picking,
            behind: None,
            from_picker: true,
            picker: Picker::default(),
            kind: SessionKind::Profile,
            screen: ScreenId::Overview,
            panels: Panels::default(),
            time: Time::new(true, false),
            filter: TaskFilter::default(),
            filter_label: String::new(),
            axis: Axis::Event(0),
            chosen_axis: false,
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
            silent: false,
            forced: false,
            refused: None,
        }
    }

    /// Creates a session whose target is already being opened.
    #[must_use]
    pub fn opening(settings: &Settings, size: (u16, u16)) -> App {
        App { phase: SessionPhase::Opening, from_picker: false, ..App::new(settings, size) }
    }

    /// Sets the first screen; the default is the overview.
    pub fn start_on(&mut self, screen: ScreenId) {
        self.screen = screen;
    }

    /// Sets whether a running capture has sent no window for several intervals.
    pub fn set_silent(&mut self, silent: bool) {
        self.dirty |= silent != self.silent;
        self.silent = silent;
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

    pub(in crate::tui) fn panel(&self) -> &dyn Panel {
        self.panels.get(self.screen)
    }

    /// Runs `f` with the open screen's panel and its context; `None` before the first snapshot.
    pub(in crate::tui) fn with_panel<T>(
        &mut self,
        f: impl FnOnce(&mut dyn Panel, &PanelContext<'_>) -> T,
    ) -> Option<T> {
        let head = self.head.as_ref()?;
        let cx = PanelContext {
            theme: &self.theme,
            glyphs: &self.glyphs,
            keys: &self.keys,
            head,
            time: &self.time,
            axis: self.axis,
            compared: self.time.compare,
        };
        Some(f(self.panels.get_mut(self.screen), &cx))
    }

    /// The query for the open screen in its current state.
    pub(in crate::tui) fn query(&self) -> Query {
        Query {
            time: self.time.selector(),
            end: self.time.end,
            filter: self.filter.clone(),
            axis: self.axis,
            compare_with: self.time.compare_with(),
            point: match self.kind {
                SessionKind::Comparison => Some(self.side),
                SessionKind::Fleet => None,
                SessionKind::Profile | SessionKind::Sweep => self.panels.scaling.chosen(),
            },
            per: self.per,
            request: self.panel().request(),
        }
    }
}
