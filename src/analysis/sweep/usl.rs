//! Fits the universal scalability law to a few widths: how much of the loss is waiting in line, how much is threads
//! communicating, and where throughput peaks. Least squares run on the throughput itself: the old quadratic transform
//! depends almost wholly on the first point. The caller must fit each region separately.

use super::estimate::t95;
use super::types::{Coefficient, NoFit, Peak, Usl};
use crate::analysis::stats::linear::{Matrix, Vector, dot, inverse};

/// A width, its throughput in operations per second and the weight of that point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ThroughputPoint {
    /// Threads, or CPUs.
    pub n: f64,
    /// Operations per second.
    pub x: f64,
    /// Weight in the least squares; a mean of 1 over all points keeps the residual in operations per second.
    pub weight: f64,
}

/// Fewer widths leave too little to separate three coefficients from noise.
const FEWEST: usize = 5;
/// A smaller coherency counts as zero.
const NO_COHERENCY: f64 = 1e-9;
/// A peak this many times beyond the widest run is a guess.
const FARTHEST: f64 = 4.0;
const STEPS: usize = 500;
/// Start values of contention and coherency; the first is the customary one, the others lead out of flat corners.
const STARTS: [(f64, f64); 4] = [(0.01, 1e-4), (0.1, 0.01), (0.5, 0.1), (0.9, 0.0)];

/// Fits gamma, alpha and beta.
///
/// # Errors
/// Fewer than five distinct widths, or no minimum within a bounded number of steps.
pub fn fit(points: &[ThroughputPoint]) -> Result<Usl, NoFit> {
    let sane = |p: &&ThroughputPoint| p.n >= 1.0 && p.n.is_finite() && p.x > 0.0 && p.x.is_finite() && p.weight > 0.0;
    let mut points: Vec<_> = points.iter().filter(sane).copied().collect();
    points.sort_unstable_by(|a, b| a.n.total_cmp(&b.n).then(a.x.total_cmp(&b.x)));
    let mut widths: Vec<_> = points.iter().map(|point| point.n).collect();
    widths.dedup();
    if widths.len() < FEWEST {
        return Err(NoFit::TooFewWidths);
    }
    // In units of the best throughput per thread all three coefficients are of order one or less.
    let unit = points.iter().map(|point| point.x / point.n).fold(0.0, f64::max);
    points.iter_mut().for_each(|point| point.x /= unit);
    let widest = widths[widths.len() - 1];
    let mut usl = fitted(&points, unit, widest)?;
    // Few points do not show whether noise is the same at all widths or grows with throughput: a peak must exist either
    // way.
    points.iter_mut().for_each(|point| point.weight = 1.0 / (point.x * point.x));
    usl.peak = usl.peak.also(fitted(&points, unit, widest).map_or(Peak::Undecided, |usl| usl.peak));
    Ok(usl)
}

fn fitted(points: &[ThroughputPoint], unit: f64, widest: f64) -> Result<Usl, NoFit> {
    let minima = STARTS.iter().filter_map(|(alpha, beta)| descend(points, [1.0, *alpha, *beta]));
    let (best, squares) = minima.min_by(|a, b| a.1.total_cmp(&b.1)).ok_or(NoFit::NoMinimum)?;
    law(points, best, squares, unit, widest).ok_or(NoFit::NoMinimum)
}

impl Peak {
    /// This peak if another fit shows one too, with the uncertainty of both.
    fn also(self, other: Peak) -> Peak {
        match (self, other) {
            (Peak::At { n, ops_per_s, low, high }, Peak::At { low: l, high: h, .. }) => {
                Peak::At { n, ops_per_s, low: low.min(l), high: high.max(h) }
            }
            (Peak::At { .. } | Peak::BeyondMeasured { .. }, Peak::None | Peak::Undecided) => Peak::Undecided,
            (Peak::At { n, .. }, Peak::BeyondMeasured { .. }) => Peak::BeyondMeasured { n },
            (found, _) => found,
        }
    }
}

