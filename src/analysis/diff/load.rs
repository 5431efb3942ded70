//! Separates load from cost: finds the quantity that measures load, and the loads at which costs can be compared. It
//! does not adjust for an outcome: a program that runs as fast as it can does fewer operations because each costs more,
//! and adjusting for that would remove the difference itself.

use super::curve::LoadPoint;
use super::digest::Digest;
use super::digest::Side;
use super::effect::FEWEST_WINDOWS;
use super::quantity::{PRIMARY, RATE, WITHOUT_OPERATIONS};
use super::settings::LoadBy;
use crate::analysis::stats::Moments;
use crate::model::MetricId;
use serde::Serialize;

/// The quantity that measures load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadMeasure {
    /// Operations per second: work arrives from outside.
    OpsPerS,
    /// Busy CPUs: the program takes as much work as it can.
    BusyCores,
}

/// The load of a side: the range that holds nine of ten windows, and the mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LoadRange {
    /// The lower end.
    pub low: f64,
    /// The mean over time.
    pub mean: f64,
    /// The upper end.
    pub high: f64,
}

/// What the curve of cost over load is based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CurveBasis {
    /// The windows of each run, all of which saw many loads.
    Windows,
    /// Whole runs at different loads.
    Runs,
}

/// The consequence of the two sides' loads.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum LoadAdjustment {
    /// The load was the same: nothing to adjust.
    Same,
    /// The load differed a little, and was too steady on each side to show what that costs.
    Near,
    /// The load differed, and costs are compared at the same load.
    Done {
        /// The lowest load that both had.
        from: f64,
        /// The highest load that both had.
        to: f64,
        /// Windows of each side in that range.
        windows: [usize; 2],
        /// What the curve is based on.
        curve_basis: CurveBasis,
        /// Whether the curve is bent.
        bent: bool,
    },
    /// The load differed from run to run, and the runs are too few to separate that from other differences.
    TooFewRuns {
        /// Runs of both sides.
        runs: usize,
        /// The minimum number of runs.
        needed: usize,
    },
    /// The two sides had no load in common: load and cost cannot be separated.
    Apart,
    /// More was done with less CPU time, or less with more: the cost moved whatever the load did.
    Opposed,
    /// Load cannot be measured, or adjustment is off.
    Unknown,
}

/// The load of two sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Load {
    /// The quantity that measures it; `None` if there is none or adjustment is off.
    pub measure: Option<LoadMeasure>,
    /// The base's load.
    pub base: Option<LoadRange>,
    /// The other side's load.
    pub new: Option<LoadRange>,
    /// The consequence.
    pub adjustment: LoadAdjustment,
}

/// Loads that differ by less than this are the same.
const SAME: f64 = 0.05;
/// Loads that differ by more than this are comparable only at a common load.
const NEAR: f64 = 0.25;
/// A range of loads narrower than this ratio is jitter and shows no curve.
const WIDE: f64 = 1.1;
/// A curve bends over a range wider than this ratio.
const BENDS_FROM: f64 = 1.5;
/// Minimum runs: two levels and a slope, and one degree of freedom for the scatter.
const FEWEST_RUNS: usize = 4;
/// A correlation beyond this is not an accident of a few dozen windows.
const TIED: f64 = 0.5;
/// Runs from which on a bend is worth the degree of freedom that it costs.
const RUNS_TO_BEND: usize = 9;

impl Load {
    /// The logarithm of the difference in load, if that was too small or too steady for a curve. A fixed cost makes
    /// each operation costlier by as much as the load falls, and no more.
    pub(super) fn slight_shift(&self) -> Option<f64> {
        let slight = matches!(self.adjustment, LoadAdjustment::Same | LoadAdjustment::Near);
        self.base.zip(self.new).filter(|_| slight).map(|(a, b)| (b.mean / a.mean).ln().abs())
    }

    /// Whether the load may explain a cost change of this size, a logarithm.
    pub(super) fn may_explain(&self, moved: f64) -> bool {
        match self.adjustment {
            LoadAdjustment::Apart | LoadAdjustment::TooFewRuns { .. } => true,
            _ => self.slight_shift().is_some_and(|shift| moved.abs() <= shift),
        }
    }
}

impl LoadMeasure {
    pub(super) fn quantity(self) -> MetricId {
        match self {
            LoadMeasure::OpsPerS => RATE,
            LoadMeasure::BusyCores => WITHOUT_OPERATIONS,
        }
    }
}

