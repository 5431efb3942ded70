//! Cycles in page walks that grow with the number of threads. Page walks that one thread has as well do not count.

use super::places::{grown_function_place, grown_functions};
use super::slower::{counted, evidence};
use super::{Confidence, CostKind, Evidence, Finding, Rule, WidthContext, limits};
use crate::analysis::text::percent;
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "page-walks", title: "TLB misses and page walks", kind: CostKind::Cpi, explains: &[], evaluate };

/// Share of the cycles in page walks: the threshold of the top-down method. [V]
const PAGE_WALKS: f64 = 0.1;

/// Growth of the share of the cycles in page walks. [P]
const PAGE_WALKS_GROWTH: f64 = 1.5;

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let Some((slower, walks)) = counted(context, MetricId::PageWalkShare)? else { return Ok(None) };
    let cost = context.number(|numbers| numbers.cpu_ns_per_op)?;
    let all = cost.amount();
    let grown = walks.here.value * cost.here.value - walks.base.value * cost.base.value;
    let part = if all > 0.0 { (grown / all).clamp(0.0, 1.0) } else { 0.0 };
    let share = slower.share * part;
    let many = walks.here.value >= PAGE_WALKS && walks.grew_by_factor(PAGE_WALKS_GROWTH);
    if share < limits::FACTOR || !many || !walks.grew() {
        return Ok(None);
    }
    let mut evidence = evidence(share, &slower);
    evidence.push(Evidence::of("of the cycles in page walks", walks.here.value, U::Share, PAGE_WALKS));
    evidence.extend(Evidence::growth("cycles in page walks, growth", walks.ratio(), PAGE_WALKS_GROWTH));
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "page walks take {} of the lost cores: {} of the cycles, {} at n={}{}.",
            percent(share),
            percent(walks.here.value),
            percent(walks.base.value),
            context.base.n,
            grown_functions(context)
        ),
        evidence,
        confidence: Confidence::High,
        place: grown_function_place(context),
        culprits: Vec::new(),
        refuted_by: "it loses as much with huge pages",
        next_step: "Put the data on huge pages (madvise MADV_HUGEPAGE, hugetlbfs), or touch fewer pages per operation."
            .to_string(),
    }))
}
