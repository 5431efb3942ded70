//! How far a mean of few runs can be trusted: Student's t, because with three runs the normal distribution flatters by half.
//! It never weighs or drops a run.

use super::types::Estimate;
use crate::analysis::stats::special::incomplete_beta;

/// The 97.5% quantile of the normal distribution, where t ends up with many degrees of freedom.
const NORMAL: f64 = 1.959_963_984_540_054;
/// From here on the expansion around the normal distribution is better than 1e-9.
const MANY: f64 = 200.0;

/// Half the width of a two-sided 95% interval in standard errors; `None` below one degree of freedom.
#[must_use]
pub fn t95(freedom: f64) -> Option<f64> {
    if freedom.is_nan() || freedom < 1.0 {
        return None;
    }
    if freedom > MANY {
        return Some(expansion(freedom));
    }
    // The tails beyond t hold I_x(v/2, 1/2) with x = v / (v + t^2), and less the larger t is.
    let tails = |t: f64| incomplete_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5);
    let (mut low, mut high) = (1.9, 13.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if tails(middle) > 0.05 { low = middle } else { high = middle }
    }
    Some(f64::midpoint(low, high))
}

/// Cornish-Fisher's expansion of t around the normal quantile.
fn expansion(freedom: f64) -> f64 {
    let z = NORMAL;
    let first = (z.powi(3) + z) / 4.0;
    let second = (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / 96.0;
    let third = (3.0 * z.powi(7) + 19.0 * z.powi(5) + 17.0 * z.powi(3) - 15.0 * z) / 384.0;
    z + first / freedom + second / freedom.powi(2) + third / freedom.powi(3)
}

impl Estimate {
    /// The mean of repeated runs; `None` without any, or if one of them is no number.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Estimate> {
        if values.is_empty() {
            return None;
        }
        // Summed in the order of size, so that the order of the runs cannot show.
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

    /// How far the mean may be off when it is judged: half the interval; of two runs, whose interval says nothing, the range
    /// between them; nothing with one run, so that fewer than three runs never make for high confidence.
    #[must_use]
    pub fn margin(&self) -> f64 {
        match self.runs {
            2 => self.error().map_or(0.0, |error| 2.0 * error),
            _ => self.half.unwrap_or(0.0),
        }
    }

    /// The standard error that the interval stands for; `None` with one run.
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
    fn the_expansion_takes_over_without_a_step() {
        let (below, above) = (t95(MANY).unwrap(), t95(MANY + 1e-9).unwrap());
        assert!((below - above).abs() < 1e-9, "{below} {above}");
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
