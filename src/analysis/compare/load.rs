//! Load and cost told apart: what tells how much there was to do, and costs compared at the same of it.
//! It never adjusts for what is an outcome: a program that runs as fast as it can does fewer operations because each costs
//! more, and to adjust for that would take the very difference away.

use super::digest::Digest;
use super::effect::{Effect, FEWEST_WINDOWS, SideEstimate, resampled};
use super::quantity::{Cell, INVERSE, PRIMARY, Quantity, RATE, Role, WITHOUT_OPERATIONS};
use super::types::{Change, LoadBy, Settings, Side};
use crate::analysis::stats::{Curve, Moments};
use crate::model::Measure;
use serde::Serialize;

/// What tells how much there was to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// Operations per second: work comes from outside.
    OpsPerS,
    /// Busy CPUs: the program takes as much work as it can.
    BusyCores,
}

/// Where a side's load lay: the range that holds nine of ten windows, and its mean.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The lower end.
    pub low: f64,
    /// The mean over time.
    pub mean: f64,
    /// The upper end.
    pub high: f64,
}

/// What follows from the loads of two sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Adjustment {
    /// It was the same: nothing to adjust.
    Same,
    /// It was about the same, and too steady to tell what the rest does.
    Near,
    /// It differed, and costs are compared where both had the same.
    Done {
        /// The least load both had.
        from: f64,
        /// The most.
        to: f64,
        /// Windows of each side within.
        windows: [usize; 2],
        /// Whether the curves are bent.
        bent: bool,
    },
    /// Both never had the same: load and cost cannot be told apart.
    Apart,
    /// More was done with less CPU time, or less with more: whatever the load did, the cost moved.
    Opposed,
    /// Nothing tells, or nobody asked.
    Unknown,
}

/// What is known of the load of two sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Load {
    /// What it is told by; `None` where nothing tells or nobody asked.
    pub driver: Option<Driver>,
    /// The base's.
    pub base: Option<Spread>,
    /// The other's.
    pub new: Option<Spread>,
    /// What follows.
    pub adjustment: Adjustment,
}

/// Loads that differ by less are the same.
const SAME: f64 = 0.05;
/// Loads that differ by more are not comparable without windows at the same.
const NEAR: f64 = 0.25;

impl Driver {
    fn quantity(self) -> &'static str {
        match self {
            Driver::OpsPerS => RATE,
            Driver::BusyCores => WITHOUT_OPERATIONS,
        }
    }
}

/// The windows of some runs: a value of the driver for each, `None` where it has none.
fn intensities(run: &Digest, driver: Driver) -> Vec<Option<f64>> {
    let Some(at) = run.position(driver.quantity()) else { return vec![] };
    run.windows.iter().map(|slot| slot.cells.get(at).copied().flatten()?.value().filter(|x| *x > 0.0)).collect()
}

/// Looks at how the load lay on both sides.
pub(super) fn load(base: &Side, new: &Side, by: LoadBy) -> Load {
    let none = Load { driver: None, base: None, new: None, adjustment: Adjustment::Unknown };
    let driver = match by {
        LoadBy::Off => return none,
        LoadBy::Operations => Some(Driver::OpsPerS),
        LoadBy::Cores => Some(Driver::BusyCores),
        LoadBy::Auto => choose(base, new),
    };
    let Some(driver) = driver else { return none };
    let (Some(a), Some(b)) = (spread(base, driver), spread(new, driver)) else { return none };
    let adjustment = adjustment(base, new, driver, a, b);
    Load { driver: Some(driver), base: Some(a), new: Some(b), adjustment }
}

fn adjustment(base: &Side, new: &Side, driver: Driver, a: Spread, b: Spread) -> Adjustment {
    let shift = (b.mean / a.mean).ln().abs();
    let varied = |spread: Spread| spread.high > spread.low * (1.0 + SAME);
    let (from, to) = (a.low.max(b.low), a.high.min(b.high));
    // Where operations were counted, only windows that know their own can be put on a curve.
    let counted = mean(base, RATE).is_some() && mean(new, RATE).is_some();
    let inside = |side: &Side| {
        let pairs = |run: &Digest| intensities(run, driver).into_iter().zip(costs(run)).collect::<Vec<_>>();
        let all = side.runs.iter().flat_map(pairs).filter(|(_, cost)| !counted || cost.is_some());
        all.filter(|(x, _)| x.is_some_and(|x| (from..=to).contains(&x))).count()
    };
    let windows = [inside(base), inside(new)];
    // Only runs that were read window by window have a load to regress on.
    if (varied(a) || varied(b)) && from < to && windows.iter().all(|count| *count >= FEWEST_WINDOWS) {
        return Adjustment::Done { from, to, windows, bent: false };
    }
    match shift {
        shift if shift <= SAME => Adjustment::Same,
        shift if shift <= NEAR => Adjustment::Near,
        _ if opposed(base, new) => Adjustment::Opposed,
        _ => Adjustment::Apart,
    }
}

