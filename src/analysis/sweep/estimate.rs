//! Estimates the uncertainty of a mean of few runs by Student's t: with three runs the normal distribution understates
//! the interval by half.

use super::types::Estimate;
use crate::analysis::stats::student_quantile;

/// Half the width of a two-sided 95% interval in standard errors; `None` below one degree of freedom.
#[must_use]
pub fn t95(freedom: f64) -> Option<f64> {
    student_quantile(0.05, freedom)
}

impl Estimate {
    /// The mean of repeated runs; `None` without any, or if one of them is not a number.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Estimate> {
        if values.is_empty() {
            return None;
        }
        // Summed in the order of size, so that the order of the runs does not show.
        let mut values = values.to_vec();
        values.sort_unstable_by(f64::total_cmp);
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let error = (squares / (count - 1.0) / count).sqrt();
        let half = t95(count - 1.0).map(|t| t * error);
        let sound = mean.is_finite() && half.is_none_or(f64::is_finite);
        sound.then_some(Estimate { mean, half, runs: values.len() as u32 })
    }

    /// How far the mean may be off when it is judged: half the interval; for two runs, whose interval is meaningless,
    /// the range between them; zero for one run, so that fewer than three runs do not lead to high confidence.
    #[must_use]
    pub fn margin(&self) -> f64 {
        match self.runs {
            2 => self.error().map_or(0.0, |error| 2.0 * error),
            _ => self.half.unwrap_or(0.0),
        }
    }

    /// The standard error behind the interval; `None` with one run.
    #[must_use]
    pub fn error(&self) -> Option<f64> {
        Some(self.half? / t95(f64::from(self.runs) - 1.0)?)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_quantiles_are_those_of_the_tables() {
        for (freedom, expected) in [
            (1.0, 12.706_204_7),
            (2.0, 4.302_652_73),
            (4.0, 2.776_445_11),
            (10.0, 2.228_138_85),
            (30.0, 2.042_272_46),
            (1e12, 1.959_963_98),
            (f64::INFINITY, 1.959_963_98),
        ] {
            let found = t95(freedom).unwrap();
            assert!((found - expected).abs() < 1e-7, "{freedom}: {found}");
        }
    }

    #[test]
    fn less_than_one_degree_of_freedom_has_no_quantile() {
        for freedom in [0.0, 0.9, -1.0, f64::NAN] {
            assert_eq!(t95(freedom), None, "{freedom}");
        }
    }

    #[test]
    fn a_mean_has_an_interval_from_two_runs_on() {
        let three = Estimate::of(&[9.0, 10.0, 11.0]).unwrap();
        assert_eq!((three.mean, three.runs), (10.0, 3));
        assert!((three.half.unwrap() - 4.302_652_73 / 3.0_f64.sqrt()).abs() < 1e-7);
        assert!((three.error().unwrap() - 1.0 / 3.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(Estimate::of(&[5.0]).unwrap(), Estimate { mean: 5.0, half: None, runs: 1 });
    }

    #[test]
    fn two_runs_are_judged_by_their_range_and_one_by_nothing() {
        for (values, margin) in [(&[5.0][..], 0.0), (&[9.0, 11.0], 2.0), (&[9.0, 10.0, 11.0], 2.484_137_7)] {
            assert!((Estimate::of(values).unwrap().margin() - margin).abs() < 1e-6, "{values:?}");
        }
    }

    #[test]
    fn what_is_no_number_has_no_mean() {
        for values in [&[] as &[f64], &[f64::NAN], &[1.0, f64::INFINITY], &[f64::MAX, f64::MAX]] {
            assert_eq!(Estimate::of(values), None, "{values:?}");
        }
    }

    #[test]
    fn the_order_of_the_runs_does_not_show() {
        let values = [0.1, 0.7, 1e9, 0.3, 1e-9];
        let mut turned = values;
        turned.reverse();
        assert_eq!(Estimate::of(&values), Estimate::of(&turned));
    }
}
