//! A ratio of two totals over hosts, e.g. CPU time per operation. Its error is linearised: the residual of a host is
//! y - ratio * x, and hosts are the sample.

use super::estimate::{Estimate, StandardError};
use super::rows::sums;
use crate::error::Result;
use crate::model::{Measure, ResultTable, Why};

/// Sums over hosts of each host's totals.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct RatioSums {
    pub hosts: f64,
    pub y: f64,
    pub x: f64,
    pub yy: f64,
    pub yx: f64,
    pub xx: f64,
}

impl RatioSums {
    /// The columns `NAME_hosts`, `NAME_y`, `NAME_x`, `NAME_yy`, `NAME_yx` and `NAME_xx` of each row.
    pub fn columns(table: &ResultTable, name: &str) -> Result<Vec<RatioSums>> {
        let names = ["hosts", "y", "x", "yy", "yx", "xx"].map(|part| format!("{name}_{part}"));
        let [hosts, y, x, yy, yx, xx] = sums(table, names.each_ref().map(String::as_str))?;
        let row = |at: usize| RatioSums { hosts: hosts[at], y: y[at], x: x[at], yy: yy[at], yx: yx[at], xx: xx[at] };
        Ok((0..table.rows).map(row).collect())
    }

    /// Adds the totals of one host.
    #[cfg(test)]
    pub fn add(&mut self, y: f64, x: f64) {
        self.hosts += 1.0;
        self.y += y;
        self.x += x;
        self.yy += y * y;
        self.yx += y * x;
        self.xx += x * x;
    }

    /// The standard error of the ratio; `None` for a single host.
    pub fn error(&self) -> Option<StandardError> {
        let ratio = self.y / self.x;
        let residuals = (self.yy - 2.0 * ratio * self.yx + ratio * ratio * self.xx).max(0.0);
        let spread = self.hosts / (self.hosts - 1.0);
        let error = (spread * residuals).sqrt() / self.x;
        (self.hosts > 1.0 && error.is_finite()).then_some(StandardError { error, freedom: self.hosts - 1.0 })
    }

    /// The ratio with its interval; missing if no host counted it, or if the divisor is zero.
    pub fn estimate(&self) -> Measure<Estimate> {
        if self.hosts < 1.0 {
            return Measure::Missing(Why::NotRecorded);
        }
        let ratio = self.y / self.x;
        if self.x <= 0.0 || !ratio.is_finite() {
            return Measure::Missing(Why::Idle);
        }
        Measure::exact(Estimate::new(ratio, self.error(), self.hosts))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn hosts_with_the_same_divisor_give_the_interval_of_a_mean() {
        let mut sums = RatioSums::default();
        [2.0, 4.0, 6.0].iter().for_each(|y| sums.add(*y, 2.0));
        let found = *sums.estimate().value().unwrap();
        // Mean 2, standard deviation 1, error 1 / sqrt 3, t of two degrees 4.302653.
        let (low, high) = *found.interval.value().unwrap();
        assert_eq!((found.value, found.hosts), (2.0, 3));
        assert!((high - 2.0 - 4.302_652_73 / 3.0_f64.sqrt()).abs() < 1e-7 && (low + high - 4.0).abs() < 1e-12);
    }

    #[test]
    fn one_host_has_no_interval_and_none_no_ratio() {
        let mut sums = RatioSums::default();
        assert_eq!(sums.estimate(), Measure::Missing(Why::NotRecorded));
        sums.add(3.0, 2.0);
        assert_eq!(sums.estimate().value().unwrap().interval, Measure::Missing(Why::TooFewHosts));
        let idle = RatioSums { hosts: 2.0, ..RatioSums::default() };
        assert_eq!(idle.estimate(), Measure::Missing(Why::Idle));
    }
}
