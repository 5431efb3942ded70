//! Memory of another NUMA node: reads from it increase as threads spread over nodes.

use super::places::{grown_function_place, grown_functions};
use super::slower::{counted, evidence};
use super::{Confidence, CostKind, Evidence, Finding, Rule, WidthContext};
use crate::analysis::text::percent;
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "remote-memory", title: "memory of another NUMA node", kind: CostKind::Cpi, explains: &[], evaluate };

/// Growth of the share of memory reads from another node, in shares; 19% against 4% mattered in [S].
const REMOTE: f64 = 0.1;

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let Some((slower, remote)) = counted(context, MetricId::RemoteDramShare)? else { return Ok(None) };
    if remote.amount() < REMOTE || !remote.grew() {
        return Ok(None);
    }
    let mut evidence = evidence(slower.share, &slower);
    evidence.push(Evidence::of("reads from another node, growth", remote.amount(), U::Share, REMOTE));
    evidence.push(Evidence::plain("reads from another node", remote.here.value, U::Share));
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(slower.share),
        claim: format!(
            "up to {} of the lost cores wait for memory of another NUMA node, which serves {} of the memory \
             reads, {} at n={}{}.",
            percent(slower.share),
            percent(remote.here.value),
            percent(remote.base.value),
            context.base.n,
            grown_functions(context)
        ),
        evidence,
        confidence: Confidence::Medium,
        place: grown_function_place(context),
        culprits: Vec::new(),
        refuted_by: "it loses as much on one node, or with interleaved memory (numactl)",
        next_step:
            "Check where the pages are (numastat -p) and let each thread allocate and first touch what it uses, \
             or bind a process to each node."
                .to_string(),
    }))
}
