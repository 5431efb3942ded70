//! Hosts whose cost lies far from that of all others: one bad host among twenty would hide every change of a few percent.

use super::sums::{HostVersion, Version};
use crate::analysis::stats::{median, robust_sd};

/// Deviations from the other hosts of its version at which a host is left out. [P]
const FENCE: f64 = 8.0;
/// Fewer hosts do not tell what is usual: in all, and of each version.
const FEWEST: (usize, usize) = (8, 4);
/// The least deviation of hosts, as a logarithm: hosts that are alike to a digit would make any other one extreme.
const LEAST: f64 = 0.005;

/// The versions without such hosts, and the names of those left out.
pub(super) fn without_extremes(versions: [&Version; 2]) -> ([Version; 2], Vec<String>) {
    let kept = versions.map(Version::clone);
    let hosts = versions.map(|version| version.hosts.len());
    if hosts[0] + hosts[1] < FEWEST.0 || hosts.iter().any(|hosts| *hosts < FEWEST.1) {
        return (kept, Vec::new());
    }
    let cost = |host: &HostVersion| (host.cpu_s / host.operations).ln();
    let middle = |version: &Version| median(&mut version.hosts.iter().map(cost).collect::<Vec<_>>()).unwrap_or(0.0);
    let middles = versions.map(middle);
    let apart = |at: usize, host: &HostVersion| (cost(host) - middles[at]).abs();
    let all = (0..2).flat_map(|at| versions[at].hosts.iter().map(move |host| apart(at, host)));
    let fence = FENCE * robust_sd(&all.collect::<Vec<_>>(), 0.0).unwrap_or(0.0).max(LEAST);
    let mut left_out: Vec<String> = Vec::new();
    for (at, version) in versions.iter().enumerate() {
        let far = version.hosts.iter().filter(|host| apart(at, host) > fence);
        left_out.extend(far.map(|host| host.host.clone()));
    }
    left_out.sort();
    left_out.dedup();
    // A host that ran both versions is left out of both.
    let kept = kept.map(|mut version| {
        version.hosts.retain(|host| !left_out.contains(&host.host));
        version
    });
    (kept, left_out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(costs: &[f64]) -> Version {
        let host = |(at, cost): (usize, &f64)| HostVersion {
            host: format!("h{at}"),
            operations: 100.0,
            cpu_s: 100.0 * cost,
            ..HostVersion::default()
        };
        Version { name: "v".into(), hosts: costs.iter().enumerate().map(host).collect() }
    }

    #[test]
    fn a_bad_host_is_left_out_and_a_change_of_version_is_not() {
        let old = [1.0, 1.02, 0.98, 1.01, 0.99, 1.4];
        let new = old.map(|cost| 1.5 * cost);
        let (kept, left_out) = without_extremes([&version(&old), &version(&new[..5])]);
        assert_eq!((left_out, kept.map(|version| version.hosts.len())), (vec!["h5".to_string()], [5, 5]));
        let (kept, left_out) = without_extremes([&version(&old[..5]), &version(&new[..5])]);
        assert!(left_out.is_empty() && kept[1].hosts.len() == 5);
    }

    #[test]
    fn few_hosts_do_not_tell_who_is_extreme_and_equal_ones_may_differ_a_little() {
        let (_, left_out) = without_extremes([&version(&[1.0, 1.0, 3.0]), &version(&[1.0; 9])]);
        assert!(left_out.is_empty());
        let (_, left_out) = without_extremes([&version(&[1.0, 1.0, 1.0, 1.03]), &version(&[1.0; 9])]);
        assert!(left_out.is_empty());
    }
}
