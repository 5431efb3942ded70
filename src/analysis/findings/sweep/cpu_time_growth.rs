//! CPU time per operation that grows without an explanation by another rule, where instructions and cycles were not
//! counted. One number cannot be split into more work, slower instructions and a slower clock.

use super::places::{grower_place, growers};
use super::step::Step;
use super::{Confidence, Evidence, Finding, Kind, Rule, limits};
use crate::analysis::sweep::SliceKind;
use crate::analysis::text::{percent, seconds};
use crate::model::Unit as U;
use crate::model::Why;

pub(super) const RULE: Rule =
    Rule { id: "cpu-time-growth", title: "more CPU time per operation", kind: Kind::Rest, explains: &[], judge };

/// The reasons that cannot be distinguished. `still` is the share of the lost cores that is CPU time without cycles.
fn apart(still: f64) -> &'static str {
    if still > 0.0 {
        "CPU time without cycles in a virtual machine is time in which the virtual CPU stood still (interrupts, halts, other \
         machines), or a slower clock"
    } else {
        "more work, slower instructions (cache, memory, siblings) and a slower clock cannot be told apart without hardware \
         counters"
    }
}

fn judge(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    if !step.cpu_grew()? {
        return Ok(None);
    }
    let cost = step.number(|numbers| numbers.cpu_ns_per_op)?;
    let still = step.share(&[SliceKind::Frequency]) * (1.0 - step.clock().unwrap_or(0.0));
    let share = (step.share(&[SliceKind::CpuTime]) + still).min(step.unexplained());
    if share < limits::FACTOR {
        return Ok(None);
    }
    let named = growers(step);
    let (here, base) = (cost.here.value * 1e-9, cost.base.value * 1e-9);
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores take more CPU time per operation for which no rule has a reason: {} in all, {} at \
             n={}{named}; {}.",
            percent(share),
            seconds(here),
            seconds(base),
            step.base.n,
            apart(still)
        ),
        evidence: vec![
            Evidence::of("of the lost cores", share, U::Share, limits::FACTOR),
            Evidence::plain("CPU time per operation", here, U::Seconds),
            Evidence::plain("the same at the base", base, U::Seconds),
        ],
        confidence: if named.is_empty() { Confidence::Low } else { Confidence::Medium },
        place: grower_place(step),
        refuted_by: "CPU time per operation stays as it is with n",
        next_step:
            "Repeat the sweep where hardware counters are (bare metal: see `ironlaw doctor`); here, count calls of \
                    these functions per operation (uprobes) and time a fixed loop beside the program."
                .to_string(),
    }))
}
