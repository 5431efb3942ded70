//! Jobs by cost: each job on each platform with its share of the fleet's CPU time and the factors of its cost.

use super::estimate::Estimate;
use super::ratio::RatioSums;
use super::rows::{sums, texts};
use crate::error::Result;
use crate::model::{Measure, ResultTable};
use serde::Serialize;

/// A job on a platform.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JobCost {
    /// The job.
    pub job: String,
    /// The CPU model.
    pub platform: String,
    /// Hosts that it ran on.
    pub hosts: u64,
    /// Its windows.
    pub windows: u64,
    /// CPU time, seconds.
    pub cpu_s: f64,
    /// Its share of the CPU time of all jobs in the data set; a count, so it has no interval.
    pub share: f64,
    /// CPU seconds per operation.
    pub cpu_s_per_op: Measure<Estimate>,
    /// Cycles per instruction.
    pub cpi: Measure<Estimate>,
    /// Instructions per operation.
    pub instructions_per_op: Measure<Estimate>,
    /// Last-level-cache misses per 1,000 instructions.
    pub llc_mpki: Measure<Estimate>,
}

/// Jobs in the order of `jobs.sql`, the most CPU time first.
///
/// # Errors
/// If a column is absent or has the wrong type.
pub fn jobs(table: &ResultTable) -> Result<Vec<JobCost>> {
    let [job, platform] = texts(table, ["job", "platform"])?;
    let [hosts, windows, cpu_s] = sums(table, ["hosts", "windows", "cpu_s"])?;
    let [cost, cpi, path, misses] = ["cost", "cpi", "path", "misses"].map(|name| RatioSums::columns(table, name));
    let (cost, cpi, path, misses) = (cost?, cpi?, path?, misses?);
    let fleet: f64 = cpu_s.iter().sum();
    let row = |at: usize| JobCost {
        job: job[at].clone(),
        platform: platform[at].clone(),
        hosts: hosts[at] as u64,
        windows: windows[at] as u64,
        cpu_s: cpu_s[at],
        share: if fleet > 0.0 { cpu_s[at] / fleet } else { 0.0 },
        cpu_s_per_op: cost[at].estimate(),
        cpi: cpi[at].estimate(),
        instructions_per_op: path[at].estimate(),
        llc_mpki: misses[at].estimate().map(|misses| misses.through(|misses| 1000.0 * misses)),
    };
    Ok((0..table.rows).map(row).collect())
}
