//! A metric as a curve over intensity, so that two programs can be compared at the same intensities.
//! It never extrapolates by itself: who asks for a value beyond the data gets what the curve says there.

use crate::analysis::scaling::linear::{dot, inverse};

/// `a + b z + c / x`, with `z` the intensity `x` less its mean over its scatter: a cost of its own, one that grows with load,
/// and one that all share. A parabola in its place bends the wrong way where little is done.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve {
    terms: [f64; 3],
    centre: f64,
    scale: f64,
}

/// Fewer values bend a curve by chance.
const BENDS_FROM: usize = 12;
/// A narrower range, as a part of its mean, has no bend to see.
const BENDS_BEYOND: f64 = 0.02;

impl Curve {
    /// Weighted least squares through points `(x, y, weight)`, x above zero: a bent curve where there are a dozen points, else a straight
    /// line, else the mean; `None` without points or weight, or with something that is no number.
    #[must_use]
    pub fn through(points: &[(f64, f64, f64)]) -> Option<Curve> {
        let all: f64 = points.iter().map(|point| point.2).sum();
        let centre = points.iter().map(|(x, _, weight)| x * weight).sum::<f64>() / all;
        let spread = points.iter().map(|(x, _, weight)| (x - centre).powi(2) * weight).sum::<f64>() / all;
        let scale = spread.sqrt();
        let tells = scale > 1e-9 * centre.abs();
        let bends = points.len() >= BENDS_FROM && scale > BENDS_BEYOND * centre;
        let free = [true, tells && points.len() >= 3, bends];
        let scale = if tells { scale } else { 1.0 };
        let row = |x: f64| row(x, centre, scale);
        let (mut matrix, mut side) = ([[0.0; 3]; 3], [0.0; 3]);
        for (x, y, weight) in points {
            let row = row(*x);
            for i in 0..3 {
                side[i] += weight * row[i] * y;
                for j in 0..3 {
                    matrix[i][j] += weight * row[i] * row[j];
                }
            }
        }
        // Two levels of load bend no curve: a line goes through them.
        let solved = inverse(&matrix, free).or_else(|| inverse(&matrix, [true, free[1], false]));
        let solved = solved.or_else(|| inverse(&matrix, [true, false, false]))?;
        let terms = solved.map(|row| dot(row, side));
        (terms.iter().all(|term| term.is_finite()) && all > 0.0).then_some(Curve { terms, centre, scale })
    }

    /// Its value at an intensity.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        dot(self.terms, row(x, self.centre, self.scale))
    }

    /// Whether it is bent.
    #[must_use]
    pub fn is_bent(&self) -> bool {
        self.terms[2] != 0.0
    }
}

/// Both terms are nothing at the centre, so that they move the mean little.
fn row(x: f64, centre: f64, scale: f64) -> [f64; 3] {
    [1.0, (x - centre) / scale, centre / x - 1.0]
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn points(count: u32, y: impl Fn(f64) -> f64) -> Vec<(f64, f64, f64)> {
        (0..count).map(|at| 1e6 + 1e5 * f64::from(at)).map(|x| (x, y(x), 1.0 + x / 1e6)).collect()
    }

    #[test]
    fn a_curve_goes_through_what_lies_on_one() {
        let shared = |x: f64| 500.0 + 1e-5 * x + 2e8 / x;
        let bent = Curve::through(&points(20, shared)).unwrap();
        let straight = Curve::through(&points(5, |x| 3.0 + 2e-6 * x)).unwrap();
        for x in [1e6, 1.7e6, 2.9e6] {
            assert!((bent.at(x) / shared(x) - 1.0).abs() < 1e-9);
            assert!((straight.at(x) - (3.0 + 2e-6 * x)).abs() < 1e-9);
        }
        assert!(bent.is_bent() && !straight.is_bent());
    }

    #[test]
    fn one_level_has_a_mean_and_two_have_a_line() {
        let level: Vec<_> = (0..20).map(|at| (1e6, f64::from(at % 2), 1.0)).collect();
        assert!((Curve::through(&level).unwrap().at(2e6) - 0.5).abs() < 1e-9);
        let two: Vec<_> = (0..20).map(|at| (1.0 + f64::from(at % 2), f64::from(at % 2), 1.0)).collect();
        let line = Curve::through(&two).unwrap();
        assert!((line.at(1.5) - 0.5).abs() < 1e-6, "{line:?}");
    }

    #[test]
    fn nothing_and_what_is_no_number_make_no_curve() {
        for points in [&[][..], &[(1.0, 2.0, 0.0)], &[(f64::NAN, 1.0, 1.0)], &[(1.0, f64::INFINITY, 1.0)]] {
            assert_eq!(Curve::through(points), None, "{points:?}");
        }
    }
}