fn law(points: &[ThroughputPoint], best: Vector, squares: f64, unit: f64, widest: f64) -> Option<Usl> {
    let freedom = points.len() - best.len();
    let variance = squares / freedom as f64;
    let free = free(best, [0.0; 3]);
    // All three are free here even if one is at its bound: its possible other values widen the others' errors.
    let matrix = normal(points, best).0;
    let covariance = inverse(&matrix, [true; 3]).or_else(|| inverse(&matrix, free))?;
    let t = t95(freedom as f64)?;
    let bound = |at: usize, unit: f64| {
        let error = free[at].then(|| unit * (variance * covariance[at][at]).sqrt());
        Coefficient { value: unit * best[at], error, half: error.map(|error| t * error) }
    };
    let mut usl = Usl {
        gamma: bound(0, unit),
        alpha: bound(1, 1.0),
        beta: bound(2, 1.0),
        residual: unit * variance.sqrt(),
        freedom: freedom as u32,
        peak: Peak::None,
    };
    usl.peak = usl.find_peak(widest, &covariance.map(|row| row.map(|cell| variance * cell)), t);
    let numbers = [usl.gamma, usl.alpha, usl.beta].into_iter().flat_map(|b| [Some(b.value), b.error]).flatten();
    (usl.residual.is_finite() && numbers.into_iter().all(f64::is_finite)).then_some(usl)
}

/// The width at which throughput peaks; `None` without coherency.
#[must_use]
pub fn peak(alpha: f64, beta: f64) -> Option<f64> {
    // With contention of 1 throughput peaks at one thread, although the formula yields less.
    (beta >= NO_COHERENCY).then(|| ((1.0 - alpha).max(0.0) / beta).sqrt().max(1.0))
}

impl Usl {
    /// Throughput at a width according to the law.
    #[must_use]
    pub fn throughput(&self, n: f64) -> f64 {
        self.gamma.value * n / denominator(n, self.alpha.value, self.beta.value)
    }

    /// Reports a peak only if coherency is shown to exceed zero: least squares find some in any noise.
    fn find_peak(&self, widest: f64, covariance: &Matrix, t: f64) -> Peak {
        let Some(n) = peak(self.alpha.value, self.beta.value) else { return Peak::None };
        match self.peak_interval(covariance, t) {
            None => Peak::Undecided,
            Some(_) if n > FARTHEST * widest => Peak::BeyondMeasured { n },
            Some((low, high)) => Peak::At { n, ops_per_s: self.throughput(n), low, high },
        }
    }

    /// Fieller's interval of the width at the peak, from that of `q = beta / (1 - alpha)`, its inverse square: all q
    /// for which `beta - q (1 - alpha)` may be zero. `None` if one of them is zero itself.
    fn peak_interval(&self, covariance: &Matrix, t: f64) -> Option<(f64, f64)> {
        let (work, beta) = (1.0 - self.alpha.value, self.beta.value);
        let [_, [_, of_alpha, both], [_, _, of_beta]] = covariance.map(|row| row.map(|cell| t * t * cell));
        let (square, line, rest) = (work * work - of_alpha, work * beta + both, beta * beta - of_beta);
        let root = (line * line - square * rest).max(0.0).sqrt();
        let n = |q: f64| (1.0 / q).sqrt().max(1.0);
        let shown = rest > 0.0 && line > 0.0;
        // If contention may be 1, the peak's lower end is one thread.
        let low = if square > 0.0 { n((line + root) / square) } else { 1.0 };
        // The smaller root, in the form that does not cancel.
        shown.then(|| (low, n(rest / (line + root))))
    }
}

fn denominator(n: f64, alpha: f64, beta: f64) -> f64 {
    1.0 + alpha * (n - 1.0) + beta * n * (n - 1.0)
}

fn squares(points: &[ThroughputPoint], [gamma, alpha, beta]: Vector) -> f64 {
    let residual = |p: &ThroughputPoint| p.x - gamma * p.n / denominator(p.n, alpha, beta);
    points.iter().map(|point| point.weight * residual(point).powi(2)).sum()
}

/// `J'WJ` and `J'Wr` of the law's derivatives by gamma, alpha and beta.
fn normal(points: &[ThroughputPoint], [gamma, alpha, beta]: Vector) -> (Matrix, Vector) {
    let (mut matrix, mut slope) = ([[0.0; 3]; 3], [0.0; 3]);
    for ThroughputPoint { n, x, weight } in points {
        let d = denominator(*n, alpha, beta);
        let residual = x - gamma * n / d;
        let by = [n / d, -gamma * n * (n - 1.0) / (d * d), -gamma * n * n * (n - 1.0) / (d * d)];
        for row in 0..3 {
            slope[row] += weight * by[row] * residual;
            for column in 0..3 {
                matrix[row][column] += weight * by[row] * by[column];
            }
        }
    }
    (matrix, slope)
}

