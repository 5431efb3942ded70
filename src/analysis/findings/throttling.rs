//! The cgroup's CPU quota. The kernel counts throttling exactly, so this is the first cause to rule out.

use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, Whole, limits};
use crate::analysis::text::{percent, seconds};
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "cgroup-throttling",
    title: "CPU quota used up",
    kind: FindingKind::Limit,
    of: Whole::WorkingTime,
    explains: &[],
    evaluate,
};

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let share = match context.metric(MetricId::ThrottledShare) {
        // No period in which the group ran under a quota.
        Err(Why::Idle) => return Ok(None),
        share => share?,
    };
    if share <= 0.0 {
        return Ok(None);
    }
    let throttled = context.metric(MetricId::ThrottledTime)?;
    let lost = lost(context, throttled);
    let mut evidence = vec![
        Evidence::of("periods throttled", share, U::Share, limits::THROTTLED_PERIODS)
            .read_from(MetricId::ThrottledShare),
        Evidence::plain("throttled, all CPUs", throttled, U::Seconds),
    ];
    if let Ok(rate) = context.metric(MetricId::ThrottledPeriods) {
        evidence.push(Evidence::plain("throttled", rate, U::PerSecond));
    }
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: lost,
        claim: format!(
            "The control group used up its CPU quota in {} of its periods and was throttled for {}, summed over \
             CPUs.",
            percent(share),
            seconds(throttled)
        ),
        evidence,
        confidence: if share > limits::THROTTLED_PERIODS { Confidence::High } else { Confidence::Low },
        place: None,
        culprits: Vec::new(),
        refuted_by: "nr_throttled in the group's cpu.stat does not grow",
        next_step:
            "Raise the quota (cpu.max, the container's CPU limit) or allow bursts (cpu.max.burst), or run fewer \
                    threads: they use a period up more slowly."
                .to_string(),
    }))
}

/// The part of the threads' working time in which the quota stopped them; without their run delay, of the CPU time that
/// the group would have had.
fn lost(context: &RuleContext<'_>, throttled: f64) -> Option<f64> {
    let work = context.work().ok().filter(|work| work.total() > 0.0 && throttled > 0.0)?;
    if context.count("run-delay").is_ok() {
        return Some(work.throttled / work.total());
    }
    context.cpu_time().ok().map(|ran| throttled / (throttled + ran))
}
