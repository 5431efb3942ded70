//! How much longer work takes than it runs because it waits for a CPU and for storage. Idle time is not a wait.

use super::deviation::value;
use crate::analysis::baseline::{Expected, Level};
use crate::analysis::diff::Reading;
use crate::model::MetricId;

/// Shares of the threads' time in which they had work and did not run.
pub(super) const WAITS: [MetricId; 2] = [MetricId::RunQueueDelay, MetricId::BlockIoDelay];

/// Running plus waiting time over running time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WaitRatio {
    /// In this window.
    pub now: f64,
    /// The usual ratio; the same as `now` if nothing is known.
    pub usual: f64,
    /// Its usual deviation.
    pub spread: f64,
    /// The share of time spent running: its weight when windows are pooled.
    pub running: f64,
}

/// The waits of a window and of a level; `None` if the time of threads was not counted.
pub(super) fn stretch(readings: &[Reading], level: Option<&Level>) -> Option<WaitRatio> {
    let running = value(readings, MetricId::Utilisation).filter(|running| *running > 1e-6)?;
    let measured: Vec<(MetricId, f64)> =
        WAITS.into_iter().filter_map(|name| Some((name, value(readings, name)?))).collect();
    let waited: f64 = measured.iter().map(|(_, share)| share.max(0.0)).sum();
    let now = 1.0 + waited / running;
    let Some(level) = level else { return Some(WaitRatio { now, usual: now, spread: 0.0, running }) };
    let usual = |id| level.expected.iter().find(|expected| expected.quantity.id == id);
    let ran = usual(MetricId::Utilisation).map(|expected| expected.centre).filter(|ran| *ran > 1e-6)?;
    // A wait that the baseline does not know cannot be compared.
    let known: Vec<(&Expected, f64)> = measured.iter().filter_map(|(id, share)| Some((usual(*id)?, *share))).collect();
    let now = 1.0 + known.iter().map(|(_, share)| share.max(0.0)).sum::<f64>() / running;
    let then = 1.0 + known.iter().map(|(expected, _)| expected.centre.max(0.0)).sum::<f64>() / ran;
    let variance: f64 = known.iter().map(|(expected, _)| (expected.spread / ran).powi(2)).sum();
    Some(WaitRatio { now, usual: then, spread: variance.sqrt(), running })
}

impl WaitRatio {
    /// How much longer than usual work takes because of waits: 1 is as usual.
    pub fn ratio(&self) -> f64 {
        self.now / self.usual
    }
}
