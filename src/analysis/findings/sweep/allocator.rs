//! The memory allocator costs more per operation: its locks, its arenas, what it returns to the kernel. An allocator
//! that is merely slow does not count: that shows with one thread as well.

use super::context::WidthContext;
use super::places::{blocked_place, cpu_place, mostly_in_below};
use super::{Confidence, CostKind, Evidence, Finding, Rule, limits, lost_cores};
use crate::analysis::findings::code_path::CodeClass;
use crate::analysis::findings::paths::WaitReason;
use crate::analysis::text::percent;
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "allocator",
    title: "the memory allocator",
    kind: CostKind::Wait,
    explains: &[CodeClass::Allocator],
    evaluate,
};

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let (on, off) = (context.code_share(CodeClass::Allocator), context.wait_share(WaitReason::Allocator));
    if on + off < limits::FACTOR {
        return if context.cpu_grew()? { context.cpu().map(|_| None) } else { Ok(None) };
    }
    let share = (on + off).min(1.0);
    let waits = off > on;
    let leading_path = if waits {
        context.waits().ok().and_then(|waits| waits.leading_path(WaitReason::Allocator))
    } else {
        context.cpu().ok().and_then(|cpu| cpu.leading_path(CodeClass::Allocator))
    };
    let at = mostly_in_below(leading_path);
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!("the memory allocator takes {} of the lost cores{at}.", percent(share)),
        evidence: vec![
            lost_cores(share),
            Evidence::plain("by CPU time", on, U::Share),
            Evidence::plain("blocked by its locks", off, U::Share),
        ],
        confidence: Confidence::Medium,
        place: leading_path.map(if waits { blocked_place } else { cpu_place }),
        culprits: Vec::new(),
        refuted_by: "another allocator (LD_PRELOAD) makes no difference",
        next_step: "Try another allocator (LD_PRELOAD) or more arenas, or let threads reuse their own memory; freeing \
             another thread's memory costs most."
            .to_string(),
    }))
}
