//! CPUs that spin longer per operation for a kernel lock. Plain lock functions do not count as spinning: samples fall
//! there because interrupts are enabled again.

use super::context::WidthContext;
use super::places::{below, cpu_place, require_kernel_names};
use super::{Confidence, CostKind, Evidence, Finding, Rule, limits, lost_cores};
use crate::analysis::findings::code_path::CodeClass;
use crate::analysis::text::{name, percent};
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "kernel-lock-spin",
    title: "spinning for locks in the kernel",
    kind: CostKind::Wait,
    explains: &[CodeClass::KernelSpin],
    evaluate,
};

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    if !context.cpu_grew()? {
        return Ok(None);
    }
    require_kernel_names(context)?;
    let share = context.code_share(CodeClass::KernelSpin);
    let Some(leading_path) = context.cpu()?.leading_path(CodeClass::KernelSpin).filter(|_| share >= limits::FACTOR)
    else {
        return Ok(None);
    };
    let part = context.cpu()?.part(CodeClass::KernelSpin);
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "spinning on a kernel lock takes {} of the lost cores, in {}{}.",
            percent(share),
            name(&leading_path.function),
            below(leading_path)
        ),
        evidence: vec![lost_cores(share), Evidence::plain("of the growth of CPU time", part, U::Share)],
        confidence: Confidence::High,
        place: Some(cpu_place(leading_path)),
        culprits: Vec::new(),
        refuted_by: "its cost per operation stays flat with n",
        next_step:
            "The path names the system call and thus the lock: call it less often, or share less between threads \
             (file, directory, socket, futex)."
                .to_string(),
    }))
}
