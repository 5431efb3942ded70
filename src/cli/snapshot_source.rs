//! Where a session on a sweep or a comparison gets its snapshots from, and how the work behind it notifies the session.

use crate::tui::msg::Msg;
use crate::tui::screens::SessionKind;
use crate::view::query::Query;
use crate::view::snapshot::Snapshot;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

/// The data source of a session.
#[derive(Clone)]
pub(super) struct SnapshotSource {
    /// A sweep or a comparison.
    pub kind: SessionKind,
    /// Takes a snapshot of the current state.
    pub snapshot: Arc<dyn Fn(Query) -> Snapshot + Send + Sync>,
    /// The recording of the first finished run of a sweep at that width, or at the widest; a comparison has none.
    pub recording: Arc<dyn Fn(Option<u32>) -> Option<PathBuf> + Send + Sync>,
    /// Whether runs are still being executed.
    pub live: bool,
}

impl std::fmt::Debug for SnapshotSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SnapshotSource").field("kind", &self.kind).field("live", &self.live).finish_non_exhaustive()
    }
}

/// Notifies a session from any thread. Notifications after the session's end, or after another one took its place, are
/// ignored.
#[derive(Debug, Clone)]
pub(super) struct Notifier {
    sender: Sender<Msg>,
    muted: Arc<AtomicBool>,
}

impl Notifier {
    pub fn new(sender: Sender<Msg>) -> Notifier {
        Notifier { sender, muted: Arc::default() }
    }

    /// Sends a message to the session.
    pub fn send(&self, msg: Msg) {
        if !self.muted.load(Ordering::Relaxed) {
            let _ = self.sender.send(msg);
        }
    }

    /// Ignores all that is sent from now on.
    pub fn mute(&self) {
        self.muted.store(true, Ordering::Relaxed);
    }
}
