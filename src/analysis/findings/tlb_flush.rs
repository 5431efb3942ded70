//! TLB shootdown: CPU time in which translations are made to be forgotten, here and on other CPUs.
//! It never blames other interrupts between CPUs: only where translations are flushed do they count.

use super::paths::Code;
use super::words::{name, percent};
use super::{Confidence, Evidence, Finding, Kind, Rule, Sight, limits};
use crate::analysis::MetricUnit as U;
use crate::model::Why;

pub(super) const RULE: Rule = Rule {
    id: "tlb-shootdown",
    title: "TLB shootdown",
    kind: Kind::Limit,
    explains: &[Code::TlbFlush, Code::Ipi],
    judge,
};

/// What helps, in one recording as in a sweep.
pub(super) const NEXT_STEP: &str = "Unmap, protect or give back memory less often and in larger pieces, let the allocator keep it, or use \
                    processes instead of threads.";

fn judge(sight: &Sight<'_>) -> Result<Option<Finding>, Why> {
    sight.runs()?;
    let stacks = sight.kernel_samples()?;
    let flush = stacks.part_of(&[Code::TlbFlush]);
    // A thread alone forgets its own.
    if flush.share <= 0.0 || flush.threads < 2 {
        return Ok(None);
    }
    let share = flush.share + stacks.part_of(&[Code::Ipi]).share;
    if share < limits::TLB_FLUSH {
        return Ok(None);
    }
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the CPU time makes CPUs forget translations of memory that was unmapped, protected or given back (TLB \
             shootdown), most of it in {}: each time every CPU that runs a thread of the program is interrupted.",
            percent(share),
            name(&flush.function)
        ),
        evidence: vec![Evidence::of("flushing, on both sides", share, U::Share, limits::TLB_FLUSH)],
        confidence: Confidence::High,
        place: flush.place,
        refuted_by: "TLB shootdowns in /proc/interrupts are few, or one thread alone takes as much",
        next_step: NEXT_STEP.to_string(),
    }))
}
