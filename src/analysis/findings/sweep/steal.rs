//! CPU time that the hypervisor gave to others. Kernels that know of it leave it out of their threads' CPU time, so it
//! appears as time with an unknown thread state; others count it as CPU time without cycles. No neighbour is blamed:
//! the machine's own quota on its host looks the same.

use super::values::Change;
use super::{Confidence, CostKind, Evidence, Finding, Rule, WidthContext, limits};
use crate::analysis::sweep::SliceKind;
use crate::analysis::text::percent;
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "steal", title: "CPU taken by the hypervisor", kind: CostKind::Stolen, explains: &[], evaluate };

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let stolen = context.metric(MetricId::StealShare)?;
    if !stolen.grew() || stolen.amount() < limits::STEAL {
        return Ok(None);
    }
    let unseen = context.unseen_by_steal();
    let counted = context.number(|numbers| numbers.frequency).is_ok();
    let left_out = context.here.runs.iter().all(|run| run.stolen_in_cpu_time == Some(false));
    let on_cpu = if left_out {
        0.0
    } else if counted {
        context.share(&[SliceKind::Frequency])
    } else {
        context.work()
    };
    let share = stretched(&stolen, &context.metric(MetricId::HostBusy)?, context).min(unseen + on_cpu);
    if share < limits::FACTOR {
        return Ok(None);
    }
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "the hypervisor withholds {} of all CPU time from this machine while its CPUs have work ({} at n={}), \
             {} of the slowdown.",
            percent(stolen.here.value),
            percent(stolen.base.value),
            context.base.n,
            percent(share)
        ),
        evidence: vec![
            Evidence::of("of the slowdown", share, U::Share, limits::FACTOR),
            Evidence::of("stolen", stolen.here.value, U::Share, limits::STEAL),
        ],
        confidence: Confidence::High,
        place: None,
        culprits: Vec::new(),
        refuted_by: "the steal column of /proc/stat does not grow",
        next_step: "The program cannot change this: repeat the sweep on dedicated CPUs, or on the host itself."
            .to_string(),
    }))
}

/// Stolen time stretches the time that was wanted. Returns its share of the slowdown, by logarithms.
fn stretched(stolen: &Change, busy: &Change, context: &WidthContext<'_>) -> f64 {
    let stretch = |stolen: f64, busy: f64| 1.0 / (1.0 - (stolen / busy.max(stolen)).min(0.99));
    let ratio = stretch(stolen.here.value, busy.here.value) / stretch(stolen.base.value, busy.base.value.max(1e-9));
    let slowdown = f64::from(context.here.n) / context.stack.useful.max(1e-9);
    (ratio.ln() / slowdown.ln()).clamp(0.0, 1.0)
}
