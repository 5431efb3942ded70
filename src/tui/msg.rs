//! What reaches the session: input, data and news, one closed list.
//! A message never carries the means to answer it; answers are effects.

use crate::error::Error;
use crate::view::look::Look;
use crate::view::picker::Choices;

/// Something happened.
#[derive(Debug)]
pub enum Msg {
    /// A key, the mouse, a new size.
    Input(ratatui::crossterm::event::Event),
    /// The terminal is gone.
    InputLost,
    /// A window of a live session ended: there is something new to look at.
    Fresh,
    /// A look was taken.
    Seen(Box<Look>),
    /// What there is to choose from.
    Choices(Choices),
    /// What was chosen is open.
    Opened {
        /// Whether it is a live capture.
        live: bool,
        /// Whether a baseline recording was loaded with it.
        baseline: bool,
    },
    /// An effect succeeded, and this is worth saying.
    Done(String),
    /// An effect failed.
    Failed(Error),
    /// The capture is over, and why.
    Ended(String),
    /// The process was told to end.
    Stop,
}
