//! How strict an assessment is. The defaults are CPI2's where it has them. They do not depend on the target; the
//! baseline defines its usual behaviour.

use crate::analysis::baseline::{LEAST_COST, UNUSUAL};
use crate::units::Nanos;

/// How strict an assessment is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// An alarm needs this many unusual windows ...
    pub k: usize,
    /// ... among this many judged ones.
    pub n: usize,
    /// A window in which the target wanted less CPU than this is not judged.
    pub least_cores: f64,
    /// How far the usual band reaches beyond the run-to-run range, in standard deviations of windows within a run.
    pub sigmas: f64,
    /// Minimum growth of an operation's CPU time that matters, whatever its significance.
    pub least_cost: f64,
    /// Minimum growth of an operation's time through waits that matters.
    pub least_wait: f64,
    /// False alarms a day that window noise alone may raise. Every window tests every quantity that can raise one.
    pub false_alarms_a_day: f64,
    /// The share of false positives allowed among the quantities reported as moved.
    pub false_discovery: f64,
    /// CPI2's score from which on a neighbour is above the threshold.
    pub threshold: f64,
    /// The windows that a neighbour's use is correlated over: ten minutes of one-second windows.
    pub correlation_windows: usize,
    /// A neighbour that used fewer CPUs than this while the target was slow is not a suspect.
    pub least_neighbour: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            k: 3,
            n: 5,
            least_cores: 0.25,
            sigmas: UNUSUAL,
            least_cost: LEAST_COST,
            least_wait: 0.10,
            false_alarms_a_day: 0.1,
            false_discovery: 0.05,
            threshold: 0.35,
            correlation_windows: 600,
            least_neighbour: 0.05,
        }
    }
}

impl Settings {
    /// How improbable a deviation must be if this many quantities are tested after each window of this length.
    #[must_use]
    pub fn chance_of_a_look(&self, window: Nanos, quantities: usize) -> f64 {
        const DAY_S: f64 = 86_400.0;
        self.false_alarms_a_day * window.seconds() / DAY_S / quantities.max(1) as f64
    }
}
