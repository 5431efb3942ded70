//! Page faults and address-space changes that cost more per operation, and which of three reasons gets their common
//! cost: the faults themselves, mmap_lock, or flushing translations on other CPUs. Faults that every width has do not
//! count: they must cost more, or increase in number.

use super::growth::Lead;
use super::mean::Change;
use super::places::{below, cpu_place, kernel_seen};
use super::step::Step;
use super::{Confidence, Evidence, Finding, Kind, Rule, limits};
use crate::analysis::findings::paths::{Code, Wait};
use crate::analysis::text::{digits, name, percent};
use crate::model::Unit as U;
use crate::model::Why;

pub(super) const RULE: Rule = Rule {
    id: "page-faults",
    title: "page faults and the address space",
    kind: Kind::Wait,
    explains: &[Code::AddressSpace],
    judge,
};

/// Shares of the lost cores that go to the address space.
pub(super) struct Costs {
    /// Waiting for mmap_lock, on a CPU and blocked.
    pub locking: f64,
    pub blocked: f64,
    /// Flushing translations.
    pub flushing: f64,
    /// Everything else that faults and calls do.
    pub rest: f64,
    /// Which of the three gets the rest: data that the lock protects, and flushed memory, moves between CPUs.
    pub holder: Code,
}

pub(super) fn costs(step: &Step<'_>) -> Costs {
    let (locking, blocked) = (step.code_share(Code::MmapLock), step.wait_share(Wait::MmapLock));
    let flush = step.code_share(Code::TlbFlush);
    // These interrupts may ask for anything; where translations are flushed they ask for that.
    let flushing = if flush > 0.0 { flush + step.code_share(Code::Ipi) } else { 0.0 };
    let holder = if more_faults(step) || (locking + blocked).max(flushing) < limits::FACTOR {
        Code::AddressSpace
    } else if flushing > locking + blocked {
        Code::TlbFlush
    } else {
        Code::MmapLock
    };
    Costs { locking, blocked, flushing, rest: step.code_share(Code::AddressSpace), holder }
}

impl Costs {
    /// The part of the rest that the finding of this code gets.
    pub fn rest_of(&self, code: Code) -> f64 {
        if self.holder == code { self.rest } else { 0.0 }
    }
}

fn faults(step: &Step<'_>) -> Option<Change> {
    step.per_op("minor_faults").ok()
}

/// Whether faults increased enough to be a reason by themselves.
fn more_faults(step: &Step<'_>) -> bool {
    let Ok(cost) = step.number(|numbers| numbers.cpu_ns_per_op) else { return false };
    faults(step).is_some_and(|change| {
        let matter = change.amount() * limits::FAULT_NS >= limits::FACTOR * cost.amount();
        change.grew() && change.by(limits::FAULTS) && matter
    })
}

fn judge(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    let (costs, faults) = (costs(step), faults(step));
    if costs.rest < limits::FACTOR || costs.holder != Code::AddressSpace {
        // If the cost of the additional faults is not visible, there is no verdict.
        return if more_faults(step) && step.cpu_grew()? { kernel_seen(step).map(|()| None) } else { Ok(None) };
    }
    let share = costs.rest;
    let lead = step.cpu().ok().and_then(|cpu| cpu.lead(Code::AddressSpace));
    let mut evidence = vec![Evidence::of("of the lost cores", share, U::Share, limits::FACTOR)];
    evidence.extend(faults.map(|change| Evidence::plain("minor faults per operation", change.here.value, U::Count)));
    if let Some(ratio) = faults.and_then(|change| change.ratio()) {
        evidence.push(Evidence::of("growth of these", ratio, U::Ratio, limits::FAULTS));
    }
    let count = faults.map_or(String::new(), |change| {
        format!(
            "; {} faults per operation, {} at n={}",
            digits(change.here.value),
            digits(change.base.value),
            step.base.n
        )
    });
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores serve page faults and changes of the address space{}{count}.",
            percent(share),
            lead.map_or(String::new(), mostly)
        ),
        evidence,
        confidence: Confidence::High,
        place: lead.map(cpu_place),
        refuted_by: "with memory touched and kept before the measurement the loss stays",
        next_step:
            "Keep memory instead of returning it (malloc's trim threshold, pools), use huge pages, or processes \
                    instead of threads."
                .to_string(),
    }))
}

pub(super) fn mostly(lead: &Lead) -> String {
    format!(", most of it in {}{}", name(&lead.function), below(lead))
}
