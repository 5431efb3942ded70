//! Rates around the law, in groups that each answer one question: memory, kernel, limits, the machine, ironlaw itself.
//! Rates that could not be counted stay in their group as missing.

use super::factor::{Factor, Sources};
use crate::model::MetricId;
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
const GROUPS: &[(&str, &[(MetricId, &str)])] = &[
    (
        "CPU",
        &[
            (MetricId::UserShare, "user"),
            (MetricId::SystemShare, "kernel"),
            (MetricId::StealShare, "steal"),
            (MetricId::Ipc, "IPC"),
        ],
    ),
    (
        "memory",
        &[
            (MetricId::LlcMpki, "LLC MPKI"),
            (MetricId::PageWalkShare, "page walk"),
            (MetricId::RemoteDramShare, "remote"),
        ],
    ),
    (
        "kernel",
        &[
            (MetricId::VoluntarySwitches, "waits"),
            (MetricId::InvoluntarySwitches, "preempts"),
            (MetricId::MinorFaults, "faults"),
            (MetricId::MajorFaults, "major"),
            (MetricId::Migrations, "migrated"),
        ],
    ),
    (
        "limits",
        &[
            (MetricId::ThrottledShare, "throttled"),
            (MetricId::PsiCpuSome, "PSI CPU"),
            (MetricId::PsiMemorySome, "PSI mem"),
            (MetricId::PsiIoSome, "PSI I/O"),
        ],
    ),
    (
        "host",
        &[
            (MetricId::HostBusy, "busy"),
            (MetricId::HostPsiCpuSome, "PSI CPU"),
            (MetricId::HostPsiMemorySome, "PSI mem"),
            (MetricId::HostPsiIoSome, "PSI I/O"),
        ],
    ),
    (
        "ironlaw",
        &[
            (MetricId::ToolCpuShare, "own CPU"),
            (MetricId::SamplingShare, "sampling"),
            (MetricId::SamplesCoverage, "sampled"),
            (MetricId::SamplesLostShare, "lost"),
            (MetricId::ToolMemory, "memory"),
        ],
    ),
];

/// All groups.
pub(super) fn groups(from: &Sources<'_>) -> Vec<RateGroup> {
    let rates =
        |rates: &[(MetricId, &'static str)]| rates.iter().map(|(id, label)| Factor::metric(*id, label, from)).collect();
    let groups = GROUPS.iter().map(|(name, table)| RateGroup { name, rates: rates(table) });
    groups.collect()
}

#[cfg(test)]
mod tests {
    use crate::analysis::testing::Synthetic;
    use crate::model::MetricId;
    use crate::view::overview::Overview;
    use crate::view::overview::tests::context;

    #[test]
    fn every_rate_names_a_metric_that_exists_and_says_why_it_is_missing() {
        let profile = Synthetic::new().finish();
        let view = Overview::of(&context(&profile));
        let rates = view.groups.iter().flat_map(|group| &group.rates);
        for rate in rates.chain(&view.law).chain(&view.stand_ins) {
            assert!(!rate.formula.is_empty(), "{} is no metric", rate.id.name());
            assert!(rate.value.why().is_some() || rate.id == MetricId::SamplesLostShare, "{}", rate.id.name());
        }
    }
}
