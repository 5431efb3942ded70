//! CPU time per operation that grows without an explanation by another rule, where instructions and cycles were not
//! counted. One number cannot be split into more work, slower instructions and a slower clock.

use super::context::WidthContext;
use super::places::{grown_function_place, grown_functions};
use super::{Confidence, CostKind, Evidence, Finding, Rule, limits, lost_cores};
use crate::analysis::sweep::SliceKind;
use crate::analysis::text::{percent, seconds};
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "cpu-time-growth", title: "more CPU time per operation", kind: CostKind::Rest, explains: &[], evaluate };

/// The reasons that cannot be distinguished. `without_cycles` is the share of the lost cores that is CPU time without cycles.
fn indistinguishable(without_cycles: f64) -> &'static str {
    if without_cycles > 0.0 {
        "in a virtual machine, CPU time without cycles is time in which the virtual CPU did not run \
         (interrupts, halts, other machines), or a slower clock"
    } else {
        "more work, slower instructions (cache, memory, siblings) and a slower clock look the same without \
         hardware counters"
    }
}

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    if !context.cpu_grew()? {
        return Ok(None);
    }
    let cost = context.number(|numbers| numbers.cpu_ns_per_op)?;
    let without_cycles = context.share(&[SliceKind::Frequency]) * (1.0 - context.clock().unwrap_or(0.0));
    let share = (context.share(&[SliceKind::CpuTime]) + without_cycles).min(context.unexplained());
    if share < limits::FACTOR {
        return Ok(None);
    }
    let named = grown_functions(context);
    let (here, base) = (cost.here.value * 1e-9, cost.base.value * 1e-9);
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "CPU time per operation that no other finding explains takes {} of the lost cores: {} in all, {} at \
             n={}{named}; {}.",
            percent(share),
            seconds(here),
            seconds(base),
            context.base.n,
            indistinguishable(without_cycles)
        ),
        evidence: vec![
            lost_cores(share),
            Evidence::plain("CPU time per operation", here, U::Seconds),
            Evidence::plain("the same at the base", base, U::Seconds),
        ],
        confidence: if named.is_empty() { Confidence::Low } else { Confidence::Medium },
        place: grown_function_place(context),
        culprits: Vec::new(),
        refuted_by: "CPU time per operation stays as it is with n",
        next_step:
            "Repeat the sweep where hardware counters are (bare metal: see `ironlaw doctor`); here, count calls of \
                    these functions per operation (uprobes) and time a fixed loop next to the program."
                .to_string(),
    }))
}
