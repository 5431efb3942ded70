//! Compares costs at the same load: each run's cost is moved along one curve to a load that all can be compared at,
//! then the runs are compared as usual. Windows of a run do not count as runs, and the curve's own uncertainty is part
//! of every result.

use super::change::Change;
use super::curve::{Curve, LoadPoint, basis};
use super::digest::Side;
use super::effect::{Basis, Effect, Scale, SideEstimate, Uncertainty, by_windows};
use super::load::{CurveBasis, Load, LoadAdjustment, LoadMeasure, load_points, loads};
use super::quantity::{INVERSE, PRIMARY, Quantity, RatioCell};
use super::settings::Settings;
use crate::analysis::stats::linear::Vector;
use crate::analysis::stats::{Ancova, Observation};
use crate::model::{Measure, Role};

/// A quantity of both sides, and the range of loads to compare it at.
struct Adjusting<'a> {
    sides: [&'a Side; 2],
    measure: LoadMeasure,
    at: usize,
    quantity: Quantity,
    range: (f64, f64),
    bent: bool,
}

/// The costs of both sides at the same load; empty if no adjustment is needed or possible.
pub(super) fn adjust(base: &Side, new: &Side, load: &mut Load, settings: &Settings) -> Vec<Change> {
    let (LoadAdjustment::Done { from, to, curve_basis, bent, .. }, Some(measure), Some(first)) =
        (&mut load.adjustment, load.measure, base.runs.first())
    else {
        return vec![];
    };
    let (mut out, wanted) = (Vec::new(), *bent);
    for (at, reading) in first.whole.iter().enumerate() {
        let quantity = reading.quantity;
        let expected = settings.expect.iter().any(|expected| expected.name == quantity.name);
        let judged = matches!(quantity.role, Role::Cost | Role::Latency);
        if !(judged || quantity.role == Role::Context && expected) || quantity.id == INVERSE {
            continue;
        }
        let one = Adjusting { sides: [base, new], measure, at, quantity, range: (*from, *to), bent: wanted };
        let found = match curve_basis {
            CurveBasis::Windows => one.by_windows(settings),
            CurveBasis::Runs => one.by_runs(),
        };
        let Some((effect, is_bent)) = found else { continue };
        if quantity.id == PRIMARY {
            *bent = is_bent;
        }
        out.push(change(quantity, effect, settings));
    }
    let inverse = first.whole.iter().map(|reading| reading.quantity).find(|quantity| quantity.id == INVERSE);
    let primary = out.iter().find(|change| change.quantity.id == PRIMARY).and_then(|change| change.effect);
    if let (Some(quantity), Some(effect)) = (inverse, primary) {
        // A curve of its own would yield a slightly different result for the same thing.
        let (base, new) = (1e9 / effect.base, 1e9 / effect.new);
        out.insert(1, change(quantity, Effect { base, new, estimate: -effect.estimate, ..effect }, settings));
    }
    out
}

fn change(quantity: Quantity, effect: Effect, settings: &Settings) -> Change {
    let [base, new] = [effect.base, effect.new].map(Measure::exact);
    Change::of(quantity, base, new, Some(effect), settings)
}

