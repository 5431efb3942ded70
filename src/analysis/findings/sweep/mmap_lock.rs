//! Waits for mmap_lock, the lock of the address space, which page faults, mmap, munmap, mprotect and similar calls of
//! all threads take. One thread's faults and maps do not count: they cost the same at every width.

use super::address_space::{AddressSpaceCosts, costs};
use super::context::WidthContext;
use super::growth::LeadingPath;
use super::places::{blocked_place, cpu_place, mostly_in_below, require_kernel_names};
use super::{Confidence, CostKind, Evidence, Finding, Place, Rule, limits, lost_cores};
use crate::analysis::findings::code_path::CodeClass;
use crate::analysis::findings::mmap_lock::{NEXT_STEP, blocked_words};
use crate::analysis::findings::paths::WaitReason;
use crate::analysis::text::percent;
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "mmap-lock",
    title: "waiting for mmap_lock",
    kind: CostKind::Wait,
    explains: &[CodeClass::MmapLock],
    evaluate,
};

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let costs = costs(context);
    if costs.locking + costs.blocked < limits::FACTOR {
        // If kernel functions are not visible, the lock is not ruled out.
        return if context.cpu_grew()? { require_kernel_names(context).map(|()| None) } else { Ok(None) };
    }
    let rest = costs.rest_of(CodeClass::MmapLock);
    let share = (costs.locking + costs.blocked + rest).min(1.0);
    let (leading_path, place) = leading_path(context, &costs);
    let protected = if rest >= limits::FACTOR {
        format!(", {} in the data it protects, which moves between CPUs with it", percent(rest))
    } else {
        String::new()
    };
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "contention for mmap_lock, the lock of the address space, takes {} of the lost cores: {} on a CPU \
             (spinning, sleeping, wake-ups), {}{protected}{}.",
            percent(share),
            percent(costs.locking),
            blocked_words(context.waits().is_ok(), costs.blocked),
            mostly_in_below(leading_path)
        ),
        evidence: vec![
            lost_cores(share),
            Evidence::plain("on a CPU, for the lock", costs.locking, U::Share),
            Evidence::plain("in the data it protects", rest, U::Share),
        ],
        confidence: Confidence::High,
        place,
        culprits: Vec::new(),
        refuted_by: "the loss stays with memory mapped and touched before the measurement, or with processes \
                     instead of threads",
        next_step: NEXT_STEP.to_string(),
    }))
}

fn leading_path<'a>(
    context: &'a WidthContext<'_>,
    costs: &AddressSpaceCosts,
) -> (Option<&'a LeadingPath>, Option<Place>) {
    let blocked = context.waits().ok().and_then(|waits| waits.leading_path(WaitReason::MmapLock));
    match blocked.filter(|_| costs.blocked > costs.locking) {
        Some(leading_path) => (Some(leading_path), Some(blocked_place(leading_path))),
        None => {
            let leading_path = context.cpu().ok().and_then(|cpu| cpu.leading_path(CodeClass::MmapLock));
            (leading_path, leading_path.map(cpu_place))
        }
    }
}
