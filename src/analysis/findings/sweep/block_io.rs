//! Workers whose waits for storage grow with their number. The kernel's accounting does not show which device or file.

use super::places::{blocked_place, mostly_in};
use super::{Confidence, CostKind, Evidence, Finding, Rule, WidthContext, limits, lost_cores};
use crate::analysis::Cause;
use crate::analysis::findings::paths::WaitReason;
use crate::analysis::text::{percent, seconds};
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "block-io", title: "waiting for storage", kind: CostKind::Wait, explains: &[], evaluate };

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let Ok(waits) = context.waits() else { return by_accounting(context) };
    let share = context.blocked(Cause::BlockIo);
    let blocked = context.blocked_per_op(Cause::BlockIo)?;
    if share < limits::FACTOR || no_pressure(context) || !blocked.grew_beyond_scatter()? {
        return Ok(None);
    }
    let leading_path = waits.leading_path(WaitReason::Storage);
    let at = mostly_in(leading_path);
    let claim = format!(
        "{} of the lost cores wait for storage{at}; each operation waits {}, {} at n={}.",
        percent(share),
        seconds(blocked.here.value),
        seconds(blocked.base.value),
        context.base.n
    );
    let found = finding(context, share, claim, Confidence::High);
    Ok(Some(Finding { place: leading_path.map(blocked_place), ..found }))
}

/// Without recorded off-CPU time, uses the kernel's own accounting of it, if there is any.
fn by_accounting(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let delay = context.metric(MetricId::BlockIoDelay)?;
    let share = (delay.amount() * f64::from(context.here.n) / context.lost()).clamp(0.0, 1.0);
    if share < limits::FACTOR
        || delay.amount() < limits::STORAGE
        || no_pressure(context)
        || !delay.grew_beyond_scatter()?
    {
        return Ok(None);
    }
    let claim = format!(
        "{} of the lost cores wait for storage: threads wait {} of their time, {} at n={}.",
        percent(share),
        percent(delay.here.value),
        percent(delay.base.value),
        context.base.n
    );
    Ok(Some(finding(context, share, claim, Confidence::Medium)))
}

const PRESSURE: [(MetricId, &str); 2] =
    [(MetricId::PsiIoSome, "I/O pressure, group"), (MetricId::HostPsiIoSome, "I/O pressure, machine")];

/// Whether the kernel reports that no task waited for storage.
fn no_pressure(context: &WidthContext<'_>) -> bool {
    let known: Vec<f64> = PRESSURE.iter().filter_map(|(id, _)| Some(context.metric(*id).ok()?.here.value)).collect();
    !known.is_empty() && known.iter().all(|pressure| *pressure < limits::IO_PRESSURE)
}

fn finding(context: &WidthContext<'_>, share: f64, claim: String, confidence: Confidence) -> Finding {
    let mut evidence = vec![lost_cores(share)];
    for (id, label) in PRESSURE {
        let pressure = context.metric(id).ok();
        evidence.extend(pressure.map(|change| Evidence::of(label, change.here.value, U::Share, limits::IO_PRESSURE)));
    }
    Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim,
        evidence,
        confidence,
        place: None,
        culprits: Vec::new(),
        refuted_by: "I/O pressure (PSI) is about 0 and no thread is in state D",
        next_step:
            "Compare with what the device can do (iostat -x): fewer or larger requests, more at a time, or a cache."
                .to_string(),
    }
}
