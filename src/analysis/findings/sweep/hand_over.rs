//! Workers that wait for each other's signals, where no worker does most of the work. Such a wait is not called a lock:
//! queues, barriers and a program's own locks look the same.

use super::places::{blocked_place, mostly_in};
use super::{Confidence, CostKind, Evidence, Finding, Rule, WidthContext, limits, lost_cores};
use crate::analysis::Cause;
use crate::analysis::findings::code_path::CodeClass;
use crate::analysis::findings::paths::WaitReason;
use crate::analysis::sweep::SliceKind;
use crate::analysis::text::{percent, seconds};
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "hand-over",
    title: "waiting for other threads",
    kind: CostKind::Idle,
    explains: &[CodeClass::Signal],
    evaluate,
};

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let waits = match context.waits() {
        Err(_) if context.share(&[SliceKind::Unseen]) + context.blocked(Cause::Lock) < limits::FACTOR => {
            return Ok(None);
        }
        waits => waits?,
    };
    let share =
        (context.left_idle(context.wait_share(WaitReason::Signal)) + context.code_share(CodeClass::Signal)).min(1.0);
    let blocked = context.blocked_per_op(Cause::Lock)?;
    if share < limits::FACTOR || !blocked.grew_beyond_scatter()? {
        return Ok(None);
    }
    let mut evidence = vec![
        lost_cores(share),
        Evidence::plain("blocked in futexes, per operation", blocked.here.value, U::Seconds),
        Evidence::plain("the same at the base", blocked.base.value, U::Seconds),
    ];
    let switches = context.per_op(MetricId::VoluntarySwitches).ok();
    evidence.extend(
        switches.map(|change| Evidence::plain("switches, blocked, per operation", change.here.value, U::Count)),
    );
    let leading_path = waits.leading_path(WaitReason::Signal);
    let at = mostly_in(leading_path);
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores wait for another thread's signal{at}, {} per operation: for work, at a barrier, \
             or for one of the program's own locks, which look the same.",
            percent(share),
            seconds(blocked.here.value)
        ),
        evidence,
        confidence: if switches.is_some_and(|change| change.grew_by_factor(limits::SWITCHES)) {
            Confidence::Medium
        } else {
            Confidence::Low
        },
        place: leading_path.map(blocked_place),
        culprits: Vec::new(),
        refuted_by: "more load from outside keeps the workers busy",
        next_step:
            "See in the off-CPU flame graph of this width which threads wait for each other; hand over more work \
             at a time, or offer more load."
                .to_string(),
    }))
}
