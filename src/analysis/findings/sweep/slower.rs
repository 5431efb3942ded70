//! What all reasons for slower instructions have in common: cycles per instruction grew.

use super::step::Step;
use super::{Evidence, limits};
use crate::analysis::sweep::SliceKind;
use crate::model::Unit as U;
use crate::model::Why;

/// Instructions that take more cycles than at the base.
pub(super) struct Slower {
    /// The share of the lost cores that they took.
    pub share: f64,
    /// Cycles per instruction, here over the base; `None` if they were not counted and CPU time stands in.
    pub ratio: Option<f64>,
}

/// How much slower instructions are, if it is enough to need a reason.
///
/// # Errors
/// `RunsScatter` if they are slower on average but the runs scatter by as much.
pub(super) fn slower(step: &Step<'_>) -> Result<Option<Slower>, Why> {
    if !step.cpu_grew()? {
        return Ok(None);
    }
    let left = step.left();
    let Ok(cpi) = step.number(|numbers| numbers.cpi) else {
        return Ok((left >= limits::FACTOR).then_some(Slower { share: left, ratio: None }));
    };
    let share = step.share(&[SliceKind::Cpi]).min(left);
    let is_real = share >= limits::FACTOR && cpi.by(limits::CPI) && cpi.shown()?;
    Ok(is_real.then(|| Slower { share, ratio: cpi.ratio() }))
}

/// The evidence that these reasons have in common.
pub(super) fn evidence(share: f64, slower: &Slower) -> Vec<Evidence> {
    let mut evidence = vec![Evidence::of("of the lost cores", share, U::Share, limits::FACTOR)];
    evidence
        .extend(slower.ratio.map(|ratio| Evidence::of("cycles per instruction, growth", ratio, U::Ratio, limits::CPI)));
    evidence
}

/// A hardware-counter metric, if instructions are slower.
///
/// # Errors
/// Why the metric is missing.
pub(super) fn counted(step: &Step<'_>, name: &str) -> Result<Option<(Slower, super::mean::Change)>, Why> {
    match slower(step)? {
        Some(slower) => Ok(Some((slower, step.hardware(name)?))),
        None => Ok(None),
    }
}