/// Levenberg-Marquardt steps, limited to `gamma >= 0`, alpha and beta in 0 to 1. `None` if it does not converge.
fn descend(points: &[ThroughputPoint], start: Vector) -> Option<(Vector, f64)> {
    let (mut at, mut damping) = (start, 1e-3);
    let mut best = squares(points, at);
    for _ in 0..STEPS {
        let (mut matrix, slope) = normal(points, at);
        matrix.iter_mut().enumerate().for_each(|(at, row)| row[at] *= 1.0 + damping);
        let step = inverse(&matrix, free(at, slope)).map(|inverse| inverse.map(|row| dot(row, slope)));
        let next = step.map(|step| project([at[0] + step[0], at[1] + step[1], at[2] + step[2]]));
        let found = next.map(|next| (next, squares(points, next))).filter(|(_, squares)| *squares < best);
        let Some((next, squares)) = found else {
            damping *= 10.0;
            // Even the smallest step does not lead down: this is the minimum.
            if damping > 1e16 {
                return best.is_finite().then_some((at, best));
            }
            continue;
        };
        (at, best, damping) = (next, squares, (damping / 10.0).max(1e-12));
    }
    None
}

fn project([gamma, alpha, beta]: Vector) -> Vector {
    [gamma.max(0.0), alpha.clamp(0.0, 1.0), beta.clamp(0.0, 1.0)]
}

