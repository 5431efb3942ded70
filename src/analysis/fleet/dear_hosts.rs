//! Hosts that are dear for their jobs together. A host that always is makes no outlier of a job with few hosts, since it
//! raises the mean and the deviation that it is held to; but all of its jobs are dear at once.

use super::rows::{numbers, runs, sums, texts};
use crate::analysis::stats::{median, robust_sd};
use crate::error::Result;
use crate::model::ResultTable;
use serde::Serialize;
use std::collections::BTreeMap;

/// Fewer windows do not tell what a job costs on a host. [P]
const FEWEST_WINDOWS: f64 = 20.0;
/// Hosts of a job on a platform that tell what is usual, though one of them is not. [P]
const FEWEST_ALIKE: usize = 4;
/// Hosts in all that tell how much hosts differ. [P]
const FEWEST_HOSTS: usize = 12;
/// Deviations of hosts beyond which one is dear: the extreme one of 10,000 ordinary hosts lies at 4. [P]
const FENCE: f64 = 6.0;
/// The least deviation of hosts, as a logarithm: hosts that are alike to a digit would make any other one dear.
const LEAST: f64 = 0.005;

/// A host on which its jobs cost more than on other hosts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DearHost {
    /// The host.
    pub host: String,
    /// The CPU model.
    pub platform: String,
    /// The name of the quantity.
    pub measure: String,
    /// Its jobs that were compared, by name.
    pub jobs: Vec<String>,
    /// By which share its jobs cost more than on the other hosts of their platform: the median job.
    pub dearer: f64,
    /// The standard deviation of ordinary hosts, as a share.
    pub host_sd: f64,
    /// How many of these deviations the host lies above the others.
    pub deviations: f64,
}

/// Dear hosts and how many hosts were compared.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DearHosts {
    /// The hosts, the dearest first.
    pub dear: Vec<DearHost>,
    /// Hosts whose jobs could be compared, once for each quantity.
    pub compared: u64,
}

/// The answer of `hosts.sql`.
///
/// # Errors
/// If a column is absent or has the wrong type.
pub fn dear_hosts(table: &ResultTable) -> Result<DearHosts> {
    let keys = texts(table, ["job", "platform", "host"])?;
    let mut found = DearHosts::default();
    for (measure, windows, [cost, amount]) in
        [("cpi", "cpi_windows", ["cycles", "instructions"]), ("cpu_s_per_op", "cost_windows", ["cpu_s", "operations"])]
    {
        let [windows] = sums(table, [windows])?;
        let [cost, amount] = numbers(table, [cost, amount])?;
        let known = |at: usize| cost[at].zip(amount[at]).filter(|_| windows[at] >= FEWEST_WINDOWS);
        let log_cost = |at: usize| known(at).map(|(cost, amount)| (cost / amount).ln()).filter(|cost| cost.is_finite());
        compare(&keys, measure, log_cost, &mut found);
    }
    found.dear.sort_by(|a, b| b.dearer.total_cmp(&a.dearer).then_with(|| a.host.cmp(&b.host)));
    Ok(found)
}

