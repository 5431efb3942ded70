//! WSMeter's scheme (Lee et al., ASPLOS 2018): the performance of a cluster is the weighted sum of its jobs' means, its
//! variance the weighted sum of the variances of those means, and hosts are allotted where they reduce it most (Neyman).

use super::estimate::{TAILS, upper_tail};
use crate::analysis::stats::{combined, student_quantile};
use crate::model::{Measure, Why};

/// The sample of one job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stratum {
    /// The job's weight.
    pub weight: f64,
    /// Mean over hosts.
    pub mean: f64,
    /// Standard deviation over hosts.
    pub sd: f64,
    /// Hosts in the sample.
    pub hosts: f64,
}

/// A weighted sum of means with its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedPerformance {
    /// P = sum of weight times mean.
    pub value: f64,
    /// Standard error: the root of the sum of weight^2 sd^2 / hosts.
    pub error: f64,
    /// Degrees of freedom (Satterthwaite): many hosts make the test normal, few make it Student's.
    pub freedom: f64,
}

/// The performance of a cluster; `None` if a job has fewer than two hosts, or if nothing scatters.
#[must_use]
pub fn weighted_performance(strata: &[Stratum]) -> Option<WeightedPerformance> {
    let parts: Vec<(f64, f64)> =
        strata.iter().map(|one| ((one.weight * one.sd).powi(2) / one.hosts, one.hosts - 1.0)).collect();
    if parts.iter().any(|part| part.1 < 1.0) {
        return None;
    }
    let (error, freedom) = combined(&parts)?;
    Some(WeightedPerformance { value: strata.iter().map(|one| one.weight * one.mean).sum(), error, freedom })
}

/// The confidence that the second cluster performs better than the first, one-sided.
#[must_use]
pub fn better(base: &WeightedPerformance, new: &WeightedPerformance) -> Measure<f64> {
    let variances = [base, new].map(|one| (one.error * one.error, one.freedom));
    let p = combined(&variances).and_then(|(error, freedom)| upper_tail((new.value - base.value) / error, freedom));
    p.map_or(Measure::Missing(Why::TooFewHosts), |p| Measure::exact(1.0 - p))
}

/// Hosts of each job that bring the half width of the 95% interval to `precision` of the sum: the number of a job is
/// proportional to weight times deviation, and at least 2. `None` without a positive sum or precision.
#[must_use]
pub fn sample_sizes(strata: &[Stratum], precision: f64) -> Option<Vec<u64>> {
    let value: f64 = strata.iter().map(|one| one.weight * one.mean).sum();
    let z = student_quantile(TAILS, 1e9)?;
    let error = precision * value / z;
    if error.is_nan() || error <= 0.0 {
        return None;
    }
    let scatter: f64 = strata.iter().map(|one| one.weight * one.sd).sum();
    let needed = |one: &Stratum| (one.weight * one.sd * scatter / (error * error)).ceil().max(2.0) as u64;
    Some(strata.iter().map(needed).collect())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::stats::simulate::{Frequency, trials};
    use crate::analysis::stats::{Moments, Random};

    const JOBS: [(f64, f64, f64, usize); 3] = [(0.5, 1.2, 0.10, 40), (0.3, 0.8, 0.20, 15), (0.2, 2.0, 0.05, 6)];

    fn sample(random: &mut Random, gain: f64) -> WeightedPerformance {
        let strata: Vec<Stratum> = JOBS
            .iter()
            .map(|(weight, mean, sd, hosts)| {
                let values: Vec<f64> = (0..*hosts).map(|_| mean * gain * (1.0 + sd * random.normal())).collect();
                let found = Moments::of(&values).unwrap();
                Stratum { weight: *weight, mean: found.mean, sd: found.variance.unwrap().sqrt(), hosts: found.count }
            })
            .collect();
        weighted_performance(&strata).unwrap()
    }

    #[test]
    fn the_sum_has_the_published_form() {
        let one = Stratum { weight: 0.6, mean: 2.0, sd: 0.3, hosts: 9.0 };
        let other = Stratum { weight: 0.4, mean: 1.0, sd: 0.2, hosts: 4.0 };
        let found = weighted_performance(&[one, other]).unwrap();
        assert!((found.value - 1.6).abs() < 1e-12);
        assert!((found.error - (0.36 * 0.09 / 9.0 + 0.16 * 0.04 / 4.0_f64).sqrt()).abs() < 1e-12);
        assert_eq!(weighted_performance(&[one, Stratum { hosts: 1.0, ..other }]), None);
    }

    /// How often a cluster with this gain is judged better at 95%.
    fn judged_better(gain: f64, trials: u32) -> Frequency {
        let mut random = Random::new(11);
        let mut found = Frequency::default();
        for _ in 0..trials {
            let base = sample(&mut random, 1.0);
            found.count(*better(&base, &sample(&mut random, gain)).value().unwrap() > 0.95);
        }
        found
    }

    #[test]
    fn equal_clusters_seem_better_in_one_of_twenty_and_a_gain_is_found() {
        let (equal, gained) = (judged_better(1.0, 600), judged_better(1.07, 100));
        assert!((0.025..0.08).contains(&equal.part()), "{equal:?}");
        assert!(gained.part() > 0.8, "{gained:?}");
    }

    #[test]
    #[ignore = "a minute: cargo test --release -- --ignored calibration --nocapture"]
    fn calibration_of_fleet_wsmeter() {
        let equal = judged_better(1.0, trials());
        equal.report("fleet wsmeter, three jobs: equal clusters judged better", "5%");
        judged_better(1.07, trials()).report("fleet wsmeter, three jobs: a gain of 7% found", "at least 80%");
        assert!(equal.interval(0.01).0 < 0.055, "{equal:?}");
    }

    #[test]
    fn allotted_hosts_reach_the_precision_with_the_fewest() {
        let strata = JOBS.map(|(weight, mean, sd, _)| Stratum { weight, mean, sd: mean * sd, hosts: 0.0 });
        let sizes = sample_sizes(&strata, 0.02).unwrap();
        let error = |sizes: &[f64]| -> f64 {
            let parts = strata.iter().zip(sizes).map(|(one, n)| (one.weight * one.sd).powi(2) / n);
            parts.sum::<f64>().sqrt()
        };
        let sizes: Vec<f64> = sizes.iter().map(|size| *size as f64).collect();
        let value: f64 = strata.iter().map(|one| one.weight * one.mean).sum();
        assert!(1.96 * error(&sizes) <= 0.02 * value && 1.96 * error(&sizes) > 0.018 * value);
        let even = sizes.iter().sum::<f64>() / 3.0;
        assert!(error(&[even; 3]) > error(&sizes));
        assert_eq!(sample_sizes(&strata, 0.0), None);
    }
}
