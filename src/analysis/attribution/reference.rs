//! Chooses the level of load that a window is compared with, and which quantities. Offered load and achieved throughput
//! differ: a drop of throughput is not a lower load while the program wants as much CPU as before, the CPUs it runs on
//! and those it waits for. The CPUs also stand for the load where no operation was counted.

use crate::analysis::baseline::{Expected, Level, LevelMatch, Levels, LoadAxis};
use crate::analysis::diff::{RATE, Reading, WITHOUT_OPERATIONS};
use crate::model::MetricId;

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
    if let LevelMatch::Known(level) = levels.place(load) {
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

/// The level to compare a window with whose operations were not counted, although the baseline's were: a starved program
/// may not report what it completes. The CPUs it wanted stand for its load, and waits do not grow when load falls, so the next
/// level above them bounds its waits. Above every known level, the highest bounds them if the program ran no longer
/// than there: what it then lacks are CPUs.
pub(super) fn reference_by_demand<'a>(levels: &'a Levels, readings: &[Reading]) -> Option<Reference<'a>> {
    let known = levels.levels.iter().filter(|level| level.is_known());
    let all: Vec<_> = known.filter_map(|level| Some((level, Wanted::of(readings, level)?))).collect();
    let above = all.iter().find(|(_, wanted)| wanted.cores <= wanted.most);
    let highest = || all.last().filter(|(_, wanted)| wanted.busy <= wanted.most);
    let &(level, wanted) = above.or_else(highest)?;
    let scope = Scope::Bounds { demand: false, waits: wanted.waiting > wanted.usually_waiting };
    Some(Reference { level, scope })
}

/// CPUs that a program wanted: those it ran on plus those it waited for.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    /// CPUs it ran on.
    busy: f64,
    /// CPUs it would have run on with its usual waits.
    cores: f64,
    usual: f64,
    /// The most that it usually runs on.
    most: f64,
    spread: f64,
    waiting: f64,
    usually_waiting: f64,
}

impl Wanted {
    fn of(readings: &[Reading], level: &Level) -> Option<Wanted> {
        let busy = value(readings, WITHOUT_OPERATIONS)?;
        let usual = level.expect(WITHOUT_OPERATIONS)?;
        let (now, then) = wait_ratio(readings, Some(level)).map_or((1.0, 1.0), |found| (found.now, found.usual));
        Some(Wanted {
            busy,
            cores: busy * now / then,
            usual: usual.centre,
            most: usual.band().1,
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
            LevelMatch::Known(level) => Some(level),
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
pub(super) fn wait_ratio(readings: &[Reading], level: Option<&Level>) -> Option<WaitRatio> {
    let running = value(readings, MetricId::Utilisation).filter(|running| *running > 1e-6)?;
    let measured: Vec<(MetricId, f64)> = WAITS.into_iter().filter_map(|id| Some((id, value(readings, id)?))).collect();
    let waited: f64 = measured.iter().map(|(_, share)| share.max(0.0)).sum();
    let now = 1.0 + waited / running;
    let Some(level) = level else { return Some(WaitRatio { now, usual: now, spread: 0.0, running }) };
    let usual = |id: MetricId| level.expected.iter().find(|expected| expected.quantity.id == id);
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

/// The finite value of a quantity among readings.
pub(super) fn value(readings: &[Reading], id: MetricId) -> Option<f64> {
    readings.iter().find(|reading| reading.quantity.id == id)?.value.value().copied().filter(|v| v.is_finite())
}