/// The value of the driver in each window of a run; `None` if the window has none.
pub(super) fn intensities(run: &Digest, measure: LoadMeasure) -> Vec<Option<f64>> {
    let Some(at) = run.position(measure.quantity()) else { return vec![] };
    run.windows.iter().map(|slot| slot.cells.get(at).copied().flatten()?.value().filter(|x| *x > 0.0)).collect()
}

/// Determines the load of both sides and the adjustment.
pub(super) fn load(base: &Side, new: &Side, by: LoadBy) -> Load {
    let none = Load { measure: None, base: None, new: None, adjustment: LoadAdjustment::Unknown };
    let measure = match by {
        LoadBy::Off => return none,
        LoadBy::Operations => Some(LoadMeasure::OpsPerS),
        LoadBy::Cores => Some(LoadMeasure::BusyCores),
        LoadBy::Auto => choose(base, new),
    };
    let Some(measure) = measure else { return none };
    let (Some(a), Some(b)) = (load_range(base, measure), load_range(new, measure)) else { return none };
    let adjustment = adjustment(base, new, measure, a, b);
    Load { measure: Some(measure), base: Some(a), new: Some(b), adjustment }
}

fn adjustment(base: &Side, new: &Side, measure: LoadMeasure, a: LoadRange, b: LoadRange) -> LoadAdjustment {
    let (from, to) = (a.low.max(b.low), a.high.min(b.high));
    // If operations were counted, only windows with their own count can be put on a curve.
    let counted = mean(base, RATE).is_some() && mean(new, RATE).is_some();
    let known = |run: &Digest| {
        let pairs = intensities(run, measure).into_iter().zip(costs(run));
        pairs.filter(|(_, cost)| !counted || cost.is_some()).filter_map(|(x, _)| x).collect::<Vec<_>>()
    };
    let inside = |from: f64, to: f64| {
        [base, new].map(|side| {
            let within = |run| known(run).into_iter().filter(|x| (from..=to).contains(x)).collect::<Vec<f64>>();
            side.runs.iter().map(within).collect::<Vec<_>>()
        })
    };
    let count = |sides: &[Vec<Vec<f64>>; 2]| [0, 1].map(|at: usize| sides[at].iter().map(Vec::len).sum());
    let sides = inside(from, to);
    // A curve through the jitter of a steady load would only model that jitter.
    let varied = |loads: &Vec<f64>| loads.len() >= FEWEST_WINDOWS && range(loads).is_some_and(|(a, b)| b > a * WIDE);
    if sides.iter().flatten().all(varied) {
        let bent = to > from * BENDS_FROM;
        return LoadAdjustment::Done { from, to, windows: count(&sides), curve_basis: CurveBasis::Windows, bent };
    }
    match by_runs(base, new, measure, &|from, to| count(&inside(from, to))) {
        Some(found) => found,
        None => match (b.mean / a.mean).ln().abs() {
            shift if shift <= SAME => LoadAdjustment::Same,
            shift if shift <= NEAR => LoadAdjustment::Near,
            _ if opposed(base, new) => LoadAdjustment::Opposed,
            _ => LoadAdjustment::Apart,
        },
    }
}

/// The adjustment that the loads of whole runs allow; `None` if they are the same or do not overlap.
fn by_runs(
    base: &Side,
    new: &Side,
    measure: LoadMeasure,
    windows: &dyn Fn(f64, f64) -> [usize; 2],
) -> Option<LoadAdjustment> {
    let [a, b] = [base, new].map(|side| loads(side, measure));
    let (a, b) = (a?, b?);
    let ([a, b], all) = ([range(&a)?, range(&b)?], range(&[a, b].concat())?);
    let (from, to) = (a.0.max(b.0), a.1.min(b.1));
    let runs = base.runs.len() + new.runs.len();
    // With one run a side, runs and sides cannot be separated.
    if runs < 3 || from > to || all.1 <= all.0 * WIDE {
        return None;
    }
    if runs < FEWEST_RUNS {
        return Some(LoadAdjustment::TooFewRuns { runs, needed: FEWEST_RUNS });
    }
    let bent = runs >= RUNS_TO_BEND && all.1 > all.0 * BENDS_FROM;
    Some(LoadAdjustment::Done { from, to, windows: windows(from, to), curve_basis: CurveBasis::Runs, bent })
}

/// The range that holds nine of ten values.
fn range(values: &[f64]) -> Option<(f64, f64)> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    let at = |share: f64| values[(share * last as f64).round() as usize];
    Some((at(0.05), at(0.95)))
}

