//! Chooses the level of load that a window is compared with, and which quantities. A drop of throughput is not a lower
//! load while the program wants as much CPU as before.

use super::deviation::value;
use super::wait_ratio::stretch;
use crate::analysis::baseline::{Level, Levels, LoadAxis, Place};
use crate::analysis::diff::{RATE, Reading, WITHOUT_OPERATIONS};

/// A level, and the part of a window it applies to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Reference<'a> {
    pub level: &'a Level,
    pub scope: Scope,
}

/// The part of a window that a level can be compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Everything: the level has this load, or the demand behind it.
    Whole,
    /// Quantities that cannot grow when load falls: the level is the next known one above the load.
    Bounds {
        /// The program wants as much CPU as at that level, so completing less is not a lower load.
        demand: bool,
        /// The total wait is longer than at that level, not only a larger share of its threads' time.
        waits: bool,
    },
}

/// The level to compare a window of this load with; `None` above every known level, where nothing is bounded.
pub(super) fn reference<'a>(levels: &'a Levels, load: f64, readings: &[Reading]) -> Option<Reference<'a>> {
    if let Place::Known(level) = levels.place(load) {
        return Some(Reference { level, scope: Scope::Whole });
    }
    // Only known levels: a few slow windows of the baseline must not stand between the load and the level it would have
    // had.
    let above = levels.levels.iter().find(|level| level.is_known() && level.from > load)?;
    let wanted = Wanted::of(readings, above);
    let bounds = |level| Reference {
        level,
        scope: Scope::Bounds {
            demand: wanted.is_some_and(Wanted::is_usual),
            waits: wanted.is_none_or(|wanted| wanted.waiting > wanted.usually_waiting),
        },
    };
    let Some(wanted) = wanted.filter(|_| load > 0.0) else { return Some(bounds(above)) };
    let whole = |level| Reference { level, scope: Scope::Whole };
    Some(match levels.axis {
        LoadAxis::OpsPerSecond if wanted.is_usual() => whole(above),
        LoadAxis::OpsPerSecond => bounds(above),
        // Busy CPUs are what the program got; the load is what it wanted.
        LoadAxis::BusyCores => wanted.level(levels).map_or_else(|| bounds(above), whole),
    })
}

/// CPUs that a program wanted: those it ran on plus those it waited for.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    /// CPUs it would have run on with its usual waits.
    cores: f64,
    usual: f64,
    spread: f64,
    waiting: f64,
    usually_waiting: f64,
}

impl Wanted {
    fn of(readings: &[Reading], level: &Level) -> Option<Wanted> {
        let busy = value(readings, WITHOUT_OPERATIONS)?;
        let usual = level.expect(WITHOUT_OPERATIONS)?;
        let (now, then) = stretch(readings, Some(level)).map_or((1.0, 1.0), |found| (found.now, found.usual));
        Some(Wanted {
            cores: busy * now / then,
            usual: usual.centre,
            spread: usual.spread,
            waiting: busy * (now - 1.0),
            usually_waiting: usual.centre * (then - 1.0),
        })
    }

    fn is_usual(self) -> bool {
        self.cores >= self.usual - self.spread
    }

    /// The level of the wanted CPUs; above every known level, the highest one.
    fn level(self, levels: &Levels) -> Option<&Level> {
        match levels.place(self.cores) {
            Place::Known(level) => Some(level),
            _ => levels.levels.iter().rfind(|level| level.is_known() && level.from <= self.cores),
        }
    }
}

/// The load of a window; 0 if operations are counted and none was completed.
pub(super) fn load_or_nothing(axis: LoadAxis, load: Option<f64>, readings: &[Reading]) -> Option<f64> {
    load.or_else(|| {
        (axis == LoadAxis::OpsPerSecond).then(|| value(readings, RATE)).flatten().filter(|rate| *rate == 0.0)
    })
}
