//! The score of CPI2 (Zhang et al., EuroSys 2013): how far a suspect's use coincides with a victim's high values.

/// The score of a suspect, from -1 to 1: `values` of the victim with the `threshold` above which they are abnormal, and
/// the suspect's use in the same windows. `None` if the suspect used nothing or the threshold is not positive.
#[must_use]
pub fn cpi2_score(values: &[f64], used: &[f64], threshold: f64) -> Option<f64> {
    let all: f64 = used.iter().sum();
    if !(all > 0.0 && threshold > 0.0) || values.len() != used.len() {
        return None;
    }
    let one = |(value, used): (&f64, &f64)| {
        let excess = if *value > threshold { 1.0 - threshold / value } else { value / threshold - 1.0 };
        used / all * excess
    };
    Some(values.iter().zip(used).map(one).sum())
}

/// Mean, variance and number of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PooledSpec {
    /// Number of values.
    pub count: f64,
    /// Their mean.
    pub mean: f64,
    /// Their population variance.
    pub variance: f64,
}

impl PooledSpec {
    /// The spec of both sets of values together.
    #[must_use]
    pub fn merged(&self, other: &PooledSpec) -> PooledSpec {
        let count = self.count + other.count;
        let mean = (self.count * self.mean + other.count * other.mean) / count;
        let part = |one: &PooledSpec| one.count * (one.variance + (one.mean - mean).powi(2));
        PooledSpec { count, mean, variance: (part(self) + part(other)) / count }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_published_scores_come_out() {
        for (values, used, score) in [
            (vec![1.0, 2.0, 4.0, 1.0], vec![0.0, 1.0, 3.0, 0.0], 0.53125),
            (vec![1.0, 2.0, 4.0, 1.0], vec![3.0, 0.0, 0.0, 3.0], -0.333_333_333_3),
            (vec![3.0, 3.0, 3.0], vec![1.0, 1.0, 1.0], 0.5),
        ] {
            assert!((cpi2_score(&values, &used, 1.5).unwrap() - score).abs() < 1e-9, "{values:?}");
        }
        // Use counts in shares of its sum: 9, 8, ..., 0 are n / 45.
        let used: Vec<f64> = (0..10).rev().map(f64::from).collect();
        for (at, use_) in used.iter().enumerate() {
            let values: Vec<f64> = (0..10).map(|other| if other == at { 3.0 } else { 1.5 }).collect();
            assert!((cpi2_score(&values, &used, 1.5).unwrap() - use_ / 45.0 * 0.5).abs() < 1e-12);
        }
        assert_eq!(cpi2_score(&[1.0], &[0.0], 1.5), None);
    }

    #[test]
    fn a_merged_spec_is_that_of_all_values() {
        let spec = |values: &[f64]| {
            let count = values.len() as f64;
            let mean = values.iter().sum::<f64>() / count;
            let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
            PooledSpec { count, mean, variance }
        };
        let merged = spec(&[1.0, 2.0, 4.0]).merged(&spec(&[3.0, 8.0]));
        let whole = spec(&[1.0, 2.0, 4.0, 3.0, 8.0]);
        assert!((merged.mean - whole.mean).abs() < 1e-12 && (merged.variance - whole.variance).abs() < 1e-12);
    }
}
