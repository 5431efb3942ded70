//! Named sets of metrics, and the default set. Independent of the CPU.

use crate::error::{Error, ErrorKind, Result};
use crate::model::{HARDWARE_METRICS, HardwareMetric};
use crate::pmu::names;

/// A set of metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Set {
    /// Its name.
    pub name: &'static str,
    /// Whether the set is counted by default.
    pub by_default: bool,
    /// Its metrics, highest priority first.
    pub metrics: &'static [&'static str],
}

/// The metrics to count.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wanted {
    /// Metrics, highest priority first.
    pub metrics: Vec<&'static HardwareMetric>,
    /// Maximum number of groups: with more, each would be counted too briefly to be useful. `None` means no limit.
    pub most_groups: Option<usize>,
}

/// Placed first in the default set: findings depend on these metrics, so the limit of groups must not drop them.
const FIRST: &[&str] = &[
    "branch_mpki",
    "llc_mpki",
    "memory_bandwidth",
    "l2_mpki",
    "page_walk_share",
    "remote_dram_share",
    "hitm_per_kinstr",
    "tma_frontend",
    "tma_bad_speculation",
    "tma_backend",
    "tma_retiring",
    "tma_smt_contention",
    "tma_dram_bound",
    "tma_memory_bandwidth",
    "l1d_mpki",
];

/// Default number of groups that the kernel multiplexes: each is counted at least a sixth of the time.
const GROUPS_BY_DEFAULT: usize = 6;

/// All sets, highest priority first.
pub const SETS: &[Set] = &[
    Set { name: "base", by_default: true, metrics: &["branch_mpki", "clock_ratio"] },
    Set {
        name: "cache",
        by_default: true,
        metrics: &["llc_mpki", "l2_mpki", "l1d_mpki", "memory_bandwidth", "memory_stall_share"],
    },
    Set { name: "tlb", by_default: true, metrics: &["page_walk_share", "walks_per_kinstr", "mean_walk_cycles"] },
    Set {
        name: "numa",
        by_default: true,
        metrics: &["remote_dram_share", "remote_access_per_kinstr", "remote_cache_per_kinstr"],
    },
    Set { name: "sharing", by_default: true, metrics: &["hitm_per_kinstr", "locks_per_kinstr", "strex_fail_share"] },
    Set {
        name: "topdown",
        by_default: true,
        metrics: &[
            "tma_frontend",
            "tma_bad_speculation",
            "tma_backend",
            "tma_retiring",
            "tma_smt_contention",
            "tma_memory_bound",
            "tma_core_bound",
            "tma_fetch_latency",
            "tma_branch_mispredicts",
            "tma_heavy_operations",
            "frontend_stall_share",
            "backend_stall_share",
        ],
    },
    Set {
        name: "memory",
        by_default: true,
        metrics: &[
            "tma_dram_bound",
            "tma_l3_bound",
            "tma_memory_bandwidth",
            "tma_memory_latency",
            "tma_store_bound",
            "tma_dtlb_load",
            "l3_miss_latency",
            "mlp",
        ],
    },
    Set {
        name: "more",
        by_default: false,
        metrics: &["branch_miss_share", "lock_share", "order_clears_per_kinstr", "pause_share", "avx_license_share"],
    },
];

/// The metrics of a list such as `cache,tlb,mlp`: names of sets and of metrics, `default`, `all` or `none`. Each metric
/// occurs once, in the given order.
///
/// # Errors
/// `Usage` for an unknown name, with the nearest known one.
pub fn wanted(list: &str) -> Result<Wanted> {
    let mut metrics = Vec::new();
    for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        for name in names_of(word)? {
            let metric = HardwareMetric::named(name).filter(|metric| !metrics.contains(metric));
            metrics.extend(metric);
        }
    }
    let most_groups = (list.trim() == "default").then_some(GROUPS_BY_DEFAULT);
    Ok(Wanted { metrics, most_groups })
}

fn names_of(word: &str) -> Result<Vec<&'static str>> {
    let of = |take: &dyn Fn(&&Set) -> bool| SETS.iter().filter(take).flat_map(|set| set.metrics).copied().collect();
    match word {
        "none" => return Ok(Vec::new()),
        "all" => return Ok(of(&|_| true)),
        "default" => return Ok([FIRST.to_vec(), of(&|set| set.by_default)].concat()),
        _ => {}
    }
    if let Some(set) = SETS.iter().find(|set| set.name == word) {
        return Ok(set.metrics.to_vec());
    }
    if let Some(metric) = HardwareMetric::named(word) {
        return Ok(vec![metric.name]);
    }
    let known = HARDWARE_METRICS.iter().map(|metric| metric.name).chain(SETS.iter().map(|set| set.name));
    let error = Error::new(ErrorKind::Usage, format!("there is no metric or set '{word}'"));
    Err(match names::closest(word, known.map(String::from)) {
        Some(near) => error.hint(format!("Did you mean '{near}'?")),
        None => error.hint("`ironlaw metrics --all` lists them all."),
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_in_one_set() {
        for metric in HARDWARE_METRICS {
            let sets = SETS.iter().filter(|set| set.metrics.contains(&metric.name)).count();
            assert_eq!(sets, 1, "{}", metric.name);
        }
        assert_eq!(wanted("all").unwrap().metrics.len(), HARDWARE_METRICS.len());
    }

    #[test]
    fn a_list_mixes_sets_and_metrics_and_says_what_is_neither() {
        let names = |list| wanted(list).unwrap().metrics.iter().map(|metric| metric.name).collect::<Vec<_>>();
        assert_eq!(
            names("mlp, numa,mlp"),
            ["mlp", "remote_dram_share", "remote_access_per_kinstr", "remote_cache_per_kinstr"]
        );
        assert!(names("none").is_empty() && names("default").len() > 20);
        let error = wanted("llc_mpik").unwrap_err();
        assert_eq!(error.remedy(), Some("Did you mean 'llc_mpki'?"));
    }
}
