//! What the keeper is asked when a window has ended.
//! It never takes more of what is held than an alarm needs.

use crate::analysis::attribution::Assessment;
use crate::analysis::baseline;
use crate::model::BaselineKey;
use crate::session::Holding;
use crate::units::Nanos;

/// What is held, as far as the watch needs it.
#[derive(Debug)]
pub(in super::super) struct Look {
    pub assessment: Option<Assessment>,
    /// Whether the capture runs.
    pub live: bool,
    pub now: Nanos,
    pub lost: u64,
    pub exit_status: Option<i32>,
    /// Of what runs, if that was asked for.
    pub key: Option<BaselineKey>,
    /// The time before an alarm that has just been raised.
    pub held: Option<Holding>,
}

impl Look {
    /// How it stands; on the keeper's thread.
    pub fn at(held: &Holding, seen: Nanos, wants_key: bool, records: bool) -> Look {
        let assessment = held.assessment();
        let raised = assessment.iter().flat_map(|it| &it.steps).any(|step| step.window.to > seen && step.raised);
        Look {
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
