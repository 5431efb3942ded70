//! How strict an assessment is. The defaults are CPI2's where it has them.
//! It never depends on the target: what is usual of that is the baseline's to say.

use crate::analysis::baseline::{LEAST_COST, UNUSUAL};
use crate::units::Nanos;

/// How strict an assessment is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// An alarm needs so many unusual windows ...
    pub k: usize,
    /// ... among so many judged ones.
    pub n: usize,
    /// A window in which the target wanted less CPU than this says nothing.
    pub least_cores: f64,
    /// How far the usual band reaches beyond where another run as a whole may lie, in usual distances of windows.
    pub sigmas: f64,
    /// Least growth of an operation's CPU time that matters, whatever its significance.
    pub least_cost: f64,
    /// Least growth of an operation's time through waits that matters.
    pub least_wait: f64,
    /// How many alarms a day the straying of windows alone may raise. Every window asks, for every quantity that can raise one.
    pub false_alarms_a_day: f64,
    /// The share of wrong ones allowed among the quantities said to have moved.
    pub false_discovery: f64,
    /// CPI2's score from which on a neighbour is above the threshold.
    pub threshold: f64,
    /// The windows a neighbour's use is correlated over; ten minutes of seconds.
    pub correlation_windows: usize,
    /// A neighbour that used fewer CPUs than this while the target was slow is no suspect.
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
    /// How improbable a deviation must be when it is looked at after each window of this length, for so many quantities.
    #[must_use]
    pub fn chance_of_a_look(&self, window: Nanos, quantities: usize) -> f64 {
        const DAY_S: f64 = 86_400.0;
        self.false_alarms_a_day * window.seconds() / DAY_S / quantities.max(1) as f64
    }
}
