//! Computes the smallest true difference that four of five such comparisons find.

use super::student::student_quantile;

/// The share of comparisons that must find it.
const POWER: f64 = 0.8;

/// The smallest detectable difference, in the unit of `error`, its standard error; `tails` is how often chance alone
/// may pass for a difference. `None` below one degree of freedom.
#[must_use]
pub fn detectable(error: f64, freedom: f64, tails: f64) -> Option<f64> {
    let limit = student_quantile(tails, freedom)?;
    // The estimate is itself off by t standard errors.
    let reach = student_quantile(2.0 * (1.0 - POWER), freedom)?;
    let found = (limit + reach) * error;
    found.is_finite().then_some(found)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::stats::special::{ln_gamma, normal_cdf};

    /// The smallest difference of two means, in standard deviations, that `n` values a side find with a power of 0.8 at
    /// 0.05, by the noncentral t; `None` below two.
    fn cohen_d(n: u32) -> Option<f64> {
        let n = f64::from(n);
        let freedom = 2.0 * n - 2.0;
        let limit = student_quantile(0.05, freedom)?;
        let power = |d: f64| {
            let away = d * (n / 2.0).sqrt();
            1.0 - noncentral(limit, freedom, away) + noncentral(-limit, freedom, away)
        };
        let (mut low, mut high) = (0.0, 1.0);
        while power(high) < POWER && high < 1e6 {
            high *= 2.0;
        }
        for _ in 0..50 {
            let middle = f64::midpoint(low, high);
            if power(middle) < POWER { low = middle } else { high = middle }
        }
        Some(f64::midpoint(low, high))
    }

    /// The distribution of t around `away`: the normal one averaged over every possible scatter.
    fn noncentral(t: f64, freedom: f64, away: f64) -> f64 {
        const STEPS: u32 = 2000;
        // The density of s, the scatter over its true size: chi with `freedom` degrees over its root.
        let ln_front = (freedom / 2.0) * (freedom / 2.0).ln() - ln_gamma(freedom / 2.0) + std::f64::consts::LN_2;
        let density = |s: f64| (ln_front + (freedom - 1.0) * s.ln() - freedom * s * s / 2.0).exp();
        let end = 1.0 + 12.0 / freedom.sqrt();
        let step = end / f64::from(STEPS);
        let sum: f64 =
            (0..STEPS).map(|at| (f64::from(at) + 0.5) * step).map(|s| density(s) * normal_cdf(t * s - away)).sum();
        sum * step
    }

    #[test]
    fn the_published_sizes_come_out() {
        for (n, d) in [(5, 2.0244), (10, 1.3249), (20, 0.9091)] {
            assert!((cohen_d(n).unwrap() - d).abs() < 5e-5, "{n}: {:?}", cohen_d(n));
        }
        assert_eq!(cohen_d(1), None);
    }

    #[test]
    fn many_degrees_of_freedom_give_the_normal_approximation_and_few_need_more() {
        // (1.95996 + 0.84162) sqrt(2 / n) for a scatter of 1.
        for (n, d) in [(5.0_f64, 1.7719), (10.0, 1.2529), (20.0, 0.8859)] {
            let error = (2.0 / n).sqrt();
            assert!((detectable(error, 1e9, 0.05).unwrap() - d).abs() < 5e-5);
            let exact = cohen_d(n as u32).unwrap();
            let found = detectable(error, 2.0 * n - 2.0, 0.05).unwrap();
            assert!(found > d && (found / exact - 1.0).abs() < 0.02, "{found} against {exact}");
        }
        assert_eq!(detectable(1.0, 0.3, 0.05), None);
    }
}
