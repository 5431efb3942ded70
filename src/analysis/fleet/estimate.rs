//! An estimate over hosts with its 95% interval.

use crate::analysis::stats::{student_quantile, student_two_sided};
use crate::model::{Measure, Why};
use serde::Serialize;

/// How often an interval misses the true value.
pub(super) const TAILS: f64 = 0.05;

/// A standard error with its degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct StandardError {
    pub error: f64,
    pub freedom: f64,
}

/// A number estimated over a sample of hosts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// Its 95% interval.
    pub interval: Measure<(f64, f64)>,
    /// Hosts in the sample.
    pub hosts: u64,
}

impl Estimate {
    /// An estimate with Student's interval; without an error, too few hosts are the reason.
    pub(super) fn new(value: f64, error: Option<StandardError>, hosts: f64) -> Estimate {
        let half = error.and_then(|error| Some(error.error * student_quantile(TAILS, error.freedom)?));
        let interval = match half.filter(|half| half.is_finite()) {
            Some(half) => Measure::exact((value - half, value + half)),
            None => Measure::Missing(Why::TooFewHosts),
        };
        Estimate { value, interval, hosts: hosts as u64 }
    }

    /// The estimate under an increasing or decreasing function.
    pub(super) fn through(self, f: impl Fn(f64) -> f64) -> Estimate {
        let ends = |(low, high): (f64, f64)| {
            let (a, b) = (f(low), f(high));
            (a.min(b), a.max(b))
        };
        Estimate { value: f(self.value), interval: self.interval.map(ends), hosts: self.hosts }
    }
}

/// The probability of a t at least this large by chance, one-sided; `None` below one degree of freedom.
pub(super) fn upper_tail(t: f64, freedom: f64) -> Option<f64> {
    let half = student_two_sided(t, freedom)? / 2.0;
    Some(if t > 0.0 { half } else { 1.0 - half })
}

/// The probability of an estimate this far above zero by chance, one-sided.
pub(super) fn above_zero(value: f64, error: Option<StandardError>) -> Measure<f64> {
    let p = error.and_then(|error| upper_tail(value / error.error, error.freedom));
    p.map_or(Measure::Missing(Why::TooFewHosts), Measure::exact)
}

/// The probability of an estimate this far from zero by chance, two-sided.
pub(super) fn two_sided(value: f64, error: Option<StandardError>) -> Measure<f64> {
    let p = error.and_then(|error| upper_tail(value.abs() / error.error, error.freedom));
    p.map_or(Measure::Missing(Why::TooFewHosts), |p| Measure::exact(2.0 * p))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_students_and_turns_with_a_decreasing_function() {
        let error = StandardError { error: 0.1, freedom: 4.0 };
        let found = Estimate::new(2.0, Some(error), 5.0);
        let (low, high) = *found.interval.value().unwrap();
        assert!((low - (2.0 - 0.277_644_5)).abs() < 1e-6 && (high - 2.277_644_5).abs() < 1e-6);
        let inverse = found.through(|value| 1.0 / value);
        assert_eq!(inverse.interval.value(), Some(&(1.0 / high, 1.0 / low)));
        assert_eq!(Estimate::new(2.0, None, 1.0).interval, Measure::Missing(Why::TooFewHosts));
    }

    #[test]
    fn one_side_of_t_is_half_of_both() {
        assert!((upper_tail(2.776_445_1, 4.0).unwrap() - 0.025).abs() < 1e-8);
        assert!((upper_tail(-2.776_445_1, 4.0).unwrap() - 0.975).abs() < 1e-8);
        assert_eq!(above_zero(1.0, None), Measure::Missing(Why::TooFewHosts));
    }
}