/// Holds each host to the other hosts of each of its jobs, by one quantity.
fn compare(
    [job, platform, host]: &[Vec<String>; 3],
    measure: &str,
    log_cost: impl Fn(usize) -> Option<f64>,
    found: &mut DearHosts,
) {
    let mut above: BTreeMap<(&str, &str), Vec<(&str, f64)>> = BTreeMap::new();
    for alike in runs(job.len(), |at| (&job[at], &platform[at])) {
        let costs: Vec<(usize, f64)> = alike.filter_map(|at| Some((at, log_cost(at)?))).collect();
        if costs.len() < FEWEST_ALIKE {
            continue;
        }
        for (number, (at, cost)) in costs.iter().enumerate() {
            let others = costs.iter().enumerate().filter(|(other, _)| *other != number);
            let mut others: Vec<f64> = others.map(|(_, (_, cost))| *cost).collect();
            let usual = median(&mut others).unwrap_or(*cost);
            above.entry((&host[*at], &platform[*at])).or_default().push((&job[*at], cost - usual));
        }
    }
    if above.len() < FEWEST_HOSTS {
        return;
    }
    found.compared += above.len() as u64;
    // Of single jobs: what ordinary hosts differ by in the median of several is no more.
    let single: Vec<f64> = above.values().flatten().map(|(_, above)| *above).collect();
    let host_sd = robust_sd(&single, 0.0).unwrap_or(0.0).max(LEAST);
    for ((host, platform), jobs) in above {
        let of_jobs = median(&mut jobs.iter().map(|(_, above)| *above).collect::<Vec<_>>()).unwrap_or(0.0);
        if of_jobs > FENCE * host_sd {
            found.dear.push(DearHost {
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
        let found = dear_hosts(&answer(costs)).unwrap();
        let [host] = found.dear.as_slice() else { panic!("{found:?}") };
        assert_eq!((host.host.as_str(), host.measure.as_str(), host.jobs.len(), found.compared), ("h7", "cpi", 3, 20));
        assert!((host.dearer - 0.4).abs() < 0.08 && host.deviations > 8.0, "{host:?}");
    }

    #[test]
    fn one_dear_job_makes_no_dear_host_and_few_hosts_tell_nothing() {
        let mut costs = fleet(&mut Random::new(4), 20, 12, 0.02);
        costs.iter_mut().find(|cost| cost.1 == "h7").unwrap().2 *= 1.4;
        assert_eq!(dear_hosts(&answer(costs)).unwrap().dear, []);
        let mut few = fleet(&mut Random::new(5), 8, 3, 0.02);
        few.iter_mut().filter(|cost| cost.1 == "h7").for_each(|cost| cost.2 *= 1.4);
        assert_eq!(dear_hosts(&answer(few)).unwrap(), DearHosts::default());
        let equal = (0..30).map(|at| ("j".to_string(), format!("h{at}"), if at == 9 { 1.02 } else { 1.0 })).collect();
        assert_eq!(dear_hosts(&answer(equal)).unwrap().dear, [], "hosts that are equal but for rounding");
    }

    /// Part of the fleets with a host that is dear though none is, and part of the planted hosts that are found.
    fn rates(hosts: usize, jobs: usize, tries: u32) -> [Frequency; 2] {
        let [mut falsely, mut planted] = [Frequency::default(); 2];
        let mut random = Random::new(hosts as u64);
        for _ in 0..tries {
            let mut costs = fleet(&mut random, hosts, jobs, 0.02);
            falsely.count(!dear_hosts(&answer(costs.clone())).unwrap().dear.is_empty());
            costs.iter_mut().filter(|cost| cost.1 == "h3").for_each(|cost| cost.2 *= 1.4);
            planted.count(dear_hosts(&answer(costs)).unwrap().dear.iter().any(|host| host.host == "h3"));
        }
        [falsely, planted]
    }

    const FLEETS: [(usize, usize); 4] = [(12, 6), (30, 15), (100, 20), (1000, 100)];

    #[test]
    fn of_ordinary_hosts_few_are_dear_and_of_bad_ones_most() {
        for (hosts, jobs) in &FLEETS[..3] {
            let [falsely, planted] = rates(*hosts, *jobs, 100);
            let case = format!("{hosts} hosts, {jobs} jobs: falsely {falsely:?}, found {planted:?}");
            assert!(falsely.part() <= 0.02 && planted.part() >= 0.9, "{case}");
        }
    }

    #[test]
    #[ignore = "minutes: what `just calibrate` prints"]
    fn calibration_of_dear_hosts() {
        for (hosts, jobs) in FLEETS {
            let [falsely, planted] = rates(hosts, jobs, trials());
            falsely.report(&format!("a dear host of {hosts} ordinary ones, {jobs} jobs"), "at most 1%");
            planted.report(&format!("a host 40% dearer is found among {hosts}, {jobs} jobs"), "at least 95%");
        }
    }
}
