//! What all reasons for slower instructions have in common: cycles per instruction grew.

use super::context::WidthContext;
use super::{Evidence, limits, lost_cores};
use crate::analysis::sweep::SliceKind;
use crate::model::{MetricId, Unit as U, Why};

/// Instructions that take more cycles than at the base.
pub(super) struct SlowerInstructions {
    /// The share of the lost cores that they took.
    pub share: f64,
    /// Cycles per instruction, here over the base; `None` if they were not counted and CPU time replaces them.
    pub ratio: Option<f64>,
}

/// How much slower instructions are, if it is enough to need a reason.
///
/// # Errors
/// `RunsScatter` if they are slower on average but the runs scatter by as much.
pub(super) fn slower(context: &WidthContext<'_>) -> Result<Option<SlowerInstructions>, Why> {
    if !context.cpu_grew()? {
        return Ok(None);
    }
    let left = context.left();
    let Ok(cpi) = context.number(|numbers| numbers.cpi) else {
        return Ok((left >= limits::FACTOR).then_some(SlowerInstructions { share: left, ratio: None }));
    };
    let share = context.share(&[SliceKind::Cpi]).min(left);
    let is_real = share >= limits::FACTOR && cpi.grew_by_factor(limits::CPI) && cpi.grew_beyond_scatter()?;
    Ok(is_real.then(|| SlowerInstructions { share, ratio: cpi.ratio() }))
}

/// The evidence that these reasons have in common.
pub(super) fn evidence(share: f64, slower: &SlowerInstructions) -> Vec<Evidence> {
    let mut evidence = vec![lost_cores(share)];
    evidence
        .extend(slower.ratio.map(|ratio| Evidence::of("cycles per instruction, growth", ratio, U::Ratio, limits::CPI)));
    evidence
}

/// A hardware-counter metric, if instructions are slower.
///
/// # Errors
/// Why the metric is missing.
pub(super) fn counted(
    context: &WidthContext<'_>,
    id: MetricId,
) -> Result<Option<(SlowerInstructions, super::values::Change)>, Why> {
    match slower(context)? {
        Some(slower) => Ok(Some((slower, context.hardware(id)?))),
        None => Ok(None),
    }
}
