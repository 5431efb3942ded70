//! Tests whether two values are the same in practice. Finding no difference shows nothing: there may have been too few
//! data to find it in. Only what was measured precisely enough can be equal.

use super::student::student_two_sided;

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
mod tests {
    use super::*;

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
