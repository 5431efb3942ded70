//! Hosts on which most of their jobs cost more than on other hosts, over the whole time. A job with few hosts does not show
//! such a host as an outlier, because the host itself raises the job's mean and deviation; its jobs together do.

use super::rows::{numbers, runs, sums, texts};
use crate::analysis::stats::robust_sd;
use crate::error::Result;
use crate::model::ResultTable;
use serde::Serialize;
use std::collections::BTreeMap;

/// Minimum windows to know what a job costs on a host. [P]
const FEWEST_WINDOWS: f64 = 20.0;
/// Minimum hosts of a job on a platform: with one expensive host among them, the median of the others is still usual. [P]
const FEWEST_ALIKE: usize = 4;
/// Minimum hosts to know how much hosts differ. [P]
const FEWEST_HOSTS: usize = 12;
/// Standard deviations above other hosts from which a host is expensive: of 10,000 normal numbers the largest is at 4. [P]
const FENCE: f64 = 6.0;
/// Minimum standard deviation, of logarithms: among hosts that are equal but for rounding, any other would stand out.
const LEAST: f64 = 0.005;

/// A host on which its jobs cost more than on other hosts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExpensiveHost {
    /// The host.
    pub host: String,
    /// The CPU model.
    pub platform: String,
    /// The name of the quantity.
    pub measure: String,
    /// Its jobs that were compared, by name.
    pub jobs: Vec<String>,
    /// By which share at least half of its jobs cost more than on the other hosts of their platform.
    pub dearer: f64,
    /// The standard deviation of the same share, of a job on an ordinary host.
    pub host_sd: f64,
    /// `dearer` in standard deviations.
    pub deviations: f64,
}

/// Expensive hosts and how many hosts were compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ExpensiveHosts {
    /// The hosts, the most expensive first.
    pub expensive: Vec<ExpensiveHost>,
    /// Hosts whose jobs could be compared, once for each quantity.
    pub compared: u64,
}

/// The answer of `hosts.sql`.
///
/// # Errors
/// If a column is absent or has the wrong type.
pub fn expensive_hosts(table: &ResultTable) -> Result<ExpensiveHosts> {
    let keys = texts(table, ["job", "platform", "host"])?;
    let mut found = ExpensiveHosts::default();
    for (measure, windows, [cost, amount]) in
        [("cpi", "cpi_windows", ["cycles", "instructions"]), ("cpu_s_per_op", "cost_windows", ["cpu_s", "operations"])]
    {
        let [windows] = sums(table, [windows])?;
        let [cost, amount] = numbers(table, [cost, amount])?;
        let known = |at: usize| cost[at].zip(amount[at]).filter(|_| windows[at] >= FEWEST_WINDOWS);
        let log_cost = |at: usize| known(at).map(|(cost, amount)| (cost / amount).ln()).filter(|cost| cost.is_finite());
        compare(&keys, measure, log_cost, &mut found);
    }
    found.expensive.sort_by(|a, b| b.dearer.total_cmp(&a.dearer).then_with(|| a.host.cmp(&b.host)));
    Ok(found)
}