impl Adjusting<'_> {
    /// Adjusts along a curve through the windows at loads that both sides have; runs are then compared as usual.
    fn by_windows(&self, settings: &Settings) -> Option<(Effect, bool)> {
        let inside = |dot: &LoadPoint| (self.range.0..=self.range.1).contains(&dot.load);
        let run = |side: &Side| {
            let all = side.runs.iter().map(|run| load_points(run, self.at, self.measure));
            all.map(|load_points| load_points.into_iter().filter(inside).collect()).collect::<Vec<Vec<LoadPoint>>>()
        };
        let sides = self.sides.map(run);
        let all: Vec<Vec<LoadPoint>> = sides.iter().flatten().cloned().collect();
        let curve = Curve::within(&all, self.bent)?;
        let denominator = |of: &dyn Fn(&LoadPoint) -> f64| {
            all.iter().flatten().map(|dot| dot.cell.denominator * of(dot)).sum::<f64>()
        };
        // The mean of the curve over the windows.
        let reference = denominator(&|dot| curve.at(dot.load)) / denominator(&|_| 1.0);
        let seeds = [settings.seed, settings.seed ^ 0x9e37];
        let estimate = |at: usize| self.estimate(&sides[at], &curve, reference, seeds[at]);
        let (a, b) = (estimate(0)?, estimate(1)?);
        let levers = [lever(&curve, &sides[0])?, lever(&curve, &sides[1])?];
        let common = curve.variance(&all, [0, 1, 2].map(|at| levers[1][at] - levers[0][at]));
        let effect = Effect::of(&self.quantity, &a, &b, Some(common?), settings)?;
        (effect.base > 0.0 && effect.new > 0.0).then_some((effect, curve.is_bent()))
    }

    /// A side's runs, each at the reference: work counts more where it costs more.
    fn estimate(&self, runs: &[Vec<LoadPoint>], curve: &Curve, reference: f64, seed: u64) -> Option<SideEstimate> {
        let cell = |dot: &LoadPoint| RatioCell {
            denominator: dot.cell.denominator * curve.at(dot.load) / reference,
            ..dot.cell
        };
        let cells: Vec<Vec<RatioCell>> = runs.iter().map(|run| run.iter().map(cell).collect()).collect();
        let sum = |of: fn(&RatioCell) -> f64, cells: &[RatioCell]| cells.iter().map(of).sum::<f64>();
        let own = |cells: &Vec<RatioCell>| sum(|cell| cell.numerator, cells) / sum(|cell| cell.denominator, cells);
        let values: Vec<f64> = cells.iter().map(own).collect();
        let value = values.iter().sum::<f64>() / values.len() as f64;
        let windows = match &cells[..] {
            [cells] => by_windows(cells, value > 0.0 && !self.quantity.is_share(), seed),
            _ => None,
        };
        value.is_finite().then_some(SideEstimate { value, runs: values, logarithms: false, windows })
    }

    /// Adjusts along a curve through whole runs: the residuals show how far runs differ, and the curve uses up degrees
    /// of freedom.
    fn by_runs(&self) -> Option<(Effect, bool)> {
        if self.quantity.is_share() {
            return None;
        }
        let sides = self.sides.map(|side| loads(side, self.measure));
        let all: Vec<f64> = sides.iter().flatten().flatten().copied().collect();
        let centre = (all.iter().map(|load| load.ln()).sum::<f64>() / all.len() as f64).exp();
        let points = |at: usize| -> Option<Vec<Observation>> {
            let runs = self.sides[at].runs.iter().zip(sides[at].as_ref()?);
            let value = runs.map(|(run, load)| Some((*run.whole.get(self.at)?.value.value()?, *load)));
            let point = |(value, load): (f64, f64)| Observation { y: value.ln(), terms: basis(load, centre) };
            value.map(|pair| pair.filter(|pair| pair.0 > 0.0).map(point)).collect()
        };
        let (a, b) = (points(0)?, points(1)?);
        let found = Ancova::of([&a, &b], 1 + usize::from(self.bent))?;
        let [base, new] = found.levels.map(f64::exp);
        let uncertainty = Some(Uncertainty { error: found.error, freedom: found.freedom }.at_best());
        let basis = Basis::Runs { base: a.len(), new: b.len() };
        let effect =
            Effect { base, new, scale: Scale::Relative, estimate: found.estimate, uncertainty, within: None, basis };
        Some((effect, self.bent))
    }
}

/// How far the mean of the runs' adjusted costs moves with the curve's terms.
fn lever(curve: &Curve, runs: &[Vec<LoadPoint>]) -> Option<Vector> {
    let all: Option<Vec<Vector>> = runs.iter().map(|run| curve.lever(run)).collect();
    let all = all.filter(|all| !all.is_empty())?;
    Some([0, 1, 2].map(|at| all.iter().map(|lever| lever[at]).sum::<f64>() / all.len() as f64))
}
