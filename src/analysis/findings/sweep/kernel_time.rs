//! Kernel time per operation that grows, as far as no rule explains it. Kernel time as such is not a fault; only its
//! growth counts.

use super::context::WidthContext;
use super::places::{below, cpu_place, require_kernel_names};
use super::values::{known, metric, ops};
use super::{Confidence, CostKind, Evidence, Finding, Rule, limits, lost_cores};
use crate::analysis::findings::code_path::CodeClass;
use crate::analysis::text::{name, percent, seconds};
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "kernel-time", title: "time in the kernel", kind: CostKind::Rest, explains: KERNEL, evaluate };

/// Kernel code, as far as no finding explains it.
const KERNEL: &[CodeClass] = &[
    CodeClass::Kernel,
    CodeClass::KernelSpin,
    CodeClass::Signal,
    CodeClass::Ipi,
    CodeClass::TlbFlush,
    CodeClass::MmapLock,
    CodeClass::Process,
    CodeClass::AddressSpace,
];

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    if !context.cpu_grew()? {
        return Ok(None);
    }
    let counted = context.change(|run| Ok(metric(run, MetricId::SystemShare)? * known(run.totals.cpu)? / ops(run)?));
    if require_kernel_names(context).is_err() {
        return by_count(context, &counted?);
    }
    let share = KERNEL.iter().map(|code| context.code_share(*code)).sum();
    let most = KERNEL.iter().max_by(|a, b| context.code_share(**a).total_cmp(&context.code_share(**b)));
    let leading_path = most.and_then(|code| context.cpu().ok()?.leading_path(*code));
    let flat = counted.as_ref().is_ok_and(|counted| !counted.grew());
    let Some(leading_path) = leading_path.filter(|_| share >= limits::FACTOR && !flat) else { return Ok(None) };
    let mut evidence = vec![lost_cores(share)];
    if let Ok(counted) = counted {
        evidence.push(Evidence::plain("kernel time per operation, counted", counted.here.value, U::Seconds));
        evidence.push(Evidence::plain("the same at the base", counted.base.value, U::Seconds));
    }
    let claim = format!(
        "kernel code that no other finding explains takes {} of the lost cores, most of it in {}{}.",
        percent(share),
        name(&leading_path.function),
        below(leading_path)
    );
    let found = finding(share, claim, evidence, Confidence::High);
    Ok(Some(Finding { place: Some(cpu_place(leading_path)), ..found }))
}

/// Without visible kernel functions, uses the counted kernel time alone.
fn by_count(context: &WidthContext<'_>, counted: &super::values::Change) -> Result<Option<Finding>, Why> {
    let all = context.number(|numbers| numbers.cpu_ns_per_op)?.amount() * 1e-9;
    let part = if all > 0.0 { (counted.amount() / all).clamp(0.0, 1.0) } else { 0.0 };
    let share = (context.work() * part).min(context.left());
    if share < limits::FACTOR || !counted.grew_beyond_scatter()? {
        return Ok(None);
    }
    let claim = format!(
        "the kernel takes {} of the lost cores: {} per operation, {} at n={}; its functions are not visible.",
        percent(share),
        seconds(counted.here.value),
        seconds(counted.base.value),
        context.base.n
    );
    let evidence = vec![
        lost_cores(share),
        Evidence::plain("kernel time per operation, counted", counted.here.value, U::Seconds),
        Evidence::plain("the same at the base", counted.base.value, U::Seconds),
    ];
    Ok(Some(finding(share, claim, evidence, Confidence::Medium)))
}

fn finding(share: f64, claim: String, evidence: Vec<Evidence>, confidence: Confidence) -> Finding {
    Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim,
        evidence,
        confidence,
        place: None,
        culprits: Vec::new(),
        refuted_by: "the kernel's time per operation stays flat with n",
        next_step: "Compare system calls per operation at both widths (`perf trace -s`): if they are flat, each costs \
             more, and the leading path shows where."
            .to_string(),
    }
}
