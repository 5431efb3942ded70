//! The one-sided confidence that one mean exceeds another, of normal means.

use crate::analysis::stats::normal_cdf;

/// Phi(difference / error), where the error combines those of both means; a base that counts as known has the error 0.
/// `None` without an error.
#[must_use]
pub fn one_sided_confidence(base: (f64, f64), new: (f64, f64)) -> Option<f64> {
    let error = base.1.hypot(new.1);
    (error > 0.0 && error.is_finite()).then(|| normal_cdf((new.0 - base.0) / error))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_published_confidence_comes_out_with_and_without_the_error_of_the_base() {
        let known = one_sided_confidence((1001.7, 0.0), (1016.0, 11.6)).unwrap();
        assert!((known - 0.891_167_1).abs() < 5e-8, "{known}");
        let both = one_sided_confidence((1001.7, 56.6 / 130.0_f64.sqrt()), (1016.0, 11.6)).unwrap();
        // 0.87146, printed as 0.872.
        assert!((both - 0.872).abs() < 1e-3, "{both}");
        assert_eq!(one_sided_confidence((1.0, 0.0), (2.0, 0.0)), None);
    }
}
