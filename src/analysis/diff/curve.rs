//! Models the cost of an operation over load: one curve for all runs of both sides, each run at a level of its own.
//! Only how the cost moves within runs shapes the curve, so a run that is expensive at all loads does not bend it.

use super::quantity::RatioCell;
use crate::analysis::stats::block_length;
use crate::analysis::stats::linear::{Matrix, Vector, dot, inverse};

/// A window: its load, what was spent, and on how much.
#[derive(Debug, Clone, Copy)]
pub(super) struct LoadPoint {
    pub load: f64,
    pub cell: RatioCell,
}

/// The logarithm of the cost as a line or a parabola over the logarithm of the load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Curve {
    centre: f64,
    terms: Vector,
    free: [bool; 3],
}

/// One run relative to a curve: its level, and the weighted mean of its basis.
struct Level {
    level: f64,
    mean: Vector,
}

const STEPS: usize = 40;
/// Steeper than any cost: a purely fixed cost falls one for one as the load grows.
const STEEPEST: f64 = 20.0;

/// The basis at a load, zero at the centre.
pub(super) fn basis(load: f64, centre: f64) -> Vector {
    let log = (load / centre).ln();
    [log, log * log, 0.0]
}

impl Curve {
    /// The most probable curve if costs scatter as counts do (Poisson regression with a level for each run); scatter of
    /// another size or with autocorrelation moves it as little. `None` if no run's load varies, or nothing was spent.
    pub fn within(runs: &[Vec<LoadPoint>], bent: bool) -> Option<Curve> {
        let load_points = || runs.iter().flatten();
        let denominator: f64 = load_points().map(|dot| dot.cell.denominator).sum();
        let centre = (load_points().map(|dot| dot.cell.denominator * dot.load.ln()).sum::<f64>() / denominator).exp();
        let start = |bent| Curve { centre, terms: [0.0; 3], free: [true, bent, false] };
        let fitted = if bent { start(true).settle(runs) } else { None };
        fitted.or_else(|| start(false).settle(runs))
    }

    /// Newton's method to the only maximum.
    fn settle(mut self, runs: &[Vec<LoadPoint>]) -> Option<Curve> {
        let spent: f64 = runs.iter().flatten().map(|dot| dot.cell.numerator).sum();
        // A range of loads within rounding errors has no slope.
        if self.normal(runs).0[0][0] <= 1e-9 * spent {
            return None;
        }
        for _ in 0..STEPS {
            let (matrix, slope) = self.normal(runs);
            let step = inverse(&matrix, self.free)?.map(|row| dot(row, slope));
            let longest = step.iter().fold(0.0_f64, |most, step| most.max(step.abs()));
            let part = (1.0 / longest).min(1.0);
            self.terms = [0, 1, 2].map(|at| self.terms[at] + part * step[at]);
            if !self.terms.iter().all(|term| term.abs() < STEEPEST) {
                return None;
            }
            if longest < 1e-9 {
                return Some(self);
            }
        }
        None
    }

    /// The cost at a load, relative to the cost at the centre.
    pub fn at(&self, load: f64) -> f64 {
        dot(self.terms, basis(load, self.centre)).exp()
    }

    pub fn is_bent(&self) -> bool {
        self.free[1]
    }

    fn level(&self, run: &[LoadPoint]) -> Option<Level> {
        let (mut numerator, mut expected, mut mean) = (0.0, 0.0, [0.0; 3]);
        for window in run {
            let weight = window.cell.denominator * self.at(window.load);
            let basis = basis(window.load, self.centre);
            (numerator, expected) = (numerator + window.cell.numerator, expected + weight);
            mean = [0, 1, 2].map(|at| mean[at] + weight * basis[at]);
        }
        (expected > 0.0).then(|| Level { level: numerator / expected, mean: mean.map(|sum| sum / expected) })
    }

    /// How far the logarithm of a run's adjusted cost moves with the curve's terms.
    pub fn lever(&self, run: &[LoadPoint]) -> Option<Vector> {
        self.level(run).map(|level| level.mean)
    }