/// More operations with less CPU time, or the other way round.
fn opposed(base: &Side, new: &Side) -> bool {
    let grown = |name| Some((mean(new, name)? / mean(base, name)?).ln());
    match (grown(RATE), grown(WITHOUT_OPERATIONS)) {
        (Some(rate), Some(cores)) => rate * cores < 0.0,
        _ => false,
    }
}

fn mean(side: &Side, name: &str) -> Option<f64> {
    let of = |run: &Digest| run.whole.get(run.position(name)?)?.value.value().copied();
    let values: Option<Vec<f64>> = side.runs.iter().map(of).collect();
    Moments::of(&values?).map(|moments| moments.mean).filter(|mean| *mean > 0.0)
}

fn spread(side: &Side, driver: Driver) -> Option<Spread> {
    let mean = mean(side, driver.quantity())?;
    let mut all: Vec<f64> = side.runs.iter().flat_map(|run| intensities(run, driver)).flatten().collect();
    all.sort_by(f64::total_cmp);
    let Some(last) = all.len().checked_sub(1) else { return Some(Spread { low: mean, mean, high: mean }) };
    let at = |share: f64| all[(share * last as f64).round() as usize];
    Some(Spread { low: at(0.05), mean, high: at(0.95) })
}

/// The windows of one recording: what an operation cost, how many there were a second, and the CPUs kept busy.
#[derive(Debug, Clone, Default)]
pub(in crate::analysis) struct Dependence {
    pub costs: Vec<Option<f64>>,
    pub rates: Vec<Option<f64>>,
    pub cores: Vec<Option<f64>>,
}

/// Of operations and busy CPUs, what the cost of an operation depends on less within a recording. Where work comes from
/// outside, CPU time follows from the cost; where the program takes all it can, operations do. `None` where no recording has
/// enough windows with both.
pub(in crate::analysis) fn depends_less(runs: &[Dependence]) -> Option<Driver> {
    let ties = |loads: fn(&Dependence) -> &[Option<f64>]| {
        let found: Vec<f64> = runs.iter().filter_map(|run| correlation(&run.costs, loads(run))).collect();
        Moments::of(&found).map(|moments| moments.mean.abs())
    };
    let (rate, cores) = (ties(|run| &run.rates)?, ties(|run| &run.cores)?);
    Some(if rate <= cores + 0.1 { Driver::OpsPerS } else { Driver::BusyCores })
}

fn choose(base: &Side, new: &Side) -> Option<Driver> {
    // Without operations busy CPUs are the only sign of load there is.
    if mean(base, RATE).is_none() || mean(new, RATE).is_none() {
        return Some(Driver::BusyCores);
    }
    let dependence = |run: &Digest| Dependence {
        costs: costs(run),
        rates: intensities(run, Driver::OpsPerS),
        cores: intensities(run, Driver::BusyCores),
    };
    let runs: Vec<_> = base.runs.iter().chain(&new.runs).map(dependence).collect();
    depends_less(&runs).or_else(|| {
        // Nothing but totals: whichever moved less is what was held.
        let moved = |driver: Driver| Some((mean(new, driver.quantity())? / mean(base, driver.quantity())?).ln().abs());
        let (rate, cores) = (moved(Driver::OpsPerS)?, moved(Driver::BusyCores)?);
        Some(if rate <= cores { Driver::OpsPerS } else { Driver::BusyCores })
    })
}

fn costs(run: &Digest) -> Vec<Option<f64>> {
    let Some(at) = run.position(PRIMARY) else { return vec![] };
    run.windows.iter().map(|slot| slot.cells.get(at).copied().flatten()?.value().filter(|y| *y > 0.0)).collect()
}

