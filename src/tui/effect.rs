//! What the session wants done by others: it only says so, the host carries it out.
//! An effect never blocks the session; its outcome comes back as a message.

use crate::view::look::Query;
use crate::view::picker::Choice;
use std::path::PathBuf;

/// Something to be done.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Take a look; answered by `Seen`.
    Look(Query),
    /// List what there is to choose from; answered by `Choices`.
    Choose,
    /// Open this; answered by `Opened` or `Failed`.
    Open(Choice),
    /// End the capture and let go of what was open.
    Close,
    /// Set a mark now.
    Mark(String),
    /// Write what is held as a recording; without a name, one made from target and time.
    Record(Option<PathBuf>),
    /// Write the flame graph that is shown as a picture.
    Export {
        /// The part of the profile.
        query: Query,
        /// Names from the root to the cell that is zoomed into; empty for all.
        root: Vec<String>,
        /// Whether the root is above.
        inverted: bool,
        /// The file; without a name, one made from target and time.
        path: Option<PathBuf>,
    },
    /// Put a text on the terminal's clipboard.
    Copy(String),
    /// Draw everything anew.
    Redraw,
    /// Stop this process until the shell continues it.
    Suspend,
    /// Leave.
    Quit,
}
