//! Neighbours whose CPU use moves with a job's cost, over all hosts that both run on. A slope is an association within
//! hosts: it is the neighbour's doing only if nothing else, such as the hour, drives both.

use super::estimate::{Estimate, StandardError, above_zero};
use super::rows::{numbers, sums, texts};
use crate::analysis::stats::benjamini_hochberg;
use crate::error::Result;
use crate::model::{Measure, ResultTable, Why};
use serde::Serialize;

/// A job and a neighbour.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Suspect {
    /// The job that suffers.
    pub job: String,
    /// The quantity: `cpi` or `cpu_s_per_op`.
    pub measure: String,
    /// The neighbour.
    pub neighbour: String,
    /// Hosts that both ran on.
    pub hosts: u64,
    /// Windows of the job on them.
    pub windows: u64,
    /// CPUs that the neighbour used in the mean.
    pub used: f64,
    /// By which share of its mean the job gets dearer for each CPU that the neighbour uses.
    pub slope: Measure<Estimate>,
    /// The share of the job's mean that the neighbour causes: slope times mean use.
    pub share: Measure<Estimate>,
    /// Correlation of use and value within hosts.
    pub correlation: Measure<f64>,
    /// CPI2's score, the mean over hosts; 0.35 is its limit.
    pub score: Measure<f64>,
    /// The probability of so steep a slope by chance, one-sided.
    pub p: Measure<f64>,
    /// The same corrected for the number of pairs (Benjamini-Hochberg).
    pub p_corrected: Measure<f64>,
}

/// A pair is reported below this probability by chance, corrected for the number of pairs.
const LIMIT: f64 = 0.05;

impl Suspect {
    /// Whether the job gets dearer with the neighbour's use beyond chance.
    #[must_use]
    pub fn is_beyond_chance(&self) -> bool {
        self.p_corrected.value().is_some_and(|p| *p < LIMIT)
    }
}

/// Sums over hosts of the products of a host's sums.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct SlopeSums {
    hosts: f64,
    sxy: f64,
    sxx: f64,
    sxy_sxy: f64,
    sxy_sxx: f64,
    sxx_sxx: f64,
}

impl SlopeSums {
    /// The slope with its error, clustered by host. Hosts on which the neighbour's use varies more weigh more, so the
    /// sample is the number of equal hosts that would weigh as much together: H if all are alike.
    fn slope(&self) -> Option<(f64, Option<StandardError>)> {
        let slope = self.sxy / self.sxx;
        if !(self.sxx > 0.0 && slope.is_finite()) {
            return None;
        }
        let squares = self.sxy_sxy - 2.0 * slope * self.sxy_sxx + slope * slope * self.sxx_sxx;
        let equal = (self.sxx * self.sxx / self.sxx_sxx).min(self.hosts).max(2.0);
        let error = (squares.max(0.0) * equal / (equal - 1.0)).sqrt() / self.sxx;
        let known = self.hosts > 1.0 && error.is_finite();
        Some((slope, known.then_some(StandardError { error, freedom: equal - 1.0 })))
    }
}

/// Pairs of `suspects.sql`, the least probable by chance first.
///
/// # Errors
/// If a column is absent or has the wrong type.
pub fn suspects(table: &ResultTable) -> Result<Vec<Suspect>> {
    let [job, measure, neighbour] = texts(table, ["job", "measure", "neighbour"])?;
    let [hosts, windows, used] = sums(table, ["hosts", "windows", "used"])?;
    let [sxy, sxx, syy] = sums(table, ["sxy", "sxx", "syy"])?;
    let [sxy_sxy, sxy_sxx, sxx_sxx] = sums(table, ["sxy_sxy", "sxy_sxx", "sxx_sxx"])?;
    let [score] = numbers(table, ["score"])?;
    let mut all = Vec::new();
    for at in 0..table.rows {
        let sums = SlopeSums {
            hosts: hosts[at],
            sxy: sxy[at],
            sxx: sxx[at],
            sxy_sxy: sxy_sxy[at],
            sxy_sxx: sxy_sxx[at],
            sxx_sxx: sxx_sxx[at],
        };
        let fit = sums.slope();
        let slope = match fit {
            Some((slope, error)) => Measure::exact(Estimate::new(slope, error, hosts[at])),
            None => Measure::Missing(Why::Unvarying),
        };
        let correlation = sxy[at] / (sxx[at] * syy[at]).sqrt();
        all.push(Suspect {
            job: job[at].clone(),
            measure: measure[at].clone(),
            neighbour: neighbour[at].clone(),
            hosts: hosts[at] as u64,
            windows: windows[at] as u64,
            used: used[at],
            slope,
            share: slope.map(|slope| slope.through(|slope| slope * used[at])),
            correlation: if correlation.is_finite() {
                Measure::exact(correlation)
            } else {
                Measure::Missing(Why::Unvarying)
            },
            score: score[at].map_or(Measure::Missing(Why::Idle), Measure::exact),
            p: fit.map_or(Measure::Missing(Why::Unvarying), |(slope, error)| above_zero(slope, error)),
            p_corrected: Measure::Missing(Why::TooFewHosts),
        });
    }
    correct(&mut all);
    let order = |one: &Suspect| one.p.value().copied().unwrap_or(2.0);
    all.sort_by(|a, b| order(a).total_cmp(&order(b)));
    Ok(all)
}

fn correct(all: &mut [Suspect]) {
    let p: Vec<f64> = all.iter().map(|one| one.p.value().copied().unwrap_or(f64::NAN)).collect();
    for (one, corrected) in all.iter_mut().zip(benjamini_hochberg(&p)) {
        one.p_corrected = one.p.map(|_| corrected);
    }
}

#[cfg(test)]
#[path = "tests/suspects.rs"]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests;
