//! CPU time that the hypervisor gave to others. No neighbour is blamed: the machine's own quota on its host looks the
//! same.

use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, Whole, limits};
use crate::analysis::text::percent;
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "steal",
    title: "CPU taken by the hypervisor",
    kind: FindingKind::Limit,
    of: Whole::WorkingTime,
    explains: &[],
    evaluate,
};

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    context.wall()?;
    let stolen = context.metric(MetricId::StealShare)?;
    if stolen <= limits::STEAL {
        return Ok(None);
    }
    context.require_work()?;
    // Busy time includes stolen time, which was wanted too.
    let lost = context.metric(MetricId::HostBusy).ok().filter(|busy| *busy > 0.0).map(|busy| (stolen / busy).min(1.0));
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: lost,
        claim: format!(
            "The hypervisor withheld {} of all CPU time from this machine while its CPUs had work.",
            percent(stolen)
        ),
        evidence: vec![Evidence::of("stolen", stolen, U::Share, limits::STEAL).read_from(MetricId::StealShare)],
        confidence: if stolen > 5.0 * limits::STEAL { Confidence::High } else { Confidence::Medium },
        place: None,
        culprits: Vec::new(),
        refuted_by: "the steal column of /proc/stat does not grow",
        next_step: "The program cannot change this: give the machine more or dedicated CPUs, or move it.".to_string(),
    }))
}
