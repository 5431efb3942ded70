//! Student's t at any confidence. Below one degree of freedom the functions return `None`.

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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
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
}