/// Of logarithms: a few idle windows must not decide.
fn correlation(a: &[Option<f64>], b: &[Option<f64>]) -> Option<f64> {
    let pairs: Vec<(f64, f64)> = a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?.ln(), (*b)?.ln()))).collect();
    if pairs.len() < FEWEST_WINDOWS {
        return None;
    }
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (a, b) = (Moments::of(&a)?, Moments::of(&b)?);
    let products: f64 = pairs.iter().map(|pair| (pair.0 - a.mean) * (pair.1 - b.mean)).sum();
    let scale = (a.variance? * b.variance?).sqrt() * (a.count - 1.0);
    // What does not move ties nothing.
    Some(if scale > 0.0 { products / scale } else { 0.0 })
}

/// One window as a point of a curve.
#[derive(Debug, Clone, Copy)]
struct Dot {
    x: f64,
    y: f64,
    weight: f64,
}

/// The costs of both sides at the loads both had, as curves over it; each is marked in `load` where curves are bent.
pub(super) fn adjust(base: &Side, new: &Side, load: &mut Load, settings: &Settings) -> Vec<Change> {
    let (Adjustment::Done { from, to, bent, .. }, Some(driver), Some(first)) =
        (&mut load.adjustment, load.driver, base.runs.first())
    else {
        return vec![];
    };
    let mut out = Vec::new();
    for (at, reading) in first.whole.iter().enumerate() {
        let Quantity { name, role, .. } = reading.quantity;
        let expected = role == Role::Context && settings.expect.iter().any(|expected| expected.name == name);
        if (role != Role::Cost && !expected) || name == INVERSE {
            continue;
        }
        let [a, b] = [base, new].map(|side| side.runs.iter().map(|run| dots(run, at, driver)).collect::<Vec<_>>());
        let reference: Vec<Dot> =
            a.iter().chain(&b).flatten().copied().filter(|dot| (*from..=*to).contains(&dot.x)).collect();
        let sides = [(&a, settings.seed), (&b, settings.seed ^ 0x9e37)];
        let [Some(a), Some(b)] = sides.map(|(runs, seed)| standardised(runs, &reference, seed)) else { continue };
        *bent |= name == PRIMARY && (a.1 || b.1);
        let effect = Effect::of(&reading.quantity, &a.0, &b.0, settings);
        let [base, new] = [Measure::exact(a.0.value), Measure::exact(b.0.value)];
        out.push(Change::of(reading.quantity, base, new, effect, settings));
    }
    let inverse = first.whole.iter().map(|reading| reading.quantity).find(|quantity| quantity.name == INVERSE);
    let primary = out.iter().find(|change| change.quantity.name == PRIMARY).and_then(|change| change.effect);
    if let (Some(quantity), Some(effect)) = (inverse, primary) {
        // A curve of its own would say something a little different about the same thing.
        let (base, new) = (1e9 / effect.base, 1e9 / effect.new);
        let turned = Effect { base, new, estimate: -effect.estimate, ..effect };
        let values = [base, new].map(Measure::exact);
        out.insert(1, Change::of(quantity, values[0], values[1], Some(turned), settings));
    }
    out
}

fn dots(run: &Digest, at: usize, driver: Driver) -> Vec<Dot> {
    let cells = run.windows.iter().map(|slot| slot.cells.get(at).copied().flatten());
    let pairs = cells.zip(intensities(run, driver));
    pairs.filter_map(|(cell, x)| Some((cell?, x?))).filter_map(|(cell, x)| dot(cell, x)).collect()
}

fn dot(cell: Cell, x: f64) -> Option<Dot> {
    Some(Dot { x, y: cell.value()?, weight: cell.below })
}

/// What the curve of a side says at the loads of the reference, and whether it is bent.
fn standardised(runs: &[Vec<Dot>], reference: &[Dot], seed: u64) -> Option<(SideEstimate, bool)> {
    let all: Vec<Dot> = runs.iter().flatten().copied().collect();
    let curve = curve(&all)?;
    let value = over(&curve, reference);
    // A run's own value is the side's, and what its windows lie above the side's curve.
    let own = |dots: &Vec<Dot>| {
        let weight: f64 = dots.iter().map(|dot| dot.weight).sum();
        let above: f64 = dots.iter().map(|dot| (dot.y - curve.at(dot.x)) * dot.weight).sum();
        value + if weight > 0.0 { above / weight } else { 0.0 }
    };
    let windows = match runs {
        [dots] => {
            let ys: Vec<f64> = dots.iter().map(|dot| dot.y - curve.at(dot.x)).collect();
            resampled(dots.len(), &ys, seed, |drawn| {
                let drawn: Vec<Dot> = drawn.iter().map(|at| dots[*at]).collect();
                self::curve(&drawn).map_or(f64::NAN, |curve| over(&curve, reference).ln())
            })
        }
        _ => None,
    };
    let estimate = SideEstimate { value, runs: runs.iter().map(own).collect(), windows };
    (value > 0.0 && value.is_finite()).then_some((estimate, curve.is_bent()))
}

