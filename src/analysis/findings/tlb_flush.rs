//! TLB shootdown: CPU time in which translations are flushed, here and on other CPUs. Other interrupts between CPUs
//! count only where translations are flushed.

use super::code_path::CodeClass;
use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, Whole};
use crate::analysis::text::{name, percent};
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "tlb-shootdown",
    title: "TLB shootdown",
    kind: FindingKind::Limit,
    of: Whole::CpuTime,
    explains: &[CodeClass::TlbFlush, CodeClass::Ipi],
    evaluate,
};

/// Share of samples in TLB flushes, of several threads. [P]
const TLB_FLUSH: f64 = 0.1;

/// Advice for a recording and for a sweep.
pub(super) const NEXT_STEP: &str = "Unmap, protect or return memory less often and in larger pieces, let the \
                                    allocator keep it, or use processes instead of threads.";

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    context.require_cpu_time()?;
    let stacks = context.kernel_samples()?;
    let flush = stacks.part_of(&[CodeClass::TlbFlush]);
    // A single thread flushes only its own translations.
    if flush.share <= 0.0 || flush.threads() < 2 {
        return Ok(None);
    }
    let share = flush.share + stacks.part_of(&[CodeClass::Ipi]).share;
    if share < TLB_FLUSH {
        return Ok(None);
    }
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "TLB shootdowns take {} of the CPU time, most of it in {}: unmapping, protecting or returning memory \
             interrupts every CPU that runs a thread of the program.",
            percent(share),
            name(flush.function())
        ),
        evidence: vec![Evidence::of("flushing, on both sides", share, U::Share, TLB_FLUSH)],
        confidence: Confidence::High,
        place: flush.place(),
        culprits: Vec::new(),
        refuted_by: "TLB shootdowns in /proc/interrupts are few, or one thread alone takes as much",
        next_step: NEXT_STEP.to_string(),
    }))
}
