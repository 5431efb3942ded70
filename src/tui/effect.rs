//! Effects: requests of the session that the host carries out.
//! An effect never blocks the session; its outcome comes back as a message.

use crate::view::CodeRate;
use crate::view::picker::Choice;
use crate::view::query::Query;
use std::path::PathBuf;

/// A request to the host.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Take a snapshot; answered by `Seen`.
    Snapshot(Query),
    /// List the targets to choose from; answered by `Choices`.
    Choose,
    /// Open a target; answered by `Opened` or `Failed`. A session that is open until then is kept where it failed, else
    /// ended, and its history saved.
    Open(Choice),
    /// Go back from the choice to the session that is still open.
    Return,
    /// Set a mark at the current time.
    Mark(String),
    /// Save the session as a recording; the default name is made from target and time.
    Record(Option<PathBuf>),
    /// Compare the session with a baseline or a recording from now on.
    Compare(PathBuf),
    /// Count operations from now on, as `--ops` says.
    Count(String),
    /// Learn a baseline from what is held, and compare with it; the default name is made from target and time.
    Learn(Option<PathBuf>),
    /// Save the shown flame graph as an image.
    Export {
        /// The part of the profile.
        query: Query,
        /// What is shown of it, and how.
        flame: ShownFlame,
        /// The file; the default name is made from target and time.
        path: Option<PathBuf>,
    },
    /// Copy a text to the terminal's clipboard.
    Copy(String),
    /// Redraw the whole terminal.
    Redraw,
    /// Stop this process until the shell continues it.
    Suspend,
    /// Leave.
    Quit,
}

/// What a flame graph shows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ShownFlame {
    /// Names from the root to the zoomed cell; empty for the whole graph.
    pub root: Vec<String>,
    /// Whether the root is at the top.
    pub inverted: bool,
    /// The rate that its colours stand for; `None` for other colours.
    pub rate: Option<CodeRate>,
}
