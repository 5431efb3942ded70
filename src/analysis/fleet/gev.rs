//! The generalised extreme value distribution and its fit to counts in bins. A positive shape has a heavy upper tail, a
//! negative one an upper end: mean = location + scale (Gamma(1 - shape) - 1) / shape.

use crate::analysis::stats::linear::{Vector, inverse};
use crate::analysis::stats::special::ln_gamma;

/// Below this the shape is that of a Gumbel distribution.
const FLAT: f64 = 1e-5;
const EULER: f64 = 0.577_215_664_901_532_9;
/// The logarithm of the smallest probability of a bin: a value outside the distribution's range must not decide the fit.
const LEAST: f64 = -700.0;

/// A generalised extreme value distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gev {
    /// Location.
    pub location: f64,
    /// Scale.
    pub scale: f64,
    /// Shape.
    pub shape: f64,
}

/// Values between two edges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct BinCount {
    pub low: f64,
    pub high: f64,
    pub count: f64,
}

impl Gev {
    /// The mean; `None` if it is infinite.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        if self.shape.abs() < FLAT {
            return Some(self.location + self.scale * EULER);
        }
        let first = (self.shape < 1.0).then(|| ln_gamma(1.0 - self.shape).exp())?;
        Some(self.location + self.scale * (first - 1.0) / self.shape)
    }

    /// The standard deviation; `None` if it is infinite.
    #[must_use]
    pub fn sd(&self) -> Option<f64> {
        if self.shape.abs() < FLAT {
            return Some(self.scale * std::f64::consts::PI / 6.0_f64.sqrt());
        }
        if self.shape >= 0.5 {
            return None;
        }
        let [first, second] = [1.0, 2.0].map(|k| ln_gamma(1.0 - k * self.shape).exp());
        Some(self.scale * (second - first * first).sqrt() / self.shape.abs())
    }

    /// The value below which the share `p` lies.
    #[must_use]
    pub fn quantile(&self, p: f64) -> f64 {
        let log = (-p.ln()).ln();
        let reduced = if self.shape.abs() < FLAT { -log } else { (-self.shape * log).exp_m1() / self.shape };
        self.location + self.scale * reduced
    }

    /// The share of values above `value`.
    #[must_use]
    pub fn above(&self, value: f64) -> f64 {
        -(-self.depth(value)).exp_m1()
    }

    /// -ln of the share below `value`.
    fn depth(&self, value: f64) -> f64 {
        let z = (value - self.location) / self.scale;
        if self.shape.abs() < FLAT {
            return (-z).exp();
        }
        match self.shape * z {
            outside if outside <= -1.0 && self.shape > 0.0 => f64::INFINITY,
            outside if outside <= -1.0 => 0.0,
            inside => (-inside.ln_1p() / self.shape).exp(),
        }
    }

    /// ln of the probability of a bin.
    fn ln_probability(&self, bin: &BinCount) -> f64 {
        let (low, high) = (self.depth(bin.low), self.depth(bin.high));
        let log = -high + (-(high - low).exp_m1()).ln();
        if log.is_nan() { LEAST } else { log.max(LEAST) }
    }

    /// The most likely distribution of these counts, with the standard errors of location, scale and shape if values are
    /// independent; `None` with fewer than four bins.
    pub(super) fn fit(bins: &[BinCount]) -> Option<(Gev, Option<Vector>)> {
        let count: f64 = bins.iter().map(|bin| bin.count).sum();
        if bins.iter().filter(|bin| bin.count > 0.0).count() < 4 {
            return None;
        }
        let mean = bins.iter().map(|bin| bin.count * f64::midpoint(bin.low, bin.high)).sum::<f64>() / count;
        let squares = bins.iter().map(|bin| bin.count * (f64::midpoint(bin.low, bin.high) - mean).powi(2)).sum::<f64>();
        let sd = (squares / count).sqrt();
        if !(sd > 0.0 && sd.is_finite()) {
            return None;
        }
        // In standard deviations from the mean all fits have the same size of steps.
        let scaled: Vec<BinCount> = bins
            .iter()
            .map(|bin| BinCount { low: (bin.low - mean) / sd, high: (bin.high - mean) / sd, count: bin.count })
            .collect();
        let cost = |at: Vector| {
            let gev = Gev { location: at[0], scale: at[1].exp(), shape: at[2] };
            -scaled.iter().map(|bin| bin.count * gev.ln_probability(bin)).sum::<f64>() / count
        };
        let scale = 6.0_f64.sqrt() / std::f64::consts::PI;
        let first = minimum(&cost, [-EULER * scale, scale.ln(), -0.05], 0.2);
        let best = minimum(&cost, first, 0.05);
        let gev = Gev { location: mean + sd * best[0], scale: sd * best[1].exp(), shape: best[2] };
        let errors = errors(&cost, best, count).map(|errors| [sd * errors[0], gev.scale * errors[1], errors[2]]);
        gev.scale.is_finite().then_some((gev, errors))
    }
}

