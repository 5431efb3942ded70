//! CPUs that spin for a kernel lock. Plain lock functions do not count as spinning: samples fall there because
//! interrupts are enabled again.

use super::code_path::CodeClass;
use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, Whole};
use crate::analysis::text::{name, percent};
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "kernel-lock-spin",
    title: "spinning for locks in the kernel",
    kind: FindingKind::Limit,
    of: Whole::CpuTime,
    explains: &[CodeClass::KernelSpin],
    evaluate,
};

/// Share of samples in the kernel's lock slow paths. [P]
const KERNEL_SPIN: f64 = 0.05;

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    context.require_cpu_time()?;
    let part = context.kernel_samples()?.part_of(&[CodeClass::KernelSpin]);
    if part.share < KERNEL_SPIN {
        return Ok(None);
    }
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(part.share),
        claim: format!(
            "Spinning on a kernel lock takes {} of the CPU time, in {}.",
            percent(part.share),
            name(part.function())
        ),
        evidence: vec![Evidence::of("in lock slow paths", part.share, U::Share, KERNEL_SPIN)],
        confidence: Confidence::High,
        place: part.place(),
        culprits: Vec::new(),
        refuted_by: "fewer threads have the same share",
        next_step: "The path names the system call and thus the lock: call it less often, or share less between \
                    threads."
            .to_string(),
    }))
}
