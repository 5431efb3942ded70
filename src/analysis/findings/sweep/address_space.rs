//! Page faults and address-space changes that cost more per operation, and which of three reasons gets their common
//! cost: the faults themselves, mmap_lock, or flushing translations on other CPUs. Faults that every width has do not
//! count: they must cost more, or increase in number.

use super::context::WidthContext;
use super::places::{cpu_place, mostly_in_below, require_kernel_names};
use super::values::Change;
use super::{Confidence, CostKind, Evidence, Finding, Rule, limits, lost_cores};
use crate::analysis::findings::code_path::CodeClass;
use crate::analysis::findings::paths::WaitReason;
use crate::analysis::text::{digits, percent};
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "page-faults",
    title: "page faults and the address space",
    kind: CostKind::Wait,
    explains: &[CodeClass::AddressSpace],
    evaluate,
};

/// Growth of minor faults per operation that confirms the samples. [P]
const FAULTS: f64 = 1.5;

/// Minimum nanoseconds of CPU time per minor fault. [P]
const FAULT_NS: f64 = 500.0;

/// Shares of the lost cores that go to the address space.
pub(super) struct AddressSpaceCosts {
    /// Waiting for mmap_lock, on a CPU and blocked.
    pub locking: f64,
    pub blocked: f64,
    /// Flushing translations.
    pub flushing: f64,
    /// Everything else that faults and calls do.
    pub rest: f64,
    /// Which of the three gets the rest: data that the lock protects, and flushed memory, moves between CPUs.
    pub holder: CodeClass,
}

pub(super) fn costs(context: &WidthContext<'_>) -> AddressSpaceCosts {
    let (locking, blocked) = (context.code_share(CodeClass::MmapLock), context.wait_share(WaitReason::MmapLock));
    let flush = context.code_share(CodeClass::TlbFlush);
    // These interrupts may ask for anything; where translations are flushed they ask for that.
    let flushing = if flush > 0.0 { flush + context.code_share(CodeClass::Ipi) } else { 0.0 };
    let holder = if more_faults(context) || (locking + blocked).max(flushing) < limits::FACTOR {
        CodeClass::AddressSpace
    } else if flushing > locking + blocked {
        CodeClass::TlbFlush
    } else {
        CodeClass::MmapLock
    };
    AddressSpaceCosts { locking, blocked, flushing, rest: context.code_share(CodeClass::AddressSpace), holder }
}

impl AddressSpaceCosts {
    /// The part of the rest that the finding of this code gets.
    pub fn rest_of(&self, code: CodeClass) -> f64 {
        if self.holder == code { self.rest } else { 0.0 }
    }
}

fn faults(context: &WidthContext<'_>) -> Option<Change> {
    context.per_op(MetricId::MinorFaults).ok()
}

/// Whether faults increased enough to be a reason by themselves.
fn more_faults(context: &WidthContext<'_>) -> bool {
    let Ok(cost) = context.number(|numbers| numbers.cpu_ns_per_op) else { return false };
    faults(context).is_some_and(|change| {
        let matter = change.amount() * FAULT_NS >= limits::FACTOR * cost.amount();
        change.grew() && change.grew_by_factor(FAULTS) && matter
    })
}

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let (costs, faults) = (costs(context), faults(context));
    if costs.rest < limits::FACTOR || costs.holder != CodeClass::AddressSpace {
        // If the cost of the additional faults is not visible, there is no verdict.
        return if more_faults(context) && context.cpu_grew()? {
            require_kernel_names(context).map(|()| None)
        } else {
            Ok(None)
        };
    }
    let share = costs.rest;
    let leading_path = context.cpu().ok().and_then(|cpu| cpu.leading_path(CodeClass::AddressSpace));
    let mut evidence = vec![lost_cores(share)];
    evidence.extend(faults.map(|change| Evidence::plain("minor faults per operation", change.here.value, U::Count)));
    let grown = faults.and_then(|change| change.ratio());
    evidence.extend(Evidence::growth("minor faults per operation, growth", grown, FAULTS));
    let count = faults.map_or(String::new(), |change| {
        format!(
            "; {} faults per operation, {} at n={}",
            digits(change.here.value),
            digits(change.base.value),
            context.base.n
        )
    });
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "page faults and address-space changes take {} of the lost cores{}{count}.",
            percent(share),
            mostly_in_below(leading_path)
        ),
        evidence,
        confidence: Confidence::High,
        place: leading_path.map(cpu_place),
        culprits: Vec::new(),
        refuted_by: "the loss stays with memory touched and kept before the measurement",
        next_step:
            "Keep memory instead of returning it (malloc's trim threshold, pools), use huge pages, or processes \
                    instead of threads."
                .to_string(),
    }))
}