/// Nelder and Mead's downhill simplex, from `start` with steps of this size.
fn minimum(cost: &impl Fn(Vector) -> f64, start: Vector, step: f64) -> Vector {
    let corner = |at: usize| [0, 1, 2].map(|i: usize| start[i] + if i + 1 == at { step } else { 0.0 });
    let mut simplex = [0, 1, 2, 3].map(|at| (corner(at), cost(corner(at))));
    for _ in 0..300 {
        simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
        let [best, _, second, worst] = simplex;
        if worst.1 - best.1 < 1e-11 {
            break;
        }
        let centre = [0, 1, 2].map(|i: usize| simplex[..3].iter().map(|corner| corner.0[i]).sum::<f64>() / 3.0);
        let along = |by: f64| {
            let at = [0, 1, 2].map(|i: usize| centre[i] + by * (worst.0[i] - centre[i]));
            (at, cost(at))
        };
        let reflected = along(-1.0);
        let better = if reflected.1 < best.1 {
            let expanded = along(-2.0);
            Some(if expanded.1 < reflected.1 { expanded } else { reflected })
        } else if reflected.1 < second.1 {
            Some(reflected)
        } else {
            let contracted = along(if reflected.1 < worst.1 { -0.5 } else { 0.5 });
            (contracted.1 < worst.1.min(reflected.1)).then_some(contracted)
        };
        match better {
            Some(corner) => simplex[3] = corner,
            None => {
                for corner in &mut simplex[1..] {
                    corner.0 = [0, 1, 2].map(|i: usize| f64::midpoint(corner.0[i], best.0[i]));
                    corner.1 = cost(corner.0);
                }
            }
        }
    }
    simplex.sort_by(|a, b| a.1.total_cmp(&b.1));
    simplex[0].0
}