/// The mean load of each run; `None` if a run has none.
pub(super) fn loads(side: &Side, measure: LoadMeasure) -> Option<Vec<f64>> {
    side.runs.iter().map(|run| value(run, measure.quantity()).filter(|load| *load > 0.0)).collect()
}

pub(super) fn value(run: &Digest, id: MetricId) -> Option<f64> {
    run.whole.get(run.position(id)?)?.value.value().copied()
}

/// Whether more operations took less CPU time, or the other way round.
fn opposed(base: &Side, new: &Side) -> bool {
    let grown = |id| Some((mean(new, id)? / mean(base, id)?).ln());
    match (grown(RATE), grown(WITHOUT_OPERATIONS)) {
        (Some(rate), Some(cores)) => rate * cores < 0.0,
        _ => false,
    }
}

fn mean(side: &Side, id: MetricId) -> Option<f64> {
    let values: Option<Vec<f64>> = side.runs.iter().map(|run| value(run, id)).collect();
    Moments::of(&values?).map(|moments| moments.mean).filter(|mean| *mean > 0.0)
}

fn load_range(side: &Side, measure: LoadMeasure) -> Option<LoadRange> {
    let mean = mean(side, measure.quantity())?;
    let all: Vec<f64> = side.runs.iter().flat_map(|run| intensities(run, measure)).flatten().collect();
    let (low, high) = range(&all).unwrap_or((mean, mean));
    Some(LoadRange { low, mean, high })
}

/// The windows of one recording: cost per operation, operations per second, and busy CPUs.
#[derive(Debug, Clone, Default)]
pub(in crate::analysis) struct LoadSeries {
    pub costs: Vec<Option<f64>>,
    pub rates: Vec<Option<f64>>,
    pub cores: Vec<Option<f64>>,
}

/// Operations or busy CPUs, whichever the cost of an operation depends on less within a recording. If work arrives from
/// outside, CPU time follows from the cost; if the program takes all it can, operations do. `None` if no recording has
/// enough windows with both.
pub(in crate::analysis) fn least_dependent(runs: &[LoadSeries]) -> Option<LoadMeasure> {
    let ties = |loads: fn(&LoadSeries) -> &[Option<f64>]| {
        let found: Vec<f64> = runs.iter().filter_map(|run| correlation(&run.costs, loads(run))).collect();
        Moments::of(&found).map(|moments| moments.mean.abs())
    };
    let (rate, cores) = (ties(|run| &run.rates)?, ties(|run| &run.cores)?);
    // If the cost follows both, a fixed part of it is the reason: scatter of the cost then only blurs its correlation
    // with CPU time.
    Some(if rate <= cores + 0.1 || cores > TIED { LoadMeasure::OpsPerS } else { LoadMeasure::BusyCores })
}

fn choose(base: &Side, new: &Side) -> Option<LoadMeasure> {
    // Without operations, busy CPUs are the only measure of load.
    if mean(base, RATE).is_none() || mean(new, RATE).is_none() {
        return Some(LoadMeasure::BusyCores);
    }
    let dependence = |run: &Digest| LoadSeries {
        costs: costs(run),
        rates: intensities(run, LoadMeasure::OpsPerS),
        cores: intensities(run, LoadMeasure::BusyCores),
    };
    let runs: Vec<_> = base.runs.iter().chain(&new.runs).map(dependence).collect();
    let moved =
        |measure: LoadMeasure| Some((mean(new, measure.quantity())? / mean(base, measure.quantity())?).ln().abs());
    let (rate, cores) = (moved(LoadMeasure::OpsPerS)?, moved(LoadMeasure::BusyCores)?);
    match least_dependent(&runs) {
        // A program that takes all it can takes as much on both sides, whatever an operation costs.
        Some(LoadMeasure::BusyCores) if cores > rate + SAME => Some(LoadMeasure::OpsPerS),
        Some(measure) => Some(measure),
        // With totals only, the quantity that moved less was the one held constant.
        None => Some(if rate <= cores { LoadMeasure::OpsPerS } else { LoadMeasure::BusyCores }),
    }
}

fn costs(run: &Digest) -> Vec<Option<f64>> {
    let Some(at) = run.position(PRIMARY) else { return vec![] };
    run.windows.iter().map(|slot| slot.cells.get(at).copied().flatten()?.value().filter(|y| *y > 0.0)).collect()
}

