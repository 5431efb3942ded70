//! Mean, scatter and autocorrelation of a series of values. Values are not dropped: a non-finite one leaves no moments.

/// Mean and scatter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    /// Number of values.
    pub count: f64,
    /// Their mean.
    pub mean: f64,
    /// Their variance, unbiased; `None` for a single value.
    pub variance: Option<f64>,
}

impl Moments {
    /// The moments; `None` without values, or if one is not finite.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Moments> {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let variance = (values.len() > 1).then(|| squares / (count - 1.0));
        (mean.is_finite() && squares.is_finite()).then_some(Moments { count, mean, variance })
    }
}

/// The correlation of each value with the one before it, -1 to 1; 0 if nothing scatters.
#[must_use]
pub fn autocorrelation(values: &[f64]) -> f64 {
    let Some(Moments { mean, .. }) = Moments::of(values) else { return 0.0 };
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let products: f64 = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    if squares > 0.0 { (products / squares).clamp(-1.0, 1.0) } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_that_drifts_follows_the_value_before_and_one_that_jumps_opposes_it() {
        let drift: Vec<f64> = (0..40).map(f64::from).collect();
        let jumps: Vec<f64> = (0..40).map(|at| f64::from(at % 2)).collect();
        assert!(autocorrelation(&drift) > 0.9);
        assert!(autocorrelation(&jumps) < -0.9);
        assert_eq!(autocorrelation(&[3.0; 9]), 0.0);
    }

    #[test]
    fn a_value_that_is_no_number_leaves_none() {
        for values in [&[][..], &[1.0, f64::NAN], &[f64::INFINITY]] {
            assert_eq!(Moments::of(values), None);
        }
        assert_eq!(Moments::of(&[2.0]), Some(Moments { count: 1.0, mean: 2.0, variance: None }));
    }
}
