//! Waits for mmap_lock, the lock of the address space, which page faults, mmap, munmap, mprotect and similar calls of
//! all threads take. One thread's faults and maps do not count: they cost the same at every width.

use super::address_space::{Costs, costs, mostly};
use super::growth::Lead;
use super::places::{blocked_place, cpu_place, kernel_seen};
use super::step::Step;
use super::{Confidence, Evidence, Finding, Kind, Place, Rule, limits};
use crate::analysis::findings::mmap_lock::{NEXT_STEP, blocked_words};
use crate::analysis::findings::paths::{Code, Wait};
use crate::analysis::text::percent;
use crate::model::Unit as U;
use crate::model::Why;

pub(super) const RULE: Rule =
    Rule { id: "mmap-lock", title: "waiting for mmap_lock", kind: Kind::Wait, explains: &[Code::MmapLock], judge };

fn judge(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    let costs = costs(step);
    if costs.locking + costs.blocked < limits::FACTOR {
        // If kernel functions are not visible, the lock is not ruled out.
        return if step.cpu_grew()? { kernel_seen(step).map(|()| None) } else { Ok(None) };
    }
    let rest = costs.rest_of(Code::MmapLock);
    let share = (costs.locking + costs.blocked + rest).min(1.0);
    let (lead, place) = lead(step, &costs);
    let beside = if rest >= limits::FACTOR {
        format!(", and {} in what it protects, which moves between CPUs with it", percent(rest))
    } else {
        String::new()
    };
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores wait for the lock of the one address space (mmap_lock): {} on a CPU (spinning, sleeping, \
             wake-ups), {}{beside}{}.",
            percent(share),
            percent(costs.locking),
            blocked_words(step.waits().is_ok(), costs.blocked),
            lead.map_or(String::new(), mostly)
        ),
        evidence: vec![
            Evidence::of("of the lost cores", share, U::Share, limits::FACTOR),
            Evidence::plain("on a CPU, for the lock", costs.locking, U::Share),
            Evidence::plain("in what it protects", rest, U::Share),
        ],
        confidence: Confidence::High,
        place,
        refuted_by: "with memory mapped and touched before the measurement, or in processes instead of threads, the loss stays",
        next_step: NEXT_STEP.to_string(),
    }))
}

fn lead<'a>(step: &'a Step<'_>, costs: &Costs) -> (Option<&'a Lead>, Option<Place>) {
    let blocked = step.waits().ok().and_then(|waits| waits.lead(Wait::MmapLock));
    match blocked.filter(|_| costs.blocked > costs.locking) {
        Some(lead) => (Some(lead), Some(blocked_place(lead))),
        None => {
            let lead = step.cpu().ok().and_then(|cpu| cpu.lead(Code::MmapLock));
            (lead, lead.map(cpu_place))
        }
    }
}