/// Correlates logarithms, so that a few idle windows do not decide.
fn correlation(a: &[Option<f64>], b: &[Option<f64>]) -> Option<f64> {
    let pairs: Vec<(f64, f64)> = a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?.ln(), (*b)?.ln()))).collect();
    if pairs.len() < FEWEST_WINDOWS {
        return None;
    }
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (a, b) = (Moments::of(&a)?, Moments::of(&b)?);
    let products: f64 = pairs.iter().map(|pair| (pair.0 - a.mean) * (pair.1 - b.mean)).sum();
    let scale = (a.variance? * b.variance?).sqrt() * (a.count - 1.0);
    // A constant correlates with nothing.
    Some(if scale > 0.0 { products / scale } else { 0.0 })
}

/// The windows of a run with a quantity's cell and their load.
pub(super) fn load_points(run: &Digest, at: usize, measure: LoadMeasure) -> Vec<LoadPoint> {
    let cells = run.windows.iter().map(|slot| slot.cells.get(at).copied().flatten());
    let pairs = cells.zip(intensities(run, measure));
    pairs
        .filter_map(|(cell, load)| Some(LoadPoint { cell: cell.filter(|cell| cell.denominator > 0.0)?, load: load? }))
        .collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::adjust::adjust;
    use super::super::change::Change;
    use super::super::settings::Settings;
    use super::super::testing::{LoadShape, loaded, side};
    use super::*;

    fn compared(base: LoadShape, new: LoadShape, by: LoadBy) -> (Load, Option<Change>) {
        let (base, new) = (loaded(base), loaded(new));
        let mut load = load(&base, &new, by);
        let all = adjust(&base, &new, &mut load, &Settings::default());
        (load, all.into_iter().find(|change| change.quantity.id == PRIMARY))
    }

    /// 5 us an operation and a fixed 0.2 s a second, at 20,000 to 100,000 operations a second.
    const OPEN: LoadShape = LoadShape { low: 2e4, high: 1e5, cost_ns: 5000.0, fixed: 0.2, cores: None };

    #[test]
    fn half_the_load_makes_each_operation_dearer_and_is_no_change_at_the_same_load() {
        let half = LoadShape { low: 1e4, high: 5e4, ..OPEN };
        let (load, change) = compared(OPEN, half, LoadBy::Auto);
        assert_eq!(load.measure, Some(LoadMeasure::OpsPerS));
        assert!(matches!(load.adjustment, LoadAdjustment::Done { bent: true, .. }), "{load:?}");
        let relative = change.unwrap().effect.unwrap().relative().unwrap();
        assert!(relative.abs() < 0.02, "{relative}");
    }

    #[test]
    fn a_dearer_operation_shows_at_the_same_load_whatever_the_raw_numbers_do() {
        // Costlier, but at twice the load, where the fixed cost weighs less.
        let costlier = LoadShape { low: 4e4, high: 1.6e5, cost_ns: 6000.0, ..OPEN };
        let (_, change) = compared(OPEN, costlier, LoadBy::Auto);
        let relative = change.unwrap().effect.unwrap().relative().unwrap();
        assert!((0.10..0.20).contains(&relative), "{relative}");
    }

    #[test]
    fn a_program_that_takes_all_it_can_get_is_not_adjusted_for_being_slow() {
        let closed = |cost_ns| LoadShape { cost_ns, cores: Some(2.0), ..OPEN };
        let (load, change) = compared(closed(5000.0), closed(7500.0), LoadBy::Auto);
        assert_eq!((load.measure, load.adjustment, change), (Some(LoadMeasure::BusyCores), LoadAdjustment::Same, None));
    }

    #[test]
    fn loads_that_never_meet_are_said_to_be_apart_unless_more_was_done_with_less() {
        let steady = |rate, cost_ns| LoadShape { low: rate, high: rate, cost_ns, ..OPEN };
        for (rate, cost_ns, expected) in [
            (1e5, 5000.0, LoadAdjustment::Same),
            (9e4, 5000.0, LoadAdjustment::Near),
            (5e4, 5000.0, LoadAdjustment::Apart),
            (5e4, 12_000.0, LoadAdjustment::Opposed),
        ] {
            let (load, change) = compared(steady(1e5, 5000.0), steady(rate, cost_ns), LoadBy::Operations);
            assert_eq!((load.adjustment, change), (expected, None), "{rate}");
        }
    }

    #[test]
    fn nobody_asked_or_nothing_to_tell_by_is_unknown() {
        assert_eq!(compared(OPEN, OPEN, LoadBy::Off).0.adjustment, LoadAdjustment::Unknown);
        let totals = load(&side(&[5000.0]), &side(&[9000.0]), LoadBy::Auto);
        assert!(totals.measure.is_some());
    }
}
