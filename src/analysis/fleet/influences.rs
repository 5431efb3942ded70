//! How a job's CPI and its last-level-cache misses follow what its neighbours use, at the same use of its own: a
//! regression of deviations within hosts. CPI and misses that both rise point to the last-level cache.

use super::estimate::{Estimate, above_zero};
use super::least_squares::{Fit, HostSums};
use super::rows::{numbers, runs, sums, texts};
use crate::analysis::stats::benjamini_hochberg;
use crate::error::Result;
use crate::model::{Measure, ResultTable, Why};
use serde::Serialize;

/// A rise counts as found below this probability by chance, corrected for the number of jobs.
const LIMIT: f64 = 0.05;

/// A job on a platform.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NeighbourInfluence {
    /// The job.
    pub job: String,
    /// The CPU model.
    pub platform: String,
    /// Hosts with at least ten windows.
    pub hosts: u64,
    /// Their windows.
    pub windows: u64,
    /// Cycles per instruction.
    pub cpi: Sensitivity,
    /// Last-level-cache misses per 1,000 instructions, over the hosts that counted them in all windows.
    pub llc_mpki: Sensitivity,
    /// What follows.
    pub interference: Measure<Interference>,
}

/// How a quantity follows CPU use.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Sensitivity {
    /// The mean over windows.
    pub mean: Measure<f64>,
    /// By which share of the mean it rises for each CPU that the job uses.
    pub own: Measure<Estimate>,
    /// By which share of the mean it rises for each CPU that its neighbours use.
    pub neighbours: Measure<Estimate>,
    /// The probability of so large a rise by the neighbours by chance, one-sided.
    pub p: Measure<f64>,
    /// The same corrected for the number of jobs (Benjamini-Hochberg).
    pub p_corrected: Measure<f64>,
}

/// What neighbours do to a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Interference {
    /// CPI does not demonstrably rise with the neighbours' use.
    NotFound,
    /// CPI and last-level-cache misses rise.
    LastLevelCache,
    /// CPI rises, misses do not demonstrably: memory bandwidth, frequency, or a sibling of the core.
    Elsewhere,
    /// CPI rises; misses were not counted.
    CacheNotCounted,
}

/// Jobs of `influences.sql`.
///
/// # Errors
/// If a column is absent or has the wrong type.
pub fn influences(table: &ResultTable) -> Result<Vec<NeighbourInfluence>> {
    let [job, platform] = texts(table, ["job", "platform"])?;
    let [windows, cpi, mpki, mpki_windows] = sums(table, ["windows", "cpi", "mpki", "mpki_windows"])?;
    let [saa, sab, sbb] = sums(table, ["saa", "sab", "sbb"])?;
    let [sa_cpi, sb_cpi, sa_mpki, sb_mpki] = numbers(table, ["sa_cpi", "sb_cpi", "sa_mpki", "sb_mpki"])?;
    let mut all = Vec::new();
    for rows in runs(table.rows, |at| (&job[at], &platform[at])) {
        let hosts = |sa: &[Option<f64>], sb: &[Option<f64>]| -> Vec<HostSums<2>> {
            let one = |at: usize| {
                let matrix = [[saa[at], sab[at]], [sab[at], sbb[at]]];
                Some(HostSums { group: 0, matrix, products: [sa[at]?, sb[at]?], level: [0.0; 2] })
            };
            rows.clone().filter_map(one).collect()
        };
        let sum = |of: &[f64]| of[rows.clone()].iter().sum::<f64>();
        all.push(NeighbourInfluence {
            job: job[rows.start].clone(),
            platform: platform[rows.start].clone(),
            hosts: rows.len() as u64,
            windows: sum(&windows) as u64,
            cpi: sensitivity(&hosts(&sa_cpi, &sb_cpi), sum(&cpi) / sum(&windows)),
            llc_mpki: sensitivity(&hosts(&sa_mpki, &sb_mpki), sum(&mpki) / sum(&mpki_windows)),
            interference: Measure::Missing(Why::TooFewHosts),
        });
    }
    correct(&mut all, |one| &mut one.cpi);
    correct(&mut all, |one| &mut one.llc_mpki);
    for one in &mut all {
        one.interference = one.cpi.p_corrected.map(|p| match one.llc_mpki.p_corrected.value() {
            _ if p >= LIMIT => Interference::NotFound,
            Some(misses) if *misses < LIMIT => Interference::LastLevelCache,
            Some(_) => Interference::Elsewhere,
            None => Interference::CacheNotCounted,
        });
    }
    Ok(all)
}

fn sensitivity(hosts: &[HostSums<2>], mean: f64) -> Sensitivity {
    let missing = |why| Sensitivity {
        mean: if mean.is_finite() && !hosts.is_empty() { Measure::exact(mean) } else { Measure::Missing(why) },
        own: Measure::Missing(why),
        neighbours: Measure::Missing(why),
        p: Measure::Missing(why),
        p_corrected: Measure::Missing(why),
    };
    if hosts.is_empty() || mean.is_nan() {
        return missing(Why::NotRecorded);
    }
    if mean <= 0.0 {
        return missing(Why::Idle);
    }
    let Some(fit) = Fit::of(hosts, [true; 2]) else { return missing(Why::Unvarying) };
    let own = fit.error(|slope| slope[0], [1.0, 0.0]);
    let error = fit.error(|slope| slope[1], [0.0, 1.0]);
    let share = |slope: f64, error| {
        Measure::exact(Estimate::new(slope, error, hosts.len() as f64).through(|slope| slope / mean))
    };
    let p = above_zero(fit.coefficients[1], error);
    Sensitivity {
        mean: Measure::exact(mean),
        own: share(fit.coefficients[0], own),
        neighbours: share(fit.coefficients[1], error),
        p,
        p_corrected: p,
    }
}

fn correct(all: &mut [NeighbourInfluence], of: impl Fn(&mut NeighbourInfluence) -> &mut Sensitivity) {
    let p: Vec<f64> = all.iter_mut().map(|one| of(one).p.value().copied().unwrap_or(f64::NAN)).collect();
    for (one, corrected) in all.iter_mut().zip(benjamini_hochberg(&p)) {
        let one = of(one);
        one.p_corrected = one.p.map(|_| corrected);
    }
}

#[cfg(test)]
#[path = "tests/influences.rs"]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests;
