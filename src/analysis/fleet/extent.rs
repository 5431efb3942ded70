//! How much a data set holds, and its alarms.

use super::rows::{sums, texts};
use crate::error::Result;
use crate::model::ResultTable;
use serde::Serialize;

/// How much there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Extent {
    /// Windows.
    pub windows: u64,
    /// Hosts.
    pub hosts: u64,
    /// Jobs.
    pub jobs: u64,
    /// CPU models.
    pub platforms: u64,
    /// Start of the first window, seconds since the Unix epoch.
    pub first_s: i64,
    /// End of the last one.
    pub last_s: i64,
    /// CPU time of all jobs, seconds.
    pub cpu_s: f64,
}

/// The answer of `extent.sql`.
///
/// # Errors
/// If a column is absent or has the wrong type.
pub fn extent(table: &ResultTable) -> Result<Extent> {
    let [windows, hosts, jobs, platforms] = sums(table, ["windows", "hosts", "jobs", "platforms"])?;
    let [first, last, cpu] = sums(table, ["first_s", "last_s", "cpu_s"])?;
    let only = |column: &Vec<f64>| column.first().copied().unwrap_or(0.0);
    Ok(Extent {
        windows: only(&windows) as u64,
        hosts: only(&hosts) as u64,
        jobs: only(&jobs) as u64,
        platforms: only(&platforms) as u64,
        first_s: only(&first) as i64,
        last_s: only(&last) as i64,
        cpu_s: only(&cpu),
    })
}

/// Alarms of one cause.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AlarmCount {
    /// The job.
    pub job: String,
    /// The leading cause, as `ironlaw watch` names it.
    pub cause: String,
    /// How many.
    pub alarms: u64,
    /// On how many hosts.
    pub hosts: u64,
    /// The first, seconds since the Unix epoch.
    pub first_s: i64,
    /// The last.
    pub last_s: i64,
}

/// The answer of `alarms.sql`.
///
/// # Errors
/// If a column is absent or has the wrong type.
pub fn alarms(table: &ResultTable) -> Result<Vec<AlarmCount>> {
    let [job, cause] = texts(table, ["job", "cause"])?;
    let [alarms, hosts, first, last] = sums(table, ["alarms", "hosts", "first_s", "last_s"])?;
    let row = |at: usize| AlarmCount {
        job: job[at].clone(),
        cause: cause[at].clone(),
        alarms: alarms[at] as u64,
        hosts: hosts[at] as u64,
        first_s: first[at] as i64,
        last_s: last[at] as i64,
    };
    Ok((0..table.rows).map(row).collect())
}
