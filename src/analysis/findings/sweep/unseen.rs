//! Time in which workers neither ran nor queued, and it was not recorded or not visible what blocked them.

use super::mean::Change;
use super::{Confidence, CostKind, Evidence, Finding, Rule, WidthContext, limits};
use crate::analysis::Cause;
use crate::analysis::sweep::SliceKind;
use crate::analysis::text::{digits, percent};
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "unseen-wait", title: "blocked, unseen by what", kind: CostKind::Idle, explains: &[], evaluate };

/// Advice if the runs recorded no waits.
const RECORD: &str = "Repeat the sweep without --no-off-cpu: it then records what blocks the workers.";
/// Advice if they did, but with too few known causes.
const SEE_MORE: &str = "See under `waits` in `ironlaw doctor` what a better source takes, or sweep longer runs: more waits are then sampled.";

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let share = context.left_idle(context.share(&[SliceKind::Unseen, SliceKind::Blocked(Cause::Unknown)]));
    let busy = context.number(|numbers| numbers.utilisation)?;
    let fell = Change { base: busy.here, here: busy.base }.grew();
    if share < limits::FACTOR || !fell {
        return Ok(None);
    }
    let mut evidence = vec![
        Evidence::of("of the lost cores", share, U::Share, limits::FACTOR),
        Evidence::plain("of their time on a CPU", busy.here.value, U::Share),
    ];
    let switches = context.per_op(MetricId::VoluntarySwitches).ok();
    evidence.extend(
        switches.map(|change| Evidence::plain("switches, blocked, per operation", change.here.value, U::Count)),
    );
    let often = match switches.and_then(|change| change.ratio()).filter(|ratio| *ratio >= limits::SWITCHES) {
        Some(ratio) => format!("; they go to sleep {} times as often per operation", digits(ratio)),
        None => String::new(),
    };
    let (why, next_step) = match context.waits() {
        Err(Why::NotRecorded) => ("the runs did not record by what", RECORD),
        _ => ("the runs did not see by what", SEE_MORE),
    };
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores are workers that are blocked, and {why}{often}: locks, storage, uneven load and a lack of \
             work cannot be told apart.",
            percent(share)
        ),
        evidence,
        confidence: Confidence::Medium,
        place: None,
        refuted_by: "the workers are fewer than n, so that some of their time is nobody's",
        next_step: next_step.to_string(),
    }))
}
