//! Memory of another NUMA node: reads from it increase as threads spread over nodes.

use super::places::{grown_function_place, grown_functions};
use super::slower::{counted, evidence};
use super::{Confidence, CostKind, Evidence, Finding, Rule, WidthContext, limits};
use crate::analysis::text::percent;
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "remote-memory", title: "memory of another NUMA node", kind: CostKind::Cpi, explains: &[], evaluate };

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let Some((slower, remote)) = counted(context, MetricId::RemoteDramShare)? else { return Ok(None) };
    if remote.amount() < limits::REMOTE || !remote.grew() {
        return Ok(None);
    }
    let mut evidence = evidence(slower.share, &slower);
    evidence.push(Evidence::of("reads from another node, growth", remote.amount(), U::Share, limits::REMOTE));
    evidence.push(Evidence::plain("reads from another node", remote.here.value, U::Share));
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(slower.share),
        claim: format!(
            "up to {} of the lost cores wait for memory of another node: {} of the reads that reach memory, {} at n={}{}.",
            percent(slower.share),
            percent(remote.here.value),
            percent(remote.base.value),
            context.base.n,
            grown_functions(context)
        ),
        evidence,
        confidence: Confidence::Medium,
        place: grown_function_place(context),
        refuted_by: "on one node, or with memory interleaved (numactl), it loses as much",
        next_step:
            "See where the pages lie (numastat -p) and let each thread allocate and first touch what it uses, or bind \
                    a process to each node."
                .to_string(),
    }))
}
