//! Tasks that stalled until memory was found for them.

use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, Whole};
use crate::analysis::text::percent;
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "memory-pressure",
    title: "short of memory",
    kind: FindingKind::Limit,
    of: Whole::WorkingTime,
    explains: &[],
    evaluate,
};

/// Share of time in which some task waited for memory. [P]
const MEMORY_PRESSURE: f64 = 0.05;

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    context.wall()?;
    let of_group = context.metric(MetricId::PsiMemorySome).is_ok();
    let [some_id, full_id] = match of_group {
        true => [MetricId::PsiMemorySome, MetricId::PsiMemoryFull],
        false => [MetricId::HostPsiMemorySome, MetricId::HostPsiMemoryFull],
    };
    let some = context.metric(some_id)?;
    if some < MEMORY_PRESSURE {
        return Ok(None);
    }
    context.require_work()?;
    let full = context.metric(full_id);
    let mut evidence = vec![Evidence::of("memory pressure, some", some, U::Share, MEMORY_PRESSURE).read_from(some_id)];
    evidence.extend(full.map(|full| Evidence::plain("memory pressure, all", full, U::Share)));
    evidence.extend(
        context.metric(MetricId::MajorFaults).map(|rate| Evidence::plain("major page faults", rate, U::PerSecond)),
    );
    let whose = if of_group { "of the target's control group" } else { "of the machine" };
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: full.ok().filter(|_| of_group),
        claim: format!("For {} of the time, some task {whose} was stalled for lack of memory.", percent(some)),
        evidence,
        confidence: if of_group { Confidence::High } else { Confidence::Low },
        place: None,
        culprits: Vec::new(),
        refuted_by: "memory pressure (PSI) is about 0",
        next_step: "Compare memory in use with its limit (memory.max, MemAvailable); look for swapping and reclaim (`vmstat 1`)."
            .to_string(),
    }))
}