fn curve(dots: &[Dot]) -> Option<Curve> {
    let points: Vec<(f64, f64, f64)> = dots.iter().map(|dot| (dot.x, dot.y, dot.weight)).collect();
    Curve::through(&points)
}

fn over(curve: &Curve, reference: &[Dot]) -> f64 {
    let weight: f64 = reference.iter().map(|dot| dot.weight).sum();
    reference.iter().map(|dot| curve.at(dot.x) * dot.weight).sum::<f64>() / weight
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::{LoadShape, loaded, side};
    use super::*;

    fn compared(base: LoadShape, new: LoadShape, by: LoadBy) -> (Load, Option<Change>) {
        let (base, new) = (loaded(base), loaded(new));
        let mut load = load(&base, &new, by);
        let all = adjust(&base, &new, &mut load, &Settings::default());
        (load, all.into_iter().find(|change| change.quantity.name == PRIMARY))
    }

    /// 5 us an operation and 0.2 s a second of its own, at 20,000 to 100,000 operations a second.
    const OPEN: LoadShape = LoadShape { low: 2e4, high: 1e5, cost_ns: 5000.0, fixed: 0.2, cores: None };

    #[test]
    fn half_the_load_makes_each_operation_dearer_and_is_no_change_at_the_same_load() {
        let half = LoadShape { low: 1e4, high: 5e4, ..OPEN };
        let (load, change) = compared(OPEN, half, LoadBy::Auto);
        assert_eq!(load.driver, Some(Driver::OpsPerS));
        assert!(matches!(load.adjustment, Adjustment::Done { bent: true, .. }), "{load:?}");
        let relative = change.unwrap().effect.unwrap().relative().unwrap();
        assert!(relative.abs() < 0.02, "{relative}");
    }

    #[test]
    fn a_dearer_operation_shows_at_the_same_load_whatever_the_raw_numbers_do() {
        // Dearer, but at twice the load, where its own second weighs less.
        let dearer = LoadShape { low: 4e4, high: 1.6e5, cost_ns: 6000.0, ..OPEN };
        let (_, change) = compared(OPEN, dearer, LoadBy::Auto);
        let relative = change.unwrap().effect.unwrap().relative().unwrap();
        assert!((0.10..0.20).contains(&relative), "{relative}");
    }

    #[test]
    fn a_program_that_takes_all_it_can_get_is_not_adjusted_for_being_slow() {
        let closed = |cost_ns| LoadShape { cost_ns, cores: Some(2.0), ..OPEN };
        let (load, change) = compared(closed(5000.0), closed(7500.0), LoadBy::Auto);
        assert_eq!((load.driver, load.adjustment, change), (Some(Driver::BusyCores), Adjustment::Same, None));
    }

    #[test]
    fn loads_that_never_meet_are_said_to_be_apart_unless_more_was_done_with_less() {
        let steady = |rate, cost_ns| LoadShape { low: rate, high: rate, cost_ns, ..OPEN };
        for (rate, cost_ns, expected) in [
            (1e5, 5000.0, Adjustment::Same),
            (9e4, 5000.0, Adjustment::Near),
            (5e4, 5000.0, Adjustment::Apart),
            (5e4, 12_000.0, Adjustment::Opposed),
        ] {
            let (load, change) = compared(steady(1e5, 5000.0), steady(rate, cost_ns), LoadBy::Operations);
            assert_eq!((load.adjustment, change), (expected, None), "{rate}");
        }
    }

    #[test]
    fn nobody_asked_or_nothing_to_tell_by_is_unknown() {
        assert_eq!(compared(OPEN, OPEN, LoadBy::Off).0.adjustment, Adjustment::Unknown);
        let totals = load(&side(&[5000.0]), &side(&[9000.0]), LoadBy::Auto);
        assert!(totals.driver.is_some());
    }
}