/// Standard errors by the curvature of the cost, which is a mean over `count` values.
fn errors(cost: &impl Fn(Vector) -> f64, at: Vector, count: f64) -> Option<Vector> {
    const STEP: f64 = 1e-3;
    let moved = |i: usize, by: f64, j: usize, also: f64| {
        let mut to = at;
        to[i] += by * STEP;
        to[j] += also * STEP;
        cost(to)
    };
    let second = |i: usize, j: usize| {
        let corners = moved(i, 1.0, j, 1.0) - moved(i, 1.0, j, -1.0) - moved(i, -1.0, j, 1.0) + moved(i, -1.0, j, -1.0);
        corners / (4.0 * STEP * STEP)
    };
    let curvature = [0, 1, 2].map(|i| [0, 1, 2].map(|j| second(i, j)));
    let variance = inverse(&curvature, [true; 3])?;
    let found = [0, 1, 2].map(|i: usize| (variance[i][i] / count).sqrt());
    found.iter().all(|error| error.is_finite()).then_some(found)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::stats::Random;

    const WEB_SEARCH: Gev = Gev { location: 1.73, scale: 0.133, shape: -0.0534 };

    #[test]
    fn the_published_distribution_has_the_published_moments() {
        assert!((WEB_SEARCH.mean().unwrap() - 1.800_070_5).abs() < 5e-8, "{:?}", WEB_SEARCH.mean());
        assert!((WEB_SEARCH.sd().unwrap() - 0.159_873_9).abs() < 5e-8, "{:?}", WEB_SEARCH.sd());
        let other = Gev { shape: 0.0534, ..WEB_SEARCH };
        assert!((other.mean().unwrap() - 1.8142).abs() < 5e-5 && (other.sd().unwrap() - 0.1839).abs() < 5e-5);
    }

    #[test]
    fn quantiles_lead_back_whatever_the_shape() {
        for shape in [-0.4, -0.0534, 0.0, 1e-4, 0.3] {
            let gev = Gev { shape, ..WEB_SEARCH };
            for p in [0.001, 0.5, 0.999] {
                assert!((gev.above(gev.quantile(p)) - (1.0 - p)).abs() < 1e-12, "{shape} {p}");
            }
        }
        let nearly = Gev { shape: 2e-5, ..WEB_SEARCH };
        let flat = Gev { shape: 0.0, ..WEB_SEARCH };
        assert!((nearly.quantile(0.999) - flat.quantile(0.999)).abs() < 1e-3);
        assert!((nearly.mean().unwrap() - flat.mean().unwrap()).abs() < 1e-5);
        assert!((nearly.sd().unwrap() - flat.sd().unwrap()).abs() < 1e-4);
        assert_eq!((Gev { shape: 1.0, ..flat }.mean(), Gev { shape: 0.5, ..flat }.sd()), (None, None));
    }

    fn sample(gev: &Gev, count: usize, seed: u64) -> Vec<BinCount> {
        let mut random = Random::new(seed);
        let mut bins = std::collections::BTreeMap::new();
        for _ in 0..count {
            let value = gev.quantile((random.below(1 << 30) as f64 + 0.5) / f64::from(1 << 30));
            *bins.entry((50.0 * value.ln()).floor() as i64).or_insert(0.0) += 1.0;
        }
        let bin = |(bin, count): (i64, f64)| BinCount {
            low: (bin as f64 / 50.0).exp(),
            high: ((bin + 1) as f64 / 50.0).exp(),
            count,
        };
        bins.into_iter().map(bin).collect()
    }

    #[test]
    fn a_fit_finds_the_distribution_that_was_planted_within_its_errors() {
        for (shape, seed) in [(-0.0534, 1), (-0.3, 2), (0.0, 3), (0.2, 4)] {
            let planted = Gev { shape, ..WEB_SEARCH };
            let (found, errors) = Gev::fit(&sample(&planted, 20_000, seed)).unwrap();
            let errors = errors.unwrap();
            let off = [found.location - 1.73, found.scale - 0.133, found.shape - shape];
            for (off, error) in off.iter().zip(errors) {
                assert!(off.abs() < 3.5 * error, "{shape}: {found:?} {off} +- {error}");
            }
            assert!(errors[0] < 0.003 && errors[2] < 0.01, "{errors:?}");
            assert!((found.quantile(0.999) / planted.quantile(0.999) - 1.0).abs() < 0.04, "{found:?}");
        }
    }

    #[test]
    fn a_value_far_outside_moves_the_fit_little_and_a_few_bins_give_none() {
        let mut bins = sample(&WEB_SEARCH, 5000, 5);
        bins.push(BinCount { low: 20.0, high: 20.4, count: 1.0 });
        let (found, _) = Gev::fit(&bins).unwrap();
        assert!((found.location - 1.73).abs() < 0.02 && (found.scale - 0.133).abs() < 0.02, "{found:?}");
        assert_eq!(Gev::fit(&bins[..3]), None);
    }
}