/// Compares each host with the other hosts of each of its jobs, by one quantity.
fn compare(
    [job, platform, host]: &[Vec<String>; 3],
    measure: &str,
    log_cost: impl Fn(usize) -> Option<f64>,
    found: &mut ExpensiveHosts,
) {
    let mut above: BTreeMap<(&str, &str), Vec<(&str, f64)>> = BTreeMap::new();
    for alike in runs(job.len(), |at| (&job[at], &platform[at])) {
        let mut costs: Vec<(f64, usize)> = alike.filter_map(|at| Some((log_cost(at)?, at))).collect();
        if costs.len() < FEWEST_ALIKE {
            continue;
        }
        costs.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (rank, (cost, at)) in costs.iter().enumerate() {
            let usual = median_without(&costs, rank);
            above.entry((&host[*at], &platform[*at])).or_default().push((&job[*at], cost - usual));
        }
    }
    if above.len() < FEWEST_HOSTS {
        return;
    }
    found.compared += above.len() as u64;
    // The median over several jobs of a host scatters no more than a single job does.
    let single: Vec<f64> = above.values().flatten().map(|(_, above)| *above).collect();
    let host_sd = robust_sd(&single, 0.0).unwrap_or(0.0).max(LEAST);
    for ((host, platform), mut jobs) in above {
        jobs.sort_by(|a, b| a.1.total_cmp(&b.1));
        // The lower one of two in the middle: one expensive job of two says nothing of the host.
        let of_jobs = jobs[(jobs.len() - 1) / 2].1;
        jobs.sort_unstable_by_key(|(job, _)| *job);
        if of_jobs > FENCE * host_sd {
            found.expensive.push(ExpensiveHost {
                host: host.to_string(),
                platform: platform.to_string(),
                measure: measure.to_string(),
                jobs: jobs.iter().map(|(job, _)| (*job).to_string()).collect(),
                dearer: of_jobs.exp_m1(),
                host_sd: host_sd.exp_m1(),
                deviations: of_jobs / host_sd,
            });
        }
    }
}

