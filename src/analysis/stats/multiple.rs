//! Corrects p for many tests, some of which would be small by chance. A p that is not a number stays so in the result.

use super::student::student_two_sided;

/// Holm's correction, for verdicts: limits the probability of even one false positive.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let order = ascending(p);
    let mut out = vec![f64::NAN; p.len()];
    let mut largest = 0.0_f64;
    for (rank, at) in order.iter().enumerate() {
        largest = largest.max(p[*at] * (order.len() - rank) as f64).min(1.0);
        out[*at] = largest;
    }
    out
}

/// Benjamini and Hochberg's correction, for lists: limits the share of false positives among those picked.
#[must_use]
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let order = ascending(p);
    let mut out = vec![f64::NAN; p.len()];
    let mut least = 1.0_f64;
    for (rank, at) in order.iter().enumerate().rev() {
        least = least.min(p[*at] * order.len() as f64 / (rank + 1) as f64);
        out[*at] = least;
    }
    out
}

/// The probability of differences as large as these by chance, each with its standard error and degrees of freedom:
/// Student's t, two-sided, corrected for their number (Benjamini-Hochberg).
pub(in crate::analysis) fn corrected(differences: &[(f64, f64, f64)]) -> Vec<f64> {
    let p = differences
        .iter()
        .map(|(difference, error, freedom)| student_two_sided(difference / error, *freedom).unwrap_or(f64::NAN));
    benjamini_hochberg(&p.collect::<Vec<_>>())
}

/// The positions of the numbers, by size; NaN is left out.
fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).filter(|at| !p[*at].is_nan()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    const P: [f64; 10] = [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216];

    #[test]
    fn the_published_example_comes_out_whatever_its_order() {
        let fdr = [0.01, 0.04, 0.084, 0.084, 0.084, 0.1, 0.1057, 0.216, 0.216, 0.216];
        let family = [0.01, 0.072, 0.312, 0.312, 0.312, 0.312, 0.312, 0.615, 0.615, 0.615];
        for (correct, expected) in [(benjamini_hochberg as fn(&[f64]) -> Vec<f64>, fdr), (holm, family)] {
            let mut reversed: Vec<f64> = P.iter().rev().copied().collect();
            let found = correct(&P);
            reversed = correct(&reversed);
            reversed.reverse();
            for ((found, reversed), expected) in found.iter().zip(&reversed).zip(expected) {
                assert!((found - expected).abs() < 5e-5 && found == reversed, "{found} {reversed} {expected}");
            }
        }
    }

    #[test]
    fn what_is_no_number_takes_no_part() {
        let found = holm(&[0.01, f64::NAN, 0.02]);
        assert!((found[0] - 0.02).abs() < 1e-12 && found[1].is_nan() && (found[2] - 0.02).abs() < 1e-12);
        assert!(benjamini_hochberg(&[]).is_empty());
    }
}
