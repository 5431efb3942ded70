//! Time in which workers neither ran nor queued, and it was not recorded or not visible what blocked them.

use super::values::Change;
use super::{Confidence, CostKind, Evidence, Finding, Rule, WidthContext, limits, lost_cores};
use crate::analysis::Cause;
use crate::analysis::sweep::SliceKind;
use crate::analysis::text::{digits, percent};
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "unseen-wait", title: "blocked, cause unknown", kind: CostKind::Idle, explains: &[], evaluate };

/// Advice if the runs recorded no waits.
const RECORD: &str = "Repeat the sweep without --no-off-cpu: it then records what blocks the workers.";
/// Advice if they did, but with too few known causes.
const SEE_MORE: &str = "See under `waits` in `ironlaw doctor` what a better source requires, or make the runs \
                        longer to sample more waits.";

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let share = context.left_idle(context.share(&[SliceKind::Unseen, SliceKind::Blocked(Cause::Unknown)]));
    let busy = context.number(|numbers| numbers.utilisation)?;
    let fell = Change { base: busy.here, here: busy.base }.grew();
    if share < limits::FACTOR || !fell {
        return Ok(None);
    }
    let mut evidence = vec![lost_cores(share), Evidence::plain("of their time on a CPU", busy.here.value, U::Share)];
    let switches = context.per_op(MetricId::VoluntarySwitches).ok();
    evidence.extend(
        switches.map(|change| Evidence::plain("switches, blocked, per operation", change.here.value, U::Count)),
    );
    let often = match switches.and_then(|change| change.ratio()).filter(|ratio| *ratio >= limits::SWITCHES) {
        Some(ratio) => format!("; they block {} times as often per operation", digits(ratio)),
        None => String::new(),
    };
    let (why, next_step) = match context.waits() {
        Err(Why::NotRecorded) => ("the runs did not record the cause", RECORD),
        _ => ("the runs saw too few of the causes", SEE_MORE),
    };
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores are blocked workers, {why}{often}: locks, storage, uneven load and a lack of \
             work look the same.",
            percent(share)
        ),
        evidence,
        confidence: Confidence::Medium,
        place: None,
        culprits: Vec::new(),
        refuted_by: "there are fewer workers than n",
        next_step: next_step.to_string(),
    }))
}
