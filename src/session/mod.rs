//! Connects a source of events to its consumers: the recording, the profile, the names. The only layer that knows
//! whether a session is live or replayed.
mod code;
mod command_beside;
mod counting;
pub(crate) mod fleet;
mod flow;
pub mod import;
mod live;
mod live_session;
mod lock_code;
mod name_store;
mod naming;
mod operations;
mod recorder;
mod remote;
mod replay;
pub(crate) mod run_folder;
mod signal_thread;

pub use crate::collect::sampler::EndReason;
pub use code::RecordedCode;
pub(crate) use import::folded::{AFTER, BEFORE};
pub use live::{CountedRun, LiveCapture};
pub use live_session::{History, Limit, LiveAssessor, LiveSession, SessionEvent, SessionHandle};
#[cfg(any(test, fuzzing))]
pub(crate) use naming::hear;
pub use recorder::{CaptureStats, Outcome};
pub use remote::{RemoteCapture, RemoteCommand, StreamSender};
pub(crate) use replay::holds_both_sides;
pub use replay::{is_importable, open, open_with};
pub use signal_thread::{SignalThread, suspend};

/// Serves if ironlaw started this program as one of its helpers, and returns true then. Otherwise sessions of this program
/// start helpers where they need them; where this is never called, as in another program that uses this library, threads
/// do their work.
#[must_use]
pub fn serve_as_helper() -> bool {
    crate::sys::proc_reader::serve_readers() || naming::serve_names()
}

#[cfg(test)]
mod tests;
