//! A drop of throughput with longer waits within one session, which no variation between runs explains: both sides of it
//! are the same run. It decides where a baseline has too few recordings to know how far runs differ.

use super::types::Settings;
use super::window_verdict::WindowVerdict;

/// Windows before the drop that show what this run usually completes.
const BEFORE: usize = 10;
/// The part of those that may have been unusual: single odd windows are usual.
const ODD: f64 = 0.2;
/// Minimum part of the throughput that is lost.
const LOST: f64 = 0.25;

/// Whether a session completed less from one window on, and waited longer: by an amount that no window before shows.
pub(super) fn is_collapse(before: &[&WindowVerdict], since: &[&WindowVerdict], settings: &Settings) -> bool {
    let odd = before.iter().filter(|verdict| !verdict.outside.is_empty()).count();
    if before.len() < BEFORE || since.len() < settings.n || odd as f64 > ODD * before.len() as f64 {
        return false;
    }
    let rates = |all: &[&WindowVerdict]| all.iter().filter_map(|verdict| verdict.rate).collect::<Vec<f64>>();
    let waits = |all: &[&WindowVerdict]| all.iter().filter_map(|it| Some(it.wait_ratio?.now)).collect::<Vec<f64>>();
    let fell = || {
        let (usual, now) = (rates(before), rates(since));
        let least = usual.iter().copied().reduce(f64::min)?;
        let (usual, now) = (mean(&usual, BEFORE)?, mean(&now, settings.k)?);
        Some(now <= (1.0 - LOST) * usual && now < least)
    };
    let longer = || {
        let (usual, now) = (waits(before), waits(since));
        let most = usual.iter().copied().reduce(f64::max)?;
        let (usual, now) = (mean(&usual, BEFORE)?, mean(&now, settings.k)?);
        Some(now >= (1.0 + settings.least_wait) * usual && now > most)
    };
    fell() == Some(true) && longer() == Some(true)
}

/// The mean of at least this many values.
fn mean(values: &[f64], least: usize) -> Option<f64> {
    (values.len() >= least.max(1)).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
