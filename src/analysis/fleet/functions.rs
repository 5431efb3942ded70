//! The functions that cost the fleet the most CPU time.

use super::estimate::Estimate;
use super::ratio::RatioSums;
use super::rows::{sums, texts};
use crate::error::Result;
use crate::model::{Measure, ResultTable};
use serde::Serialize;

/// A function of any job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FunctionCost {
    /// Its name.
    pub function: String,
    /// The file it lies in.
    pub module: String,
    /// Jobs that run it.
    pub jobs: u64,
    /// Hosts that run it.
    pub hosts: u64,
    /// CPU time in its own code, seconds.
    pub cpu_s: f64,
    /// Samples in it.
    pub samples: u64,
    /// Its share of the CPU time in functions of the whole fleet, over all hosts with functions.
    pub share: Measure<Estimate>,
}

/// Functions in the order of `functions.sql`, the most CPU time first.
///
/// # Errors
/// If a column is absent or has the wrong type.
pub fn functions(table: &ResultTable) -> Result<Vec<FunctionCost>> {
    let [function, module] = texts(table, ["function", "module"])?;
    let [jobs, hosts, cpu_s, samples] = sums(table, ["jobs", "hosts", "cpu_s", "samples"])?;
    let share = RatioSums::columns(table, "share")?;
    let row = |at: usize| FunctionCost {
        function: function[at].clone(),
        module: module[at].clone(),
        jobs: jobs[at] as u64,
        hosts: hosts[at] as u64,
        cpu_s: cpu_s[at],
        samples: samples[at] as u64,
        share: share[at].estimate(),
    };
    Ok((0..table.rows).map(row).collect())
}
