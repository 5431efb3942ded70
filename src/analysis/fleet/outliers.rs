//! Hosts on which a job is unusually expensive, and how many such hosts chance alone would make: three windows of five
//! minutes above mean + 3 standard deviations, by the job's own distribution.

use super::rows::{numbers, sums, texts};
use super::usual::Usual;
use crate::analysis::stats::{median, robust_sd};
use crate::error::Result;
use crate::model::{Measure, ResultTable, Why};
use serde::Serialize;
use std::collections::BTreeMap;

/// Windows above the threshold that make an outlier.
const ENOUGH: u32 = 3;

/// Deviations from the other hosts' spans at which a host stands out. [P]
const FENCE: f64 = 8.0;

/// How much more the spans of ordinary hosts vary than counts of independent events: hosts differ, and dear minutes follow
/// each other. With 1, one host in 400 of a simulated fleet stood out for no planted reason. [P]
const DISPERSION: f64 = 4.0;

/// A host with outliers of one job.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutlierHost {
    /// The job.
    pub job: String,
    /// The CPU model.
    pub platform: String,
    /// The name of the quantity.
    pub measure: String,
    /// The host.
    pub host: String,
    /// Spans of five minutes with at least three outliers.
    pub spans: u64,
    /// Spans of five minutes in which the job ran on the host.
    pub host_spans: u64,
    /// Outliers in those spans.
    pub windows: u64,
    /// Windows of the job on the host.
    pub host_windows: u64,
    /// Start of the first such span, seconds since the Unix epoch.
    pub first_s: i64,
    /// Start of the last one.
    pub last_s: i64,
    /// Mean of the outliers: selected for being large, so it overstates what the host costs.
    pub value: f64,
    /// Mean of all windows on the host. One host has no interval: hosts are the sample.
    pub host_value: f64,
    /// Mean over all windows of all hosts.
    pub mean: f64,
    /// How many standard deviations the outliers lie above the mean.
    pub z: f64,
    /// By which share the outliers are dearer than the mean.
    pub dearer: f64,
    /// By which share the host is dearer than the mean over all of its windows.
    pub host_dearer: f64,
    /// Whether it has far more such spans than the job's other hosts: minutes follow each other, so that a few spans happen
    /// on most hosts.
    pub beyond_others: bool,
    /// Spans with outliers to expect by chance on this host if windows are independent.
    pub expected_spans: Measure<f64>,
}

/// How many outliers chance makes of one quantity.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutlierChance {
    /// The job.
    pub job: String,
    /// The CPU model.
    pub platform: String,
    /// The name of the quantity.
    pub measure: String,
    /// Hosts that were tested.
    pub hosts: u64,
    /// Hosts with outliers.
    pub outliers: u64,
    /// The probability of one window above the threshold, by the fitted distribution.
    pub window: Measure<f64>,
    /// The probability of three in a span of five minutes, of independent windows.
    pub span: Measure<f64>,
    /// Hosts with outliers to expect by chance.
    pub expected_hosts: Measure<f64>,
}

/// Hosts with outliers and what chance makes of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Outliers {
    /// Hosts, the most spans first.
    pub hosts: Vec<OutlierHost>,
    /// One entry for each job, platform and quantity that has outliers.
    pub chance: Vec<OutlierChance>,
}

/// The answer of `outliers.sql`, with chance by the distributions of `distribution.sql`.
///
/// # Errors
/// If a column is absent or has the wrong type.
pub fn outliers(table: &ResultTable, usual: &[Usual]) -> Result<Outliers> {
    let [job, platform, measure, host] = texts(table, ["job", "platform", "measure", "host"])?;
    let [spans, windows, first, last] = sums(table, ["spans", "windows", "first_s", "last_s"])?;
    let [host_spans, host_windows] = sums(table, ["host_spans", "host_windows"])?;
    let [tested_hosts, tested_spans, tested_windows] = sums(table, ["tested_hosts", "tested_spans", "tested_windows"])?;
    let [value, host_value, mean, sd] = numbers(table, ["value", "host_value", "mean", "sd"])?;
    let mut found = Outliers::default();
    let mut chance: BTreeMap<(&str, &str, &str), OutlierChance> = BTreeMap::new();
    for at in 0..table.rows {
        let (Some(value), Some(host_value), Some(mean), Some(sd)) = (value[at], host_value[at], mean[at], sd[at])
        else {
            continue;
        };
        let of =
            |usual: &&Usual| usual.job == job[at] && usual.platform == platform[at] && usual.measure == measure[at];
        let fit = usual.iter().find(of).map_or(Measure::Missing(Why::NotRecorded), |usual| usual.fit);
        let window = fit.map(|fit| fit.distribution().above(mean + 3.0 * sd));
        let of_span = |windows: f64, spans: f64| window.map(|p| in_span(windows / spans, p));
        let span = of_span(tested_windows[at], tested_spans[at]);
        let entry = chance.entry((&job[at], &platform[at], &measure[at])).or_insert_with(|| OutlierChance {
            job: job[at].clone(),
            platform: platform[at].clone(),
            measure: measure[at].clone(),
            hosts: tested_hosts[at] as u64,
            outliers: 0,
            window,
            span,
            expected_hosts: span
                .map(|p| tested_hosts[at] * -(tested_spans[at] / tested_hosts[at] * (-p).ln_1p()).exp_m1()),
        });
        entry.outliers += 1;
        found.hosts.push(OutlierHost {
            job: job[at].clone(),
            platform: platform[at].clone(),
            measure: measure[at].clone(),
            host: host[at].clone(),
            spans: spans[at] as u64,
            host_spans: host_spans[at] as u64,
            windows: windows[at] as u64,
            host_windows: host_windows[at] as u64,
            first_s: first[at] as i64,
            last_s: last[at] as i64,
            value,
            host_value,
            mean,
            z: (value - mean) / sd,
            dearer: value / mean - 1.0,
            host_dearer: host_value / mean - 1.0,
            beyond_others: false,
            expected_spans: of_span(host_windows[at], host_spans[at]).map(|p| p * host_spans[at]),
        });
    }
    let mut counts: BTreeMap<(&str, &str, &str), OutlierCounts> = BTreeMap::new();
    for at in 0..table.rows {
        let of_group = counts.entry((&job[at], &platform[at], &measure[at])).or_default();
        of_group.shares.push(spans[at] / host_spans[at]);
        (of_group.hosts, of_group.spans) = (tested_hosts[at] as usize, tested_spans[at] / tested_hosts[at]);
    }
    let fences: BTreeMap<_, f64> = counts.into_iter().map(|(group, counts)| (group, counts.fence())).collect();
    for host in &mut found.hosts {
        let fence = fences.get(&(host.job.as_str(), host.platform.as_str(), host.measure.as_str()));
        host.beyond_others = fence.is_some_and(|fence| host.spans as f64 / host.host_spans as f64 > *fence);
    }
    found.hosts.sort_by_key(|host| std::cmp::Reverse(host.spans));
    found.chance = chance.into_values().collect();
    Ok(found)
}

