//! The rates around the law, in groups that each answer one question: memory, kernel, limits, the machine, ironlaw itself.
//! It never leaves out what could not be counted.

use super::factor::{Factor, Kind, Sources};
use super::past::Sight;
use crate::analysis::MetricUnit;
use crate::model::{Measure, Why};
use serde::Serialize;

/// Rates that belong together.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RateGroup {
    /// A word.
    pub name: &'static str,
    /// The rates, most telling first.
    pub rates: Vec<Factor>,
}

/// The labels are short: a value of eight characters stands beside each, in columns that all groups share.
const GROUPS: &[(&str, &[(&str, &str)])] = &[
    ("CPU", &[("user_share", "user"), ("system_share", "kernel"), ("steal_share", "steal"), ("ipc", "IPC")]),
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
    ("ironlaw", &[("tool_cpu_share", "own CPU"), ("tool_memory", "memory"), ("samples_lost_share", "lost")]),
];

/// What only hardware counts. Nothing counts it yet: it is missing for the reason cycles are, or because it was not asked for.
const HARDWARE: [(&str, &str, MetricUnit, &str); 3] = [
    ("cache_mpki", "LLC MPKI", MetricUnit::Ratio, "1000 d cache-misses / d instructions"),
    ("page_walk", "page walk", MetricUnit::Share, "d page-walk-cycles / d cycles"),
    ("remote_dram", "remote", MetricUnit::Share, "d remote-loads / (d local-loads + d remote-loads)"),
];

/// All groups.
pub(super) fn groups(from: &Sources<'_>) -> Vec<RateGroup> {
    let rates = |rates: &[(&'static str, &'static str)]| {
        rates.iter().map(|(name, label)| Factor::metric(name, label, from)).collect()
    };
    let mut groups: Vec<_> = GROUPS.iter().map(|(name, table)| RateGroup { name, rates: rates(table) }).collect();
    groups.insert(1, RateGroup { name: "memory", rates: hardware(from) });
    groups
}

fn hardware(from: &Sources<'_>) -> Vec<Factor> {
    let absent = |sight: &Sight| Measure::Missing(sight.metric("cycles").why().unwrap_or(Why::NotRecorded));
    let factor = |(name, label, unit, formula): &(&'static str, &'static str, MetricUnit, &str)| {
        Factor::new(Kind { name, label, unit: *unit, noun: "" }, formula, from, absent)
    };
    HARDWARE.iter().map(factor).collect()
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::Synthetic;
    use crate::view::overview::Overview;
    use crate::view::overview::tests::scene;

    #[test]
    fn every_rate_names_a_metric_that_exists_and_says_why_it_is_missing() {
        let profile = Synthetic::new().finish();
        let view = Overview::of(&scene(&profile));
        let rates = view.groups.iter().flat_map(|group| &group.rates);
        for rate in rates.chain(&view.law).chain(&view.stand_ins) {
            assert!(!rate.formula.is_empty(), "{} is no metric", rate.name);
            assert!(rate.value.why().is_some() || rate.name == "samples_lost_share", "{}", rate.name);
        }
    }
}
