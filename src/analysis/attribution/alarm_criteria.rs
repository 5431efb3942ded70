//! The quantities that can raise an alarm: what an operation costs, and what makes its time longer than its cost.
//! Quantities that only describe load or surroundings are not among them.

use super::types::Settings;
use crate::analysis::diff::{PRIMARY, RATE};
use crate::model::MetricId;

/// Which direction is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorseDirection {
    Higher,
    Lower,
}

/// How much a quantity must grow before it matters.
#[derive(Debug, Clone, Copy, PartialEq)]
enum MinimumGrowth {
    /// Relative to its usual value, by the minimum growth of a cost.
    OfCost,
    /// By the time per operation that it adds.
    OfWait,
    /// By a difference of shares.
    Difference(f64),
    /// As a cost, and only if waits also make the work take longer: fewer operations alone may be intended.
    OfRate,
}

/// How the next known level above a load bounds a quantity at that load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NextLevelBound {
    /// No bound: cost per operation may grow when load falls, because batches are smaller and caches colder.
    None,
    /// The quantity does not grow when load falls.
    Always,
    /// The same, but only if the total wait is longer too: with fewer threads the same wait is a larger share.
    Waits,
    /// The quantity falls with load; if it falls while load does not, something is wrong.
    Demand,
}

/// A quantity that can raise an alarm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct AlarmCriterion {
    /// Its metric.
    pub id: MetricId,
    /// Which direction is worse.
    pub worse: WorseDirection,
    minimum: MinimumGrowth,
    /// Its bound below every known load.
    pub bound: NextLevelBound,
    /// The criterion does not apply if this quantity is known.
    pub unless: Option<MetricId>,
}

const fn criterion(id: MetricId, worse: WorseDirection, minimum: MinimumGrowth) -> AlarmCriterion {
    AlarmCriterion { id, worse, minimum, bound: NextLevelBound::None, unless: None }
}

const fn bounded(criterion: AlarmCriterion, bound: NextLevelBound) -> AlarmCriterion {
    AlarmCriterion { bound, ..criterion }
}

/// In order of precedence.
pub(super) const ALARM_CRITERIA: [AlarmCriterion; 9] = [
    criterion(PRIMARY, WorseDirection::Higher, MinimumGrowth::OfCost),
    // Without a count of operations, cycles per instruction is the cost.
    AlarmCriterion { unless: Some(PRIMARY), ..criterion(MetricId::Cpi, WorseDirection::Higher, MinimumGrowth::OfCost) },
    bounded(
        criterion(MetricId::ThrottledShare, WorseDirection::Higher, MinimumGrowth::Difference(0.02)),
        NextLevelBound::Always,
    ),
    // Delay per operation depends less on load than the share of time, which is the fallback without operations.
    criterion(MetricId::RunQueueDelayPerOp, WorseDirection::Higher, MinimumGrowth::OfWait),
    bounded(criterion(MetricId::RunQueueDelay, WorseDirection::Higher, MinimumGrowth::OfWait), NextLevelBound::Waits),
    bounded(criterion(MetricId::BlockIoDelay, WorseDirection::Higher, MinimumGrowth::OfWait), NextLevelBound::Waits),
    bounded(
        criterion(MetricId::StealShare, WorseDirection::Higher, MinimumGrowth::Difference(0.02)),
        NextLevelBound::Always,
    ),
    // Operations may wait where no thread does: in a queue, for a lock, for another machine.
    criterion(MetricId::LatencyP99, WorseDirection::Higher, MinimumGrowth::OfCost),
    bounded(criterion(RATE, WorseDirection::Lower, MinimumGrowth::OfRate), NextLevelBound::Demand),
];

impl AlarmCriterion {
    /// Whether a change from `usual` to `now` is large enough; `longer`: whether waits make the work take longer.
    pub fn is_large(&self, now: f64, usual: f64, longer: bool, settings: &Settings) -> bool {
        let grown = match self.worse {
            WorseDirection::Higher => now - usual,
            WorseDirection::Lower => usual - now,
        };
        match self.minimum {
            MinimumGrowth::OfCost => grown >= settings.least_cost * usual.abs(),
            MinimumGrowth::OfWait => longer,
            MinimumGrowth::Difference(least) => grown >= least,
            MinimumGrowth::OfRate => longer && grown >= settings.least_cost * usual.abs(),
        }
    }
}
