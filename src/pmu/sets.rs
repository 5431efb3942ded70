//! Named sets of metrics, and the default set. Independent of the CPU.

use crate::error::{Error, ErrorKind, Result};
use crate::model::{MetricDef, MetricId, MetricSet};
use crate::pmu::names;

/// The metrics to count.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Wanted {
    /// Metrics, highest priority first.
    pub metrics: Vec<&'static MetricDef>,
    /// Maximum number of groups: with more, each would be counted too briefly to be useful. `None` means no limit.
    pub most_groups: Option<usize>,
}

/// Placed first in the default set: findings depend on these metrics, so the limit of groups must not drop them.
const FIRST: &[MetricId] = &[
    MetricId::BranchMpki,
    MetricId::LlcMpki,
    MetricId::MemoryBandwidth,
    MetricId::L2Mpki,
    MetricId::PageWalkShare,
    MetricId::RemoteDramShare,
    MetricId::HitmPerKinstr,
    MetricId::TmaFrontend,
    MetricId::TmaBadSpeculation,
    MetricId::TmaBackend,
    MetricId::TmaRetiring,
    MetricId::TmaSmtContention,
    MetricId::TmaDramBound,
    MetricId::TmaMemoryBandwidth,
    MetricId::L1dMpki,
];

/// Default number of groups that the kernel multiplexes: each is counted at least a sixth of the time.
const GROUPS_BY_DEFAULT: usize = 6;

/// A set, its name, and whether it is counted by default; highest priority first.
const SETS: &[(MetricSet, &str, bool)] = &[
    (MetricSet::Base, "base", true),
    (MetricSet::Cache, "cache", true),
    (MetricSet::Tlb, "tlb", true),
    (MetricSet::Numa, "numa", true),
    (MetricSet::Sharing, "sharing", true),
    (MetricSet::Topdown, "topdown", true),
    (MetricSet::Memory, "memory", true),
    (MetricSet::More, "more", false),
];

/// What `-M` calls a set.
pub(super) fn name_of_set(set: MetricSet) -> &'static str {
    SETS.iter().find(|(of, ..)| *of == set).map_or("all", |(_, name, _)| name)
}

/// The metrics of a set, highest priority first.
fn metrics_of(set: MetricSet) -> Vec<MetricId> {
    let place = |id: &MetricId| id.def().set.filter(|(of, _)| *of == set).map(|(_, place)| place);
    let mut metrics: Vec<_> = MetricId::from_events().filter_map(|id| Some((place(&id)?, id))).collect();
    metrics.sort_unstable();
    metrics.into_iter().map(|(_, id)| id).collect()
}

/// The metrics of a list such as `cache,tlb,mlp`: names of sets and of metrics, `default`, `all` or `none`. Each metric
/// occurs once, in the given order.
///
/// # Errors
/// `Usage` for an unknown name, with the nearest known one.
pub fn wanted(list: &str) -> Result<Wanted> {
    let mut metrics = Vec::new();
    for word in list.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        for metric in named(word)?.into_iter().map(MetricId::def) {
            if !metrics.contains(&metric) {
                metrics.push(metric);
            }
        }
    }
    let most_groups = (list.trim() == "default").then_some(GROUPS_BY_DEFAULT);
    Ok(Wanted { metrics, most_groups })
}

fn named(word: &str) -> Result<Vec<MetricId>> {
    let of = |by_default: bool| SETS.iter().filter(move |(.., counted)| *counted || !by_default);
    let all = |by_default| of(by_default).flat_map(|(set, ..)| metrics_of(*set)).collect::<Vec<_>>();
    match word {
        "none" => return Ok(Vec::new()),
        "all" => return Ok(all(false)),
        "default" => return Ok([FIRST.to_vec(), all(true)].concat()),
        _ => {}
    }
    if let Some((set, ..)) = SETS.iter().find(|(_, name, _)| *name == word) {
        return Ok(metrics_of(*set));
    }
    if let Some(id) = MetricId::named(word).filter(|id| id.def().set.is_some()) {
        return Ok(vec![id]);
    }
    let known = MetricId::from_events().map(MetricId::name).chain(SETS.iter().map(|(_, name, _)| *name));
    let error = Error::new(ErrorKind::Usage, format!("unknown metric or set '{word}'"));
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
    fn all_sets_together_are_all_hardware_metrics() {
        assert_eq!(wanted("all").unwrap().metrics.len(), MetricId::from_events().count());
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
