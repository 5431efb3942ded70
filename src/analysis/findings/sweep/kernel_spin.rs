//! CPUs that spin longer per operation for a kernel lock. Plain lock functions do not count as spinning: samples fall
//! there because interrupts are enabled again.

use super::places::{below, cpu_place, kernel_seen};
use super::step::Step;
use super::{Confidence, Evidence, Finding, Kind, Rule, limits};
use crate::analysis::findings::paths::Code;
use crate::analysis::text::{name, percent};
use crate::model::Unit as U;
use crate::model::Why;

pub(super) const RULE: Rule = Rule {
    id: "kernel-lock-spin",
    title: "spinning for locks in the kernel",
    kind: Kind::Wait,
    explains: &[Code::KernelSpin],
    judge,
};

fn judge(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    if !step.cpu_grew()? {
        return Ok(None);
    }
    kernel_seen(step)?;
    let share = step.code_share(Code::KernelSpin);
    let Some(lead) = step.cpu()?.lead(Code::KernelSpin).filter(|_| share >= limits::FACTOR) else { return Ok(None) };
    let part = step.cpu()?.part(Code::KernelSpin);
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores spin for a lock of the kernel in {}{}.",
            percent(share),
            name(&lead.function),
            below(lead)
        ),
        evidence: vec![
            Evidence::of("of the lost cores", share, U::Share, limits::FACTOR),
            Evidence::plain("of the growth of CPU time", part, U::Share),
        ],
        confidence: Confidence::High,
        place: Some(cpu_place(lead)),
        refuted_by: "its cost per operation stays flat with n",
        next_step:
            "The path names the system call and so the lock: call it less often, or share less between threads (file, \
                    directory, socket, futex)."
                .to_string(),
    }))
}
