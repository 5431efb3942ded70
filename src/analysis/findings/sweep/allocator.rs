//! The memory allocator costs more per operation: its locks, its arenas, what it returns to the kernel. An allocator
//! that is merely slow does not count: that shows with one thread as well.

use super::context::WidthContext;
use super::places::{below, blocked_place, cpu_place};
use super::{Confidence, CostKind, Evidence, Finding, Rule, limits};
use crate::analysis::findings::paths::{CodeClass, WaitReason};
use crate::analysis::text::{name, percent};
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "allocator",
    title: "the memory allocator",
    kind: CostKind::WaitReason,
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
    let at = leading_path.map_or(String::new(), |leading_path| {
        format!(", most of it in {}{}", name(&leading_path.function), below(leading_path))
    });
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!("{} of the lost cores allocate and free memory{at}.", percent(share)),
        evidence: vec![
            Evidence::of("of the lost cores", share, U::Share, limits::FACTOR),
            Evidence::plain("by CPU time", on, U::Share),
            Evidence::plain("blocked by its locks", off, U::Share),
        ],
        confidence: Confidence::Medium,
        place: leading_path.map(if waits { blocked_place } else { cpu_place }),
        refuted_by: "another allocator (LD_PRELOAD) makes no difference",
        next_step:
            "Try another allocator (LD_PRELOAD), more arenas, or let threads reuse their own memory; memory freed by \
                    another thread than allocated it costs most."
                .to_string(),
    }))
}
