//! How much longer work takes than it runs: waiting for a CPU and for storage, beside the running itself.
//! It never counts idleness: that a thread has nothing to do is no wait.

use super::held::value;
use crate::analysis::baseline::{Expected, Level};
use crate::analysis::compare::Reading;

/// Shares of the threads' time in which they had work and did not run.
pub(super) const WAITS: [&str; 2] = ["run_queue_delay", "block_io_delay"];

/// Running and waiting over running.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Stretch {
    /// In this window.
    pub now: f64,
    /// Usually; the same as now where nothing is known.
    pub usual: f64,
    /// The usual deviation of it.
    pub spread: f64,
    /// What it was spent on: the running, as a weight.
    pub running: f64,
}

/// Waits of a window, and at a level; `None` where how threads spend their time was not counted.
pub(super) fn stretch(readings: &[Reading], level: Option<&Level>) -> Option<Stretch> {
    let running = value(readings, "utilisation").filter(|running| *running > 1e-6)?;
    let measured: Vec<(&str, f64)> =
        WAITS.into_iter().filter_map(|name| Some((name, value(readings, name)?))).collect();
    let waited: f64 = measured.iter().map(|(_, share)| share.max(0.0)).sum();
    let now = 1.0 + waited / running;
    let Some(level) = level else { return Some(Stretch { now, usual: now, spread: 0.0, running }) };
    let usual = |name: &str| level.expected.iter().find(|expected| expected.quantity.name == name);
    let ran = usual("utilisation").map(|expected| expected.centre).filter(|ran| *ran > 1e-6)?;
    // A wait that the baseline does not know cannot be compared.
    let known: Vec<(&Expected, f64)> =
        measured.iter().filter_map(|(name, share)| Some((usual(name)?, *share))).collect();
    let now = 1.0 + known.iter().map(|(_, share)| share.max(0.0)).sum::<f64>() / running;
    let then = 1.0 + known.iter().map(|(expected, _)| expected.centre.max(0.0)).sum::<f64>() / ran;
    let variance: f64 = known.iter().map(|(expected, _)| (expected.spread / ran).powi(2)).sum();
    Some(Stretch { now, usual: then, spread: variance.sqrt(), running })
}

impl Stretch {
    /// How much longer work takes for its waits than usual: 1 is as usual.
    pub fn ratio(&self) -> f64 {
        self.now / self.usual
    }
}
