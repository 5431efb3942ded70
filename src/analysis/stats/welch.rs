//! Welch's t: whether the means of two groups differ, whose scatter need not be the same.

/// The standard error of a sum or difference of independent means, with its degrees of freedom, from the variance and
/// the degrees of freedom of each mean; `None` if nothing scatters.
pub(in crate::analysis) fn combined(parts: &[(f64, f64)]) -> Option<(f64, f64)> {
    let variance: f64 = parts.iter().map(|part| part.0).sum();
    // Relative to the whole: squares of tiny variances would underflow.
    let spent: f64 = parts.iter().map(|(of, freedom)| (of / variance).powi(2) / freedom).sum();
    let freedom = 1.0 / spent;
    (variance > 0.0 && variance.is_finite() && !freedom.is_nan()).then(|| (variance.sqrt(), freedom))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
pub(super) mod tests {
    use super::super::series::Moments;
    use super::super::student::student_two_sided;
    use super::*;

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
}
