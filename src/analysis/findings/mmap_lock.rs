//! Waits for mmap_lock, the lock of the address space, which page faults, mmap, munmap, mprotect and similar calls of
//! all threads take. Time in which a thread holds the lock does not count.

use super::code_path::CodeClass;
use super::paths::WaitReason;

use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, Whole, limits};
use crate::analysis::text::{name, percent};
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "mmap-lock",
    title: "waiting for mmap_lock",
    kind: FindingKind::Limit,
    of: Whole::WorkingTime,
    explains: &[CodeClass::MmapLock],
    evaluate,
};

/// Advice for a recording and for a sweep.
pub(super) const NEXT_STEP: &str = "Map less often: keep memory instead of returning it (malloc's M_MMAP_THRESHOLD and M_TRIM_THRESHOLD, \
                    pools), map large ranges once, use huge pages, or processes instead of threads.";

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let work = context.require_work()?;
    let on = context.kernel_samples().map(|stacks| stacks.part_of(&[CodeClass::MmapLock]));
    if on.is_err() && context.waits().is_err() {
        return on.map(|_| None);
    }
    let running = on.as_ref().map_or(0.0, |part| part.share * work.running / work.total());
    let blocked = work.mapping / work.total();
    let share = running + blocked;
    if share < limits::LOCKED {
        return context.below_limit(WaitReason::MmapLock, share, work.total(), limits::LOCKED);
    }
    let waiting = context.waits().ok().and_then(|waits| waits.worst(&[WaitReason::MmapLock], false));
    let place = waiting.filter(|_| blocked >= running).or_else(|| on.as_ref().ok().and_then(|part| part.place()));
    let at = place
        .as_ref()
        .and_then(|place| place.frames.last())
        .map_or(String::new(), |last| format!(", most of it in {}", name(last)));
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "Contention for mmap_lock, the lock of the address space, takes {} of the working time: {} on a CPU \
             (spinning, sleeping, wake-ups), {}{at}.",
            percent(share),
            percent(running),
            blocked_words(context.waits().is_ok(), blocked)
        ),
        evidence: vec![
            Evidence::of("of working time", share, U::Share, limits::LOCKED),
            Evidence::plain("on a CPU", running, U::Share),
        ],
        confidence: Confidence::High,
        place,
        culprits: Vec::new(),
        refuted_by: "one thread alone waits as long",
        next_step: NEXT_STEP.to_string(),
    }))
}

/// The blocked share in words. A share that was not recorded is not reported as zero.
pub(super) fn blocked_words(recorded: bool, share: f64) -> String {
    if recorded { format!("{} blocked", percent(share)) } else { "blocked time was not recorded".to_string() }
}