/// The median of ascending costs without the one of this rank; at least two costs.
fn median_without(costs: &[(f64, usize)], rank: usize) -> f64 {
    let others = costs.len() - 1;
    let other = |at: usize| costs[at + usize::from(at >= rank)].0;
    f64::midpoint(other((others - 1) / 2), other(others / 2))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::testing::table;
    use super::*;
    use crate::analysis::stats::Random;
    use crate::analysis::stats::simulate::{Frequency, trials};

    /// A job on a host, with its CPI.
    type Cost = (String, String, f64);

    fn answer(mut costs: Vec<Cost>) -> ResultTable {
        costs.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
        let text = |of: fn(&Cost) -> &str| costs.iter().map(of).collect::<Vec<_>>();
        let number = |of: fn(&Cost) -> f64| costs.iter().map(of).collect::<Vec<_>>();
        table(
            &[("job", text(|row| &row.0)), ("platform", text(|_| "p")), ("host", text(|row| &row.1))],
            &[
                ("cpi_windows", number(|_| 100.0)),
                ("cycles", number(|row| 1e9 * row.2)),
                ("instructions", number(|_| 1e9)),
                ("cost_windows", number(|_| 0.0)),
                ("cpu_s", number(|_| f64::NAN)),
                ("operations", number(|_| f64::NAN)),
            ],
        )
    }

    /// Hosts with three jobs each, of jobs with few hosts; hosts and jobs on them differ by `sd`.
    fn fleet(random: &mut Random, hosts: usize, jobs: usize, sd: f64) -> Vec<Cost> {
        let mut costs = Vec::new();
        for host in 0..hosts {
            let of_host = random.normal() * sd;
            for place in 0..3 {
                let cpi = (of_host + random.normal() * sd).exp();
                costs.push((format!("j{}", (3 * host + place) % jobs), format!("h{host}"), cpi));
            }
        }
        costs.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));
        costs.dedup_by(|a, b| (&a.0, &a.1) == (&b.0, &b.1));
        costs
    }

    #[test]
    fn a_bad_host_is_found_among_the_few_hosts_of_each_of_its_jobs() {
        let mut costs = fleet(&mut Random::new(3), 20, 12, 0.02);
        costs.iter_mut().filter(|cost| cost.1 == "h7").for_each(|cost| cost.2 *= 1.4);
        let found = expensive_hosts(&answer(costs)).unwrap();
        let [host] = found.expensive.as_slice() else { panic!("{found:?}") };
        assert_eq!((host.host.as_str(), host.measure.as_str(), host.jobs.len(), found.compared), ("h7", "cpi", 3, 20));
        assert!((host.dearer - 0.4).abs() < 0.08 && host.deviations > 8.0, "{host:?}");
    }

    #[test]
    fn a_host_is_compared_with_the_median_of_the_others() {
        let costs = [1.0, 2.0, 4.0, 8.0, 16.0].map(|cost| (cost, 0));
        let medians: Vec<f64> = (0..5).map(|rank| median_without(&costs, rank)).collect();
        assert_eq!(medians, [6.0, 6.0, 5.0, 3.0, 3.0]);
        let medians: Vec<f64> = (0..4).map(|rank| median_without(&costs[..4], rank)).collect();
        assert_eq!(medians, [4.0, 4.0, 2.0, 2.0]);
    }

    #[test]
    fn one_expensive_job_makes_no_expensive_host_and_few_hosts_tell_nothing() {
        let mut costs = fleet(&mut Random::new(4), 20, 12, 0.02);
        costs.iter_mut().find(|cost| cost.1 == "h7").unwrap().2 *= 1.4;
        assert_eq!(expensive_hosts(&answer(costs)).unwrap().expensive, []);
        let two = |job: &str, at: usize, cpi: f64| (job.to_string(), format!("h{at}"), cpi);
        let both = (0..20).flat_map(|at| [two("a", at, if at == 7 { 1.9 } else { 1.0 }), two("b", at, 1.0)]).collect();
        assert_eq!(expensive_hosts(&answer(both)).unwrap().expensive, [], "one job of two");
        let mut few = fleet(&mut Random::new(5), 8, 3, 0.02);
        few.iter_mut().filter(|cost| cost.1 == "h7").for_each(|cost| cost.2 *= 1.4);
        assert_eq!(expensive_hosts(&answer(few)).unwrap(), ExpensiveHosts::default());
        let equal = (0..30).map(|at| ("j".to_string(), format!("h{at}"), if at == 9 { 1.02 } else { 1.0 })).collect();
        assert_eq!(expensive_hosts(&answer(equal)).unwrap().expensive, [], "hosts that are equal but for rounding");
    }

    /// How many fleets have an expensive host though none was planted, and how many planted hosts are found.
    fn rates(hosts: usize, jobs: usize, tries: u32) -> [Frequency; 2] {
        let [mut falsely, mut planted] = [Frequency::default(); 2];
        let mut random = Random::new(hosts as u64);
        for _ in 0..tries {
            let mut costs = fleet(&mut random, hosts, jobs, 0.02);
            falsely.count(!expensive_hosts(&answer(costs.clone())).unwrap().expensive.is_empty());
            costs.iter_mut().filter(|cost| cost.1 == "h3").for_each(|cost| cost.2 *= 1.4);
            planted.count(expensive_hosts(&answer(costs)).unwrap().expensive.iter().any(|host| host.host == "h3"));
        }
        [falsely, planted]
    }

    const FLEETS: [(usize, usize); 4] = [(12, 6), (30, 15), (100, 20), (1000, 100)];

    #[test]
    fn of_ordinary_hosts_few_are_expensive_and_of_planted_ones_most() {
        for (hosts, jobs) in &FLEETS[..3] {
            let [falsely, planted] = rates(*hosts, *jobs, 100);
            let case = format!("{hosts} hosts, {jobs} jobs: falsely {falsely:?}, found {planted:?}");
            assert!(falsely.part() <= 0.02 && planted.part() >= 0.9, "{case}");
        }
    }

    #[test]
    #[ignore = "minutes: what `just calibrate` prints"]
    fn calibration_of_expensive_hosts() {
        for (hosts, jobs) in FLEETS {
            let [falsely, planted] = rates(hosts, jobs, trials());
            falsely.report(&format!("an expensive host of {hosts} ordinary ones, {jobs} jobs"), "at most 1%");
            planted.report(&format!("a host 40% more expensive is found among {hosts}, {jobs} jobs"), "at least 95%");
        }
    }
}
