//! Threads that mostly wait for short answers through sockets and pipes: their peers are then the place to start. A
//! server that waits for its next client looks the same.

use super::paths::WaitReason;
use super::waits::mostly_below;
use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, Whole, limits};
use crate::analysis::causes::Cause;
use crate::analysis::text::{percent, seconds};
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "waiting-for-others",
    title: "waiting for others (socket, pipe)",
    kind: FindingKind::Hint,
    of: Whole::WithReplies,
    explains: &[],
    evaluate,
};

/// Short waits for sockets and pipes, as a share of working time plus these waits. [P]
const OTHERS: f64 = 0.5;

/// Short waits for sockets and pipes per second. [P]
const OTHERS_RATE: f64 = 10.0;

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let waits = context.waits()?;
    let (span, work) = (context.span()?, context.work()?);
    let sum = waits.sum(&[WaitReason::Peer]);
    let waited = context.replies();
    let (all, rate) = (work.total() + waited, sum.short_count as f64 / span);
    if all < limits::IDLE_THREADS {
        return Err(Why::Idle);
    }
    let share = waited / all;
    // Waits with a lock that others wait for belong to that lock.
    let with_lock = waits.holders_wait().filter(|wait| matches!(wait.cause, Cause::Pipe | Cause::Network));
    let is_explained = with_lock.is_some_and(|wait| wait.seconds >= sum.seconds / 2.0);
    if share < OTHERS || rate < OTHERS_RATE || is_explained {
        return Ok(None);
    }
    let place = waits.worst(&[WaitReason::Peer], true);
    let at = mostly_below(place.as_ref());
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "Threads wait {} of the time for sockets and pipes, {} each time{at}: for answers, or for the next \
             request.",
            percent(share),
            seconds(sum.short_seconds / sum.short_count.max(1) as f64)
        ),
        evidence: vec![
            Evidence::of("waits, with working time", share, U::Share, OTHERS),
            Evidence::of("short waits", rate, U::PerSecond, OTHERS_RATE),
        ],
        confidence: Confidence::Low,
        place,
        culprits: Vec::new(),
        refuted_by: "the waits end with a client's request: then the program was idle",
        next_step: match context.pipe_readers().filter(|_| waits.fill_pipes()) {
            Some(readers) => format!("{readers} reads what it writes to pipes, and is too slow: profile that."),
            None => {
                "Find the process at the other end (`ss -tp`, /proc/PID/fd) and profile it; send more requests at once."
                    .to_string()
            }
        },
    }))
}
