//! The quantities that can raise an alarm: what an operation costs, and what makes its time longer than its cost.
//! Quantities that only describe load or surroundings are not among them.

use super::deviation::{Deviation, WindowVerdict};
use super::settings::Settings;
use crate::analysis::diff::{PRIMARY, RATE};
use crate::model::MetricId;

/// Which direction is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bad {
    More,
    Less,
}

/// How much a quantity must grow before it matters.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Matters {
    /// Relative to its usual value, by the minimum growth of a cost.
    AsCost,
    /// By the time per operation that it adds.
    AsWait,
    /// By a difference of shares.
    By(f64),
    /// As a cost, and only if waits also make the work take longer: fewer operations alone may be intended.
    AsRate,
}

/// How the next known level above a load bounds a quantity at that load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
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
pub(super) struct Test {
    /// Its metric.
    pub id: MetricId,
    /// Which direction is worse.
    pub bad: Bad,
    matters: Matters,
    /// Its bound below every known load.
    pub bound: Bound,
    /// The test is skipped if this quantity is known.
    unless: Option<MetricId>,
}

const fn test(id: MetricId, bad: Bad, matters: Matters) -> Test {
    Test { id, bad, matters, bound: Bound::None, unless: None }
}

const fn bounded(test: Test, bound: Bound) -> Test {
    Test { bound, ..test }
}

/// In order of precedence.
pub(super) const TESTS: [Test; 8] = [
    test(PRIMARY, Bad::More, Matters::AsCost),
    // Without a count of operations, cycles per instruction is the cost.
    Test { unless: Some(PRIMARY), ..test(MetricId::Cpi, Bad::More, Matters::AsCost) },
    bounded(test(MetricId::ThrottledShare, Bad::More, Matters::By(0.02)), Bound::Always),
    // Delay per operation depends less on load than the share of time, which is the fallback without operations.
    test(MetricId::RunQueueDelayPerOp, Bad::More, Matters::AsWait),
    bounded(test(MetricId::RunQueueDelay, Bad::More, Matters::AsWait), Bound::Waits),
    bounded(test(MetricId::BlockIoDelay, Bad::More, Matters::AsWait), Bound::Waits),
    bounded(test(MetricId::StealShare, Bad::More, Matters::By(0.02)), Bound::Always),
    bounded(test(RATE, Bad::Less, Matters::AsRate), Bound::Demand),
];

impl Test {
    /// Whether the window is outside the band on the bad side, by an amount that matters.
    pub fn outside(&self, judged: &WindowVerdict, settings: &Settings) -> bool {
        let replaced = self.unless.is_some_and(|id| judged.get(id).is_some());
        let held = judged.get(self.id).filter(|_| !replaced);
        held.is_some_and(|held| held.is_outside(self.bad, settings) && self.matters(held, judged, settings))
    }

    fn matters(&self, held: &Deviation, judged: &WindowVerdict, settings: &Settings) -> bool {
        let longer = judged.stretch.map_or(1.0, |stretch| stretch.ratio()) >= 1.0 + settings.least_wait;
        self.size(held.value, held.expected.centre, longer, settings)
    }

    /// Whether a change from `usual` to `now` is large enough; `longer`: whether waits make the work take longer.
    pub fn size(&self, now: f64, usual: f64, longer: bool, settings: &Settings) -> bool {
        let grown = match self.bad {
            Bad::More => now - usual,
            Bad::Less => usual - now,
        };
        match self.matters {
            Matters::AsCost => grown >= settings.least_cost * usual.abs(),
            Matters::AsWait => longer,
            Matters::By(least) => grown >= least,
            Matters::AsRate => longer && grown >= settings.least_cost * usual.abs(),
        }
    }
}