/// Which coefficients may move: those at a bound may not be pushed beyond it.
fn free(at: Vector, slope: Vector) -> [bool; 3] {
    let upper = [f64::INFINITY, 1.0, 1.0];
    [0, 1, 2].map(|i| !(at[i] <= 0.0 && slope[i] <= 0.0 || at[i] >= upper[i] && slope[i] >= 0.0))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::stats::Random;
    use crate::analysis::stats::simulate::Frequency;
    use proptest::prelude::*;

    const RAYTRACER: [(f64, f64); 11] = [
        (1.0, 20.0),
        (4.0, 78.0),
        (8.0, 130.0),
        (12.0, 170.0),
        (16.0, 190.0),
        (20.0, 200.0),
        (24.0, 210.0),
        (28.0, 230.0),
        (32.0, 260.0),
        (48.0, 280.0),
        (64.0, 310.0),
    ];
    const SPECSDM91: [(f64, f64); 7] =
        [(1.0, 64.9), (18.0, 995.9), (36.0, 1652.4), (72.0, 1853.2), (108.0, 1828.9), (144.0, 1775.0), (216.0, 1702.2)];
    const SYNTHETIC: [(f64, f64); 6] =
        [(1.0, 1.0), (2.0, 1.8868), (4.0, 3.0769), (6.0, 3.5294), (8.0, 3.5398), (10.0, 3.3557)];

    fn fitted(points: &[(f64, f64)]) -> Usl {
        let sightings: Vec<_> = points.iter().map(|(n, x)| ThroughputPoint { n: *n, x: *x, weight: 1.0 }).collect();
        fit(&sightings).unwrap()
    }

    fn close(found: f64, expected: f64, digit: f64) {
        assert!((found - expected).abs() <= digit, "{found} is not {expected}");
    }

    #[test]
    fn the_published_server_has_its_published_law() {
        let usl = fitted(&SPECSDM91);
        close(usl.alpha.value, 0.027_728_5, 1e-6);
        close(usl.alpha.error.unwrap(), 0.009_121_7, 1e-6);
        close(usl.beta.value, 0.000_104_365_8, 1e-9);
        close(usl.beta.error.unwrap(), 0.000_019_9, 1e-7);
        close(usl.gamma.value, 89.995_2, 1e-3);
        close(usl.gamma.error.unwrap(), 14.213_5, 1e-2);
        close(usl.residual, 82.845_8, 1e-3);
        assert_eq!(usl.freedom, 4);
        let Peak::At { n, ops_per_s, .. } = usl.peak else { panic!("{usl:?}") };
        close(n, 96.519_4, 1e-3);
        close(ops_per_s, 1884.0, 0.5);
        close(usl.throughput(36.064_1), 1542.0, 0.5);
        close(usl.gamma.value / usl.alpha.value, 3245.59, 0.1);
        let predicted = [90.0, 1078.0, 1541.0, 1850.0, 1879.0, 1822.0, 1646.0];
        let efficiency = [0.7211, 0.6148, 0.5100, 0.2860, 0.1882, 0.1370, 0.0876];
        for (((n, x), expected), part) in SPECSDM91.into_iter().zip(predicted).zip(efficiency) {
            close(usl.throughput(n), expected, 0.5);
            close(x / usl.gamma.value / n, part, 1e-4);
        }
    }

    #[test]
    fn the_first_points_of_the_published_ray_tracer_have_the_standard_interval() {
        let usl = fitted(&RAYTRACER[..6]);
        close(usl.alpha.value, 0.024_444_05, 1e-7);
        close(usl.alpha.error.unwrap(), 0.008_390_67, 1e-7);
        close(usl.beta.value, 0.001_626_809, 1e-8);
        close(usl.beta.error.unwrap(), 0.000_261_4, 1e-7);
        close(usl.gamma.value, 20.856_05, 1e-4);
        close(usl.gamma.error.unwrap(), 0.788_507, 1e-5);
        close(usl.residual, 1.834, 1e-3);
        let half = usl.alpha.half.unwrap();
        close(usl.alpha.value - half, -0.002_26, 1e-5);
        close(usl.alpha.value + half, 0.051_15, 1e-5);
        close(usl.beta.value - usl.beta.half.unwrap(), 0.000_795, 1e-6);
        close(usl.beta.value + usl.beta.half.unwrap(), 0.002_459, 1e-6);
        close(usl.gamma.value - usl.gamma.half.unwrap(), 18.347, 1e-3);
        close(usl.gamma.value + usl.gamma.half.unwrap(), 23.365, 1e-3);
        let Peak::At { n, ops_per_s, .. } = usl.peak else { panic!("{usl:?}") };
        close(n, 24.488, 1e-3);
        close(ops_per_s, 203.49, 1e-2);
        close(usl.throughput(40.910), 184.21, 1e-2);
        close(usl.gamma.value / usl.alpha.value, 853.2, 0.1);
    }

    #[test]
    fn the_whole_ray_tracer_ends_at_the_bound_of_no_coherency() {
        let usl = fitted(&RAYTRACER);
        assert_eq!((usl.beta, usl.peak), (Coefficient { value: 0.0, error: None, half: None }, Peak::None));
        close(usl.alpha.value, 0.057_770_8, 1e-6);
        close(usl.alpha.error.unwrap(), 0.013_29, 1e-5);
        close(usl.gamma.value, 21.848_84, 1e-4);
        close(usl.gamma.error.unwrap(), 2.196, 1e-3);
        close(usl.residual, 9.3357, 1e-4);
        assert_eq!(usl.freedom, 8);
        close(usl.throughput(17.310), 194.72, 1e-2);
        close(usl.gamma.value / usl.alpha.value, 378.199, 1e-2);
    }

    #[test]
    fn the_synthetic_points_give_back_the_law_that_made_them() {
        let usl = fitted(&SYNTHETIC);
        close(usl.alpha.value, 0.02, 1e-4);
        close(usl.beta.value, 0.02, 1e-4);
        close(usl.gamma.value, 1.0, 1e-4);
        let Peak::At { n, ops_per_s, .. } = usl.peak else { panic!("{usl:?}") };
        close(n, 7.0, 1e-2);
        close(ops_per_s, 3.5714, 1e-3);
    }

    #[test]
    fn a_peak_needs_coherency_and_some_nearness() {
        close(peak(0.001, 0.000_01).unwrap(), 316.0696, 1e-4);
        assert_eq!(peak(0.5, 9e-10), None);
        assert_eq!(peak(1.0, 0.5), Some(1.0));
        let made = |n: f64| (n, n / denominator(n, 0.001, 0.000_01));
        let usl = fitted(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0].map(made));
        let Peak::BeyondMeasured { n } = usl.peak else { panic!("{usl:?}") };
        close(n, 316.07, 0.1);
    }

    #[test]
    fn the_published_peaks_lie_in_intervals_that_the_points_allow() {
        for (points, n) in [(&SPECSDM91[..], 96.52), (&RAYTRACER[..6], 24.49)] {
            let Peak::At { low, high, .. } = fitted(points).peak else { panic!("{points:?}") };
            assert!(low < n && n < high && high < 3.0 * low, "{low} {high}");
        }
    }

    /// Counts the fits of a law with noise that claim a peak, and of these the ones whose interval contains the true peak.
    fn claims(beta: f64, widths: &[f64], noise: f64, trials: u32) -> (Frequency, Frequency) {
        let (mut random, mut claimed, mut covered) = (Random::new(17), Frequency::default(), Frequency::default());
        for _ in 0..trials {
            let mut one = |n: f64| (n, 1e6 * n / denominator(n, 0.05, beta) * (1.0 + noise * random.normal()));
            let points: Vec<_> = widths.iter().map(|n| one(*n)).collect();
            let sightings: Vec<_> = points.iter().map(|(n, x)| ThroughputPoint { n: *n, x: *x, weight: 1.0 }).collect();
            let Ok(usl) = fit(&sightings) else { continue };
            claimed.count(matches!(usl.peak, Peak::At { .. }));
            if let (Peak::At { low, high, .. }, Some(n)) = (usl.peak, peak(0.05, beta)) {
                covered.count(low <= n && n <= high);
            }
        }
        (claimed, covered)
    }

    const SWEEPS: [&[f64]; 3] = [
        &[1.0, 2.0, 4.0, 8.0, 16.0],
        &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
        &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0],
    ];

    #[test]
    fn noise_alone_claims_no_peak() {
        for (widths, noise) in SWEEPS.iter().zip([0.01, 0.05, 0.03]) {
            let (claimed, _) = claims(0.0, widths, noise, 60);
            assert!(claimed.interval(0.01).0 < 0.05, "{noise}: {claimed:?}");
        }
        let (claimed, covered) = claims(0.003, SWEEPS[2], 0.02, 60);
        assert!(claimed.part() > 0.9 && covered.interval(0.01).1 > 0.95, "{claimed:?} {covered:?}");
    }

    /// A part of the table of `just calibrate`.
    #[test]
    #[ignore = "what `just calibrate` prints"]
    fn simulated_table_of_peaks() {
        let trials = crate::analysis::stats::simulate::trials();
        for widths in SWEEPS {
            for noise in [0.01, 0.02, 0.05] {
                let name =
                    format!("USL, {} widths to {}, {}% noise", widths.len(), widths[widths.len() - 1], noise * 100.0);
                claims(0.0, widths, noise, trials).0.report(&format!("{name}, no coherency: peak claimed"), "<= 5%");
                let (claimed, covered) = claims(0.003, widths, noise, trials);
                claimed.report(&format!("{name}, beta 0.003: peak claimed"), "-");
                covered.report(&format!("{name}, beta 0.003: of these the interval holds the peak"), "-");
                // An interval is right in 95% of all fits, those with an open end among them, where nothing is claimed.
                let wrong = Frequency { hits: covered.trials - covered.hits, trials: claimed.trials };
                wrong.report(&format!("{name}, beta 0.003: an interval that misses the peak"), "<= 5%");
            }
        }
    }

    #[test]
    fn four_widths_are_too_few_however_often_they_ran() {
        let mut points = vec![];
        for n in [1.0, 2.0, 4.0, 8.0] {
            points.extend([ThroughputPoint { n, x: n, weight: 1.0 }; 3]);
        }
        points.push(ThroughputPoint { n: 16.0, x: f64::NAN, weight: 1.0 });
        assert_eq!(fit(&points), Err(NoFit::TooFewWidths));
    }

    #[test]
    fn a_heavier_point_draws_the_curve_to_itself() {
        let weighted = |weight: f64| {
            let heavy = |(n, x): (f64, f64)| ThroughputPoint { n, x, weight: if n == 216.0 { weight } else { 1.0 } };
            (fit(&SPECSDM91.map(heavy)).unwrap().throughput(216.0) - 1702.2).abs()
        };
        assert!(weighted(100.0) < 0.2 * weighted(1.0), "{} {}", weighted(100.0), weighted(1.0));
    }

    proptest! {
        #[test]
        fn whatever_law_made_the_points_is_found_again(
            gamma in 1e-3..1e9_f64, alpha in 0.0..0.5_f64, beta in 0.0..0.01_f64,
        ) {
            let made = |n: f64| (n, gamma * n / denominator(n, alpha, beta));
            let usl = fitted(&[1.0, 2.0, 4.0, 8.0, 16.0, 32.0].map(made));
            for n in [1.0, 6.0, 32.0] {
                prop_assert!((usl.throughput(n) / made(n).1 - 1.0).abs() < 1e-6, "{usl:?}");
            }
        }

        #[test]
        fn no_input_gives_a_number_that_is_none(
            points in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>()), 0..9),
        ) {
            let points: Vec<_> = points.into_iter().map(|(n, x, weight)| ThroughputPoint { n, x, weight }).collect();
            if let Ok(usl) = fit(&points) {
                let bounds = [usl.gamma, usl.alpha, usl.beta];
                let numbers = bounds.iter().flat_map(|b| [Some(b.value), b.error, b.half]).flatten();
                prop_assert!(numbers.chain([usl.residual]).all(f64::is_finite), "{usl:?}");
            }
        }
    }
}
