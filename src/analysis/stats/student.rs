//! Student's t at any confidence, the degrees of freedom of combined errors (Welch, Satterthwaite), and the test whether a
//! difference is within a margin. Below one degree of freedom the functions return `None`.

use super::special::{incomplete_beta, normal_cdf, normal_quantile};

/// From here on t is the normal distribution to six digits, and the beta function's continued fraction converges
/// slowly.
const MANY: f64 = 1e6;

/// The probability that t is at least this far from zero on either side; `None` below one degree of freedom.
#[must_use]
pub fn student_two_sided(t: f64, freedom: f64) -> Option<f64> {
    if freedom.is_nan() || freedom < 1.0 || t.is_nan() {
        return None;
    }
    if freedom > MANY || t.is_infinite() {
        return Some(2.0 * normal_cdf(-t.abs()));
    }
    Some(incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5))
}

/// The t beyond which `tails` of the distribution are, both sides together; `None` below one degree of freedom, or if
/// `tails` is not between 0 and 1.
#[must_use]
pub fn student_quantile(tails: f64, freedom: f64) -> Option<f64> {
    if !(tails > 0.0 && tails < 1.0) || freedom.is_nan() || freedom < 1.0 {
        return None;
    }
    if freedom > MANY {
        return Some(-normal_quantile(tails / 2.0));
    }
    // With one degree of freedom and tails of 1e-9, t is below 1e9.
    let (mut low, mut high) = (0.0, 1.0);
    while high < 1e12 && student_two_sided(high, freedom)? > tails {
        high *= 2.0;
    }
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if student_two_sided(middle, freedom)? > tails { low = middle } else { high = middle }
    }
    Some(f64::midpoint(low, high))
}

/// The probability that F, of these degrees of freedom above and below, is at least this large; `None` below one degree.
pub(in crate::analysis) fn f_upper_tail(f: f64, above: f64, below: f64) -> Option<f64> {
    let (known, below) = (f >= 0.0 && above >= 1.0 && below >= 1.0, below.min(MANY));
    known.then(|| incomplete_beta(below / (below + above * f), below / 2.0, above / 2.0))
}

/// The standard error of a sum or difference of independent means, with its degrees of freedom, from the variance and
/// the degrees of freedom of each mean; `None` if nothing scatters.
pub(in crate::analysis) fn combined(parts: &[(f64, f64)]) -> Option<(f64, f64)> {
    let variance: f64 = parts.iter().map(|part| part.0).sum();
    // Relative to the whole: squares of tiny variances would underflow.
    let spent: f64 = parts.iter().map(|(of, freedom)| (of / variance).powi(2) / freedom).sum();
    let freedom = 1.0 / spent;
    (variance > 0.0 && variance.is_finite() && !freedom.is_nan()).then(|| (variance.sqrt(), freedom))
}

/// Two one-sided tests: the probability of so small an estimate if the true difference were as large as `margin`;
/// `None` without an error, a margin or a degree of freedom.
#[must_use]
pub fn equivalent(estimate: f64, error: f64, freedom: f64, margin: f64) -> Option<f64> {
    if !(error > 0.0 && margin > 0.0) {
        return None;
    }
    let one_sided = |t: f64| {
        let tails = student_two_sided(t, freedom)? / 2.0;
        Some(if t > 0.0 { tails } else { 1.0 - tails })
    };
    let below = one_sided((margin - estimate) / error)?;
    let above = one_sided((margin + estimate) / error)?;
    Some(below.max(above))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
pub(super) mod tests {
    use super::super::series::Moments;
    use super::*;

    #[test]
    fn the_quantiles_are_those_of_the_tables_and_lead_back() {
        for (tails, freedom, t) in [
            (0.05, 1.0, 12.706_204_736),
            (0.05, 4.0, 2.776_445_105),
            (0.01, 9.0, 3.249_835_542),
            (0.10, 2.5, 2.558_219_3),
            (0.001, 30.0, 3.645_958_635),
            (0.05, 1e9, 1.959_963_985),
        ] {
            let found = student_quantile(tails, freedom).unwrap();
            assert!((found / t - 1.0).abs() < 1e-4, "{tails} {freedom}: {found}");
            assert!((student_two_sided(found, freedom).unwrap() / tails - 1.0).abs() < 1e-8);
        }
    }

    #[test]
    fn without_freedom_or_a_probability_there_is_none() {
        for (tails, freedom) in [(0.05, 0.5), (0.0, 5.0), (1.0, 5.0), (f64::NAN, 5.0), (0.05, f64::NAN)] {
            assert_eq!(student_quantile(tails, freedom), None);
        }
        assert_eq!(student_two_sided(f64::NAN, 5.0), None);
        assert_eq!(student_two_sided(f64::INFINITY, 5.0), Some(0.0));
    }

    pub const A: [f64; 10] = [10.1, 9.9, 10.0, 10.3, 9.8, 10.2, 10.0, 10.1, 9.9, 10.0];
    pub const B: [f64; 10] = [9.5, 9.7, 9.4, 9.9, 9.6, 9.5, 9.8, 9.6, 9.4, 9.7];

    /// The comparison of two means.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub struct Welch {
        /// First mean minus the second, in standard errors.
        pub t: f64,
        /// Degrees of freedom by Welch and Satterthwaite.
        pub freedom: f64,
        /// Probability of so large a difference if there is none.
        pub p: f64,
    }

    /// Compares two groups; `None` with fewer than two values in either, or if nothing scatters.
    pub fn welch(a: &[f64], b: &[f64]) -> Option<Welch> {
        let (a, b) = (Moments::of(a)?, Moments::of(b)?);
        let (error, freedom) =
            combined(&[(a.variance? / a.count, a.count - 1.0), (b.variance? / b.count, b.count - 1.0)])?;
        let t = (a.mean - b.mean) / error;
        Some(Welch { t, freedom, p: student_two_sided(t, freedom)? })
    }

    #[test]
    fn the_published_example_comes_out_to_its_digits() {
        let found = welch(&A, &B).unwrap();
        assert!((found.t - 5.939_696_961_967).abs() < 1e-11, "{found:?}");
        assert!((found.freedom - 17.797_503_955).abs() < 1e-8, "{found:?}");
        assert!((found.p - 1.336_421e-5).abs() < 5e-12, "{found:?}");
    }

    #[test]
    fn too_few_values_or_no_scatter_compare_nothing() {
        for (a, b) in [(&A[..1], &B[..]), (&[], &B), (&[1.0; 4], &[2.0; 4]), (&[f64::NAN; 3], &B)] {
            assert_eq!(welch(a, b), None);
        }
    }

    #[test]
    fn equal_is_what_lies_within_the_margin_with_all_its_uncertainty() {
        // The test at 0.05 passes exactly where the 90% interval (t 1.6527 at 200 degrees) lies within the margin.
        for (estimate, error, same) in
            [(0.0, 0.005, true), (0.010, 0.005, true), (0.0125, 0.005, false), (0.0, 0.02, false), (0.03, 0.001, false)]
        {
            for estimate in [estimate, -estimate] {
                let p = equivalent(estimate, error, 200.0, 0.02).unwrap();
                assert_eq!(p < 0.05, same, "{estimate} {error}: {p}");
            }
        }
    }

    #[test]
    fn without_an_error_or_a_margin_nothing_is_shown() {
        for (error, freedom, margin) in [(0.0, 9.0, 0.1), (0.1, 0.0, 0.1), (0.1, 9.0, 0.0), (f64::NAN, 9.0, 0.1)] {
            assert_eq!(equivalent(0.0, error, freedom, margin), None);
        }
    }
}
