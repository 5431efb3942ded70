//! Rates around the law, in groups that each answer one question: memory, kernel, limits, the machine, ironlaw itself.
//! Rates that could not be counted stay in their group as missing.

use super::factor::{Factor, Sources};
use serde::Serialize;

/// A group of related rates.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RateGroup {
    /// Name of the group, one word.
    pub name: &'static str,
    /// The rates, most informative first.
    pub rates: Vec<Factor>,
}

/// The labels are short: each has a value of eight characters next to it, in columns that all groups share.
const GROUPS: &[(&str, &[(&str, &str)])] = &[
    ("CPU", &[("user_share", "user"), ("system_share", "kernel"), ("steal_share", "steal"), ("ipc", "IPC")]),
    ("memory", &[("llc_mpki", "LLC MPKI"), ("page_walk_share", "page walk"), ("remote_dram_share", "remote")]),
    (
        "kernel",
        &[
            ("voluntary_switches", "waits"),
            ("involuntary_switches", "preempts"),
            ("minor_faults", "faults"),
            ("major_faults", "major"),
            ("migrations", "migrated"),
        ],
    ),
    (
        "limits",
        &[
            ("throttled_share", "throttled"),
            ("psi_cpu_some", "PSI CPU"),
            ("psi_memory_some", "PSI mem"),
            ("psi_io_some", "PSI I/O"),
        ],
    ),
    (
        "host",
        &[
            ("host_busy", "busy"),
            ("host_psi_cpu_some", "PSI CPU"),
            ("host_psi_memory_some", "PSI mem"),
            ("host_psi_io_some", "PSI I/O"),
        ],
    ),
    (
        "ironlaw",
        &[
            ("tool_cpu_share", "own CPU"),
            ("tool_memory", "memory"),
            ("samples_coverage", "sampled"),
            ("samples_lost_share", "lost"),
        ],
    ),
];

/// All groups.
pub(super) fn groups(from: &Sources<'_>) -> Vec<RateGroup> {
    let rates = |rates: &[(&'static str, &'static str)]| {
        rates.iter().map(|(name, label)| Factor::metric(name, label, from)).collect()
    };
    let groups = GROUPS.iter().map(|(name, table)| RateGroup { name, rates: rates(table) });
    groups.collect()
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::Synthetic;
    use crate::view::overview::Overview;
    use crate::view::overview::tests::context;

    #[test]
    fn every_rate_names_a_metric_that_exists_and_says_why_it_is_missing() {
        let profile = Synthetic::new().finish();
        let view = Overview::of(&context(&profile));
        let rates = view.groups.iter().flat_map(|group| &group.rates);
        for rate in rates.chain(&view.law).chain(&view.stand_ins) {
            assert!(!rate.formula.is_empty(), "{} is no metric", rate.name);
            assert!(rate.value.why().is_some() || rate.name == "samples_lost_share", "{}", rate.name);
        }
    }
}