    /// A window relative to its run's level: the basis less the run's mean, the expected cost, and the residual.
    fn residual(&self, window: &LoadPoint, level: &Level) -> (Vector, f64, f64) {
        let own = basis(window.load, self.centre);
        let expected = level.level * window.cell.denominator * self.at(window.load);
        ([0, 1, 2].map(|at| own[at] - level.mean[at]), expected, window.cell.numerator - expected)
    }

    fn normal(&self, runs: &[Vec<LoadPoint>]) -> (Matrix, Vector) {
        let (mut matrix, mut slope) = ([[0.0; 3]; 3], [0.0; 3]);
        for (run, level) in runs.iter().filter_map(|run| Some((run, self.level(run)?))) {
            for window in run {
                let (basis, expected, beyond) = self.residual(window, &level);
                for i in 0..3 {
                    slope[i] += basis[i] * beyond;
                    for j in 0..3 {
                        matrix[i][j] += expected * basis[i] * basis[j];
                    }
                }
            }
        }
        (matrix, slope)
    }

    /// The variance of a sum of the curve's terms from the curve's own uncertainty, and its degrees of freedom. Windows
    /// are grouped in blocks as long as their autocorrelation. `None` with too few blocks.
    pub fn variance(&self, runs: &[Vec<LoadPoint>], lever: Vector) -> Option<(f64, f64)> {
        let inverse = inverse(&self.normal(runs).0, self.free)?;
        let weights = inverse.map(|row| dot(row, lever));
        let (mut squares, mut blocks) = (0.0, 0.0);
        for (run, level) in runs.iter().filter_map(|run| Some((run, self.level(run)?))) {
            let residuals: Vec<_> = run.iter().map(|window| self.residual(window, &level)).collect();
            let parts: Vec<f64> = residuals.iter().map(|(_, expected, beyond)| beyond / expected).collect();
            for block in residuals.chunks(block_length(&parts)) {
                squares += block.iter().map(|(basis, _, beyond)| dot(weights, *basis) * beyond).sum::<f64>().powi(2);
                blocks += 1.0;
            }
        }
        let spent = runs.len() + self.free.iter().filter(|free| **free).count();
        let freedom = blocks - spent as f64;
        (freedom >= 1.0).then(|| (squares * blocks / freedom, freedom))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn run(level: f64, loads: std::ops::Range<u32>, cost: impl Fn(f64) -> f64) -> Vec<LoadPoint> {
        let dot = |at: u32| {
            let load = 1e4 * f64::from(at);
            LoadPoint { load, cell: RatioCell { numerator: level * cost(load) * load, denominator: load } }
        };
        loads.map(dot).collect()
    }

    #[test]
    fn runs_of_different_levels_at_different_loads_share_the_curve_that_made_them() {
        let power = |load: f64| 5000.0 * (load / 1e5).powf(-0.3);
        let runs = [run(1.0, 2..9, power), run(1.5, 6..15, power), run(0.7, 1..4, power)];
        let curve = Curve::within(&runs, false).unwrap();
        for load in [2e4, 9e4, 1.5e5] {
            assert!((curve.at(load) / curve.at(1e5) / (power(load) / power(1e5)) - 1.0).abs() < 1e-6);
        }
        let (variance, _) = curve.variance(&runs, [1.0, 0.0, 0.0]).unwrap();
        assert!(variance < 1e-12 && !curve.is_bent());
    }

    #[test]
    fn a_cost_of_its_own_and_one_that_all_share_are_within_half_a_percent_of_a_bent_curve() {
        let shared = |load: f64| 5000.0 + 2e8 / load;
        let curve = Curve::within(&[run(1.0, 2..11, shared)], true).unwrap();
        for load in [2e4, 5e4, 1e5] {
            let part = curve.at(load) / curve.at(6e4) / (shared(load) / shared(6e4));
            assert!((part - 1.0).abs() < 0.005, "{load}: {part}");
        }
    }

    #[test]
    fn one_load_or_nothing_spent_has_no_curve() {
        let steady = |load| vec![LoadPoint { load, cell: RatioCell { numerator: 5e5, denominator: 100.0 } }; 20];
        assert_eq!(Curve::within(&[steady(1e5), steady(2e5)], false), None, "different levels are no slope");
        assert_eq!(Curve::within(&[], true), None);
        assert_eq!(Curve::within(&[run(0.0, 1..9, |_| 1.0)], false), None);
    }
}
