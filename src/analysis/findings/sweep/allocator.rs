//! The memory allocator costs more per operation: its locks, its arenas, what it returns to the kernel. An allocator
//! that is merely slow does not count: that shows with one thread as well.

use super::places::{below, blocked_place, cpu_place};
use super::step::Step;
use super::{Confidence, Evidence, Finding, Kind, Rule, limits};
use crate::analysis::findings::paths::{Code, Wait};
use crate::analysis::text::{name, percent};
use crate::model::Unit as U;
use crate::model::Why;

pub(super) const RULE: Rule =
    Rule { id: "allocator", title: "the memory allocator", kind: Kind::Wait, explains: &[Code::Allocator], judge };

fn judge(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    let (on, off) = (step.code_share(Code::Allocator), step.wait_share(Wait::Allocator));
    if on + off < limits::FACTOR {
        return if step.cpu_grew()? { step.cpu().map(|_| None) } else { Ok(None) };
    }
    let share = (on + off).min(1.0);
    let waits = off > on;
    let lead = if waits {
        step.waits().ok().and_then(|waits| waits.lead(Wait::Allocator))
    } else {
        step.cpu().ok().and_then(|cpu| cpu.lead(Code::Allocator))
    };
    let at = lead.map_or(String::new(), |lead| format!(", most of it in {}{}", name(&lead.function), below(lead)));
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
        place: lead.map(if waits { blocked_place } else { cpu_place }),
        refuted_by: "another allocator (LD_PRELOAD) makes no difference",
        next_step:
            "Try another allocator (LD_PRELOAD), more arenas, or let threads reuse their own memory; memory freed by \
                    another thread than allocated it costs most."
                .to_string(),
    }))
}
