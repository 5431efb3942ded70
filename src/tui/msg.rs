//! Messages to the session: input, data and notifications, in one closed enum.

use super::screens::SessionKind;
use crate::error::Error;
use crate::view::picker::Choices;
use crate::view::snapshot::Snapshot;

/// An event for the session.
#[derive(Debug)]
pub enum Msg {
    /// A key press, a mouse event or a resize.
    Input(ratatui::crossterm::event::Event),
    /// The terminal is gone.
    InputLost,
    /// A window of a live session ended: new data is available.
    Fresh,
    /// A snapshot arrived.
    Seen(Box<Snapshot>),
    /// The targets to choose from.
    Choices(Choices),
    /// The chosen target is open.
    Opened {
        /// What it shows.
        kind: SessionKind,
        /// Whether it is live: a capture, or a sweep whose runs are executed.
        live: bool,
        /// Whether a baseline recording was loaded with it.
        baseline: bool,
    },
    /// An effect succeeded; the text goes to the status line.
    Done(String),
    /// The session is compared with a recording from now on; the text goes to the status line.
    Compared(String),
    /// An effect failed.
    Failed(Error),
    /// The capture ended, with the reason.
    Ended(String),
    /// A signal asked the process to end.
    Stop,
}
