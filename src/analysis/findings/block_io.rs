//! Threads that wait for storage. The kernel's accounting does not show which device or file.

use super::paths::WaitReason;
use super::waits::mostly_below;
use super::{Confidence, Evidence, Finding, FindingKind, Place, Rule, RuleContext, Whole, limits};
use crate::analysis::text::{percent, seconds};
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "block-io",
    title: "waiting for storage",
    kind: FindingKind::Limit,
    of: Whole::WorkingTime,
    explains: &[],
    evaluate,
};

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let place = match context.waits() {
        Ok(waits) => waits.worst(&[WaitReason::Storage], false),
        Err(Why::NotRecorded) if context.count("blkio-delay").is_ok() => None,
        // No task waited for storage at all, not even one outside the target.
        Err(why) => return if no_pressure(context) { Ok(None) } else { Err(why) },
    };
    let (span, work) = (context.span()?, context.work()?);
    let share = if work.storage > 0.0 { work.storage / work.total() } else { 0.0 };
    if no_pressure(context) {
        return Ok(None);
    }
    if share < limits::STORAGE {
        return context.below_limit(WaitReason::Storage, share, work.total(), limits::STORAGE);
    }
    context.require_work()?;
    let by_span = context.waits().is_ok();
    let mut evidence = vec![Evidence::of("blocked, of working time", share, U::Share, limits::STORAGE)];
    for (id, label) in
        [(MetricId::PsiIoSome, "I/O pressure, group"), (MetricId::HostPsiIoSome, "I/O pressure, machine")]
    {
        evidence.extend(context.metric(id).map(|value| Evidence::of(label, value, U::Share, limits::IO_PRESSURE)));
    }
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "Threads wait for storage for {} of their working time: {} in {}{}.",
            percent(share),
            seconds(work.storage * span),
            seconds(span),
            mostly_below(place.as_ref())
        ),
        evidence,
        confidence: if by_span { Confidence::High } else { Confidence::Medium },
        next_step: next_step(place.as_ref()),
        place,
        culprits: Vec::new(),
        refuted_by: "I/O pressure (PSI) is about 0 and no thread is in state D",
    }))
}

fn next_step(place: Option<&Place>) -> String {
    let text = match place {
        Some(_) => {
            "Flush less often, read ahead, or issue requests in parallel; `iostat -x` shows whether the device is \
             saturated."
        }
        None => {
            "Record with --off-cpu to see which calls wait; `iostat -x` shows whether the device is \
                 saturated."
        }
    };
    text.to_string()
}

fn no_pressure(context: &RuleContext<'_>) -> bool {
    let pressure = context.metric(MetricId::PsiIoSome).or_else(|_| context.metric(MetricId::HostPsiIoSome));
    context.wall().is_ok() && pressure.is_ok_and(|pressure| pressure < limits::IO_PRESSURE)
}