/// How often the hosts of a job have spans with outliers.
#[derive(Debug, Default)]
struct OutlierCounts {
    /// Shares of such spans on the hosts that have some.
    shares: Vec<f64>,
    /// All hosts.
    hosts: usize,
    /// Spans of a host in the mean.
    spans: f64,
}

impl OutlierCounts {
    /// The share of spans beyond which a host has more than the others: median and median deviation over all hosts, those
    /// without such spans too, and no less than the scatter of counts.
    fn fence(mut self) -> f64 {
        self.shares.resize(self.hosts.max(self.shares.len()), 0.0);
        let usual = median(&mut self.shares).unwrap_or(0.0);
        let scatter = (DISPERSION * (usual * self.spans).max(1.0)).sqrt() / self.spans.max(1.0);
        usual + FENCE * robust_sd(&self.shares, usual).unwrap_or(0.0).max(scatter)
    }
}

/// The probability of enough outliers in a span of this many windows in the mean, some of one window more than others.
fn in_span(windows: f64, p: f64) -> f64 {
    let part = windows.fract();
    let [fewer, more] = [windows.floor(), windows.ceil()].map(|windows| at_least(ENOUGH, windows as u32, p));
    fewer * (1.0 - part) + more * part
}

/// The probability of at least `enough` successes in `trials`.
fn at_least(enough: u32, trials: u32, p: f64) -> f64 {
    let mut choices = 1.0;
    let mut sum = 0.0;
    for hits in 0..=trials {
        if hits >= enough {
            sum += choices * p.powi(hits as i32) * (1.0 - p).powi((trials - hits) as i32);
        }
        choices *= f64::from(trials - hits) / f64::from(hits + 1);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts as a simulated fleet has them: 25 hosts in a day, one of them dearer than the others by three deviations of
    /// hosts, another with a clock that was lowered for four hours.
    #[test]
    fn a_host_as_hosts_happen_to_be_is_inside_the_fence_and_one_with_bad_hours_is_not() {
        let fence = |spans: &[f64]| {
            let shares = spans.iter().map(|spans| spans / 288.0).collect();
            OutlierCounts { shares, hosts: 25, spans: 288.0 }.fence() * 288.0
        };
        assert!((10.0..40.0).contains(&fence(&[10.0, 1.0, 1.0, 1.0])), "{}", fence(&[10.0, 1.0, 1.0, 1.0]));
        // Where most hosts have some, the fence rises with them.
        let common: Vec<f64> = (0..25).map(|at| f64::from(at % 5 + 6)).collect();
        assert!(fence(&common) > 40.0 && fence(&common) < 100.0, "{}", fence(&common));
    }

    #[test]
    fn three_of_five_by_chance_is_the_binomial_tail() {
        // 10 p^3 (1 - p)^2 + 5 p^4 (1 - p) + p^5.
        assert!((at_least(3, 5, 0.1) - 0.00856).abs() < 1e-12);
        assert!((at_least(3, 5, 0.5) - 0.5).abs() < 1e-12);
        assert!((in_span(2.5, 0.1) - 0.0005).abs() < 1e-12 && (in_span(5.0, 0.1) - 0.00856).abs() < 1e-12);
        assert!(at_least(3, 2, 0.5) == 0.0 && (at_least(0, 4, 0.3) - 1.0).abs() < 1e-12);
    }
}
