//! The snapshot that the watch takes of the history when a window has ended. Contains only what an alarm needs.

use crate::analysis::attribution::Assessment;
use crate::analysis::baseline;
use crate::model::BaselineKey;
use crate::session::History;
use crate::units::Nanos;

/// The parts of the history that the watch needs.
#[derive(Debug)]
pub(in super::super) struct WatchSnapshot {
    pub assessment: Option<Assessment>,
    /// Whether the capture is running.
    pub live: bool,
    pub now: Nanos,
    pub lost: u64,
    pub exit_status: Option<i32>,
    /// The key of the running target, if requested.
    pub key: Option<BaselineKey>,
    /// The history before an alarm that was just raised.
    pub held: Option<History>,
}

impl WatchSnapshot {
    /// Takes the snapshot, on the live session's thread.
    pub fn at(held: &History, seen: Nanos, wants_key: bool, records: bool) -> WatchSnapshot {
        let assessment = held.assessment();
        let raised = assessment.iter().flat_map(|it| &it.steps).any(|step| step.window.to > seen && step.raised);
        WatchSnapshot {
            live: held.is_live(),
            now: held.now(),
            lost: held.lost(),
            exit_status: held.profile().meta.exit_status,
            key: wants_key.then(|| baseline::key_of(held.profile())),
            held: (raised && records).then(|| held.copy()),
            assessment,
        }
    }
}
