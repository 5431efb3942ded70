//! CPU time in the memory allocator, because it is slow or because it is called too often.

use super::code_path::CodeClass;
use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, Whole};
use crate::analysis::text::{name, percent};
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "allocator",
    title: "time in the memory allocator",
    kind: FindingKind::Limit,
    of: Whole::CpuTime,
    explains: &[CodeClass::Allocator],
    evaluate,
};

/// Share of samples in the memory allocator. [P]
const ALLOCATOR: f64 = 0.1;

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    context.require_cpu_time()?;
    let part = context.samples()?.part_of(&[CodeClass::Allocator]);
    if part.share < ALLOCATOR {
        return Ok(None);
    }
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(part.share),
        claim: format!(
            "The memory allocator takes {} of the CPU time, most of it in {}.",
            percent(part.share),
            name(part.function())
        ),
        evidence: vec![Evidence::of("in the allocator", part.share, U::Share, ALLOCATOR)],
        confidence: Confidence::Medium,
        place: part.place(),
        culprits: Vec::new(),
        refuted_by: "the same time in the allocator where fewer callers allocate",
        // Another allocator has more locks, not less work.
        next_step: match context.waits().map_or(0, |waits| waits.allocator_waiters()) {
            0 | 1 => "Find the callers that allocate most and let them reuse memory.",
            _ => {
                "Find the callers that allocate most and let them reuse memory, or try another allocator (LD_PRELOAD)."
            }
        }
        .to_string(),
    }))
}
