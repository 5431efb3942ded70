//! TLB shootdown: a thread that unmaps, protects or returns memory interrupts every CPU that runs another thread of the
//! program, and waits until all have flushed the translations. Other interrupts between CPUs count only where
//! translations are flushed.

use super::address_space::costs;
use super::context::WidthContext;
use super::places::{cpu_place, mostly_in_below, require_kernel_names};
use super::{Confidence, CostKind, Evidence, Finding, Rule, limits, lost_cores};
use crate::analysis::findings::code_path::CodeClass;
use crate::analysis::findings::tlb_flush::NEXT_STEP;
use crate::analysis::text::percent;
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "tlb-shootdown",
    title: "TLB shootdown",
    kind: CostKind::Wait,
    explains: &[CodeClass::TlbFlush, CodeClass::Ipi],
    evaluate,
};

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let costs = costs(context);
    if costs.flushing < limits::FACTOR {
        return if context.cpu_grew()? { require_kernel_names(context).map(|()| None) } else { Ok(None) };
    }
    let rest = costs.rest_of(CodeClass::TlbFlush);
    let share = (costs.flushing + rest).min(1.0);
    let leading_path = context.cpu()?.leading_path(CodeClass::TlbFlush);
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "TLB shootdowns take {} of the lost cores{}: unmapping, protecting or returning memory interrupts \
             every CPU that runs a thread of the program.",
            percent(share),
            mostly_in_below(leading_path)
        ),
        evidence: vec![
            lost_cores(share),
            Evidence::plain("flushing, on both sides", costs.flushing, U::Share),
            Evidence::plain("in the calls that request it", rest, U::Share),
        ],
        confidence: Confidence::High,
        place: leading_path.map(cpu_place),
        culprits: Vec::new(),
        refuted_by: "TLB shootdowns in /proc/interrupts stay flat per operation, or processes instead of threads lose as much",
        next_step: NEXT_STEP.to_string(),
    }))
}
