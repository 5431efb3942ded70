//! The quantities that can raise an alarm: what an operation costs, and what makes its time longer than its cost.
//! It never lets a quantity raise one that only describes load or surroundings.

use super::held::{Held, Judged};
use super::settings::Settings;
use crate::analysis::compare::{PRIMARY, RATE};

/// Which way is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bad {
    More,
    Less,
}

/// What a growth must come to before it matters.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Matters {
    /// Relative to its usual value, as much as costs must grow.
    AsCost,
    /// By the time per operation it adds.
    AsWait,
    /// A difference of shares.
    By(f64),
    /// As a cost, and the work takes longer for its waits as well: fewer operations alone may be wanted.
    AsRate,
}

/// What the next known level above a load says of a quantity below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    /// Nothing: what an operation costs may grow when load falls, for batches are smaller and caches colder.
    None,
    /// It does not grow when load falls.
    Always,
    /// Nor does this, if it is longer in all: of fewer threads the same wait is a larger share.
    Waits,
    /// It falls with load, and without it only where something is wrong.
    Demand,
}

/// A quantity that can raise an alarm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Test {
    /// Its name.
    pub name: &'static str,
    /// Which way is worse.
    pub bad: Bad,
    matters: Matters,
    /// What it can be held to below every known load.
    pub bound: Bound,
    /// Told by it only where this is not known.
    unless: Option<&'static str>,
}

const fn test(name: &'static str, bad: Bad, matters: Matters) -> Test {
    Test { name, bad, matters, bound: Bound::None, unless: None }
}

const fn bounded(test: Test, bound: Bound) -> Test {
    Test { bound, ..test }
}

/// In the order in which a tie is decided.
pub(super) const TESTS: [Test; 8] = [
    test(PRIMARY, Bad::More, Matters::AsCost),
    // What remains of the law where nothing counts operations.
    Test { unless: Some(PRIMARY), ..test("cpi", Bad::More, Matters::AsCost) },
    bounded(test("throttled_share", Bad::More, Matters::By(0.02)), Bound::Always),
    // Of an operation it depends less on load than of all time, which is what is left without operations.
    test("run_queue_delay_per_op", Bad::More, Matters::AsWait),
    bounded(test("run_queue_delay", Bad::More, Matters::AsWait), Bound::Waits),
    bounded(test("block_io_delay", Bad::More, Matters::AsWait), Bound::Waits),
    bounded(test("steal_share", Bad::More, Matters::By(0.02)), Bound::Always),
    bounded(test(RATE, Bad::Less, Matters::AsRate), Bound::Demand),
];

impl Test {
    /// Whether the window lies outside on the bad side, by so much that it matters.
    pub fn outside(&self, judged: &Judged, settings: &Settings) -> bool {
        let replaced = self.unless.is_some_and(|name| judged.get(name).is_some());
        let held = judged.get(self.name).filter(|_| !replaced);
        held.is_some_and(|held| held.is_outside(self.bad, settings) && self.matters(held, judged, settings))
    }

    fn matters(&self, held: &Held, judged: &Judged, settings: &Settings) -> bool {
        let longer = judged.stretch.map_or(1.0, |stretch| stretch.ratio()) >= 1.0 + settings.least_wait;
        self.size(held.value, held.expected.centre, longer, settings)
    }

    /// Whether a change from `usual` to `now` is large enough; `longer`: whether work takes longer for its waits.
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
