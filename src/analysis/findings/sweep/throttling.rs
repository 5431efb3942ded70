//! The cgroup's CPU quota: more threads use it up sooner, and then the whole group is throttled.

use super::values::known;
use super::{Confidence, CostKind, Evidence, Finding, Rule, WidthContext, limits, lost_cores};
use crate::analysis::sweep::SliceKind;
use crate::analysis::text::percent;
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "cgroup-throttling", title: "CPU quota used up", kind: CostKind::Wait, explains: &[], evaluate };

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let throttled = match context.state(|run| known(run.split.throttled)) {
        // No period in which the group ran under a quota.
        Err(Why::Idle) => return Ok(None),
        throttled => throttled?,
    };
    let share = context.share(&[SliceKind::Throttled]);
    if share < limits::FACTOR || !throttled.grew_beyond_scatter()? {
        return Ok(None);
    }
    let mut evidence =
        vec![lost_cores(share), Evidence::plain("throttled, of the workers' time", throttled.here.value, U::Share)];
    let periods = context.metric(MetricId::ThrottledShare).ok();
    evidence.extend(
        periods.map(|change| Evidence::of("periods throttled", change.here.value, U::Share, limits::THROTTLED_PERIODS)),
    );
    let counted = periods.is_some_and(|change| change.here.value > limits::THROTTLED_PERIODS);
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "the control group's CPU quota takes {} of the lost cores; the workers are throttled {} of their \
             time, {} at n={}.",
            percent(share),
            percent(throttled.here.value),
            percent(throttled.base.value),
            context.base.n
        ),
        evidence,
        confidence: if counted { Confidence::High } else { Confidence::Medium },
        place: None,
        culprits: Vec::new(),
        refuted_by: "nr_throttled in the group's cpu.stat does not grow",
        next_step: "Raise the quota (cpu.max, the container's CPU limit), or run no more threads than it allows."
            .to_string(),
    }))
}
