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
#[must_use]
pub fn name_of_set(set: MetricSet) -> &'static str {
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

    #[test]
    fn every_set_is_found_by_its_name_and_holds_its_own_metrics_by_priority() {
        for (set, name, _) in SETS {
            let metrics = wanted(name).unwrap();
            assert!(!metrics.metrics.is_empty() && metrics.most_groups.is_none(), "{name}");
            let places: Vec<_> = metrics.metrics.iter().map(|metric| metric.set.unwrap()).collect();
            assert!(places.iter().all(|(of, _)| of == set), "{name}: {places:?}");
            assert!(places.windows(2).all(|pair| pair[0].1 <= pair[1].1), "{name}: {places:?}");
            assert_eq!(name_of_set(*set), *name);
        }
    }

    #[test]
    fn the_default_is_bounded_and_begins_with_what_findings_need() {
        let default = wanted("default").unwrap();
        assert_eq!(default.most_groups, Some(GROUPS_BY_DEFAULT));
        let first: Vec<_> = default.metrics.iter().take(FIRST.len()).map(|metric| metric.name).collect();
        assert_eq!(first, FIRST.iter().map(|id| id.name()).collect::<Vec<_>>());
        assert!(default.metrics.iter().all(|metric| metric.set.is_some_and(|(set, _)| set != MetricSet::More)));
        let mut names: Vec<_> = default.metrics.iter().map(|metric| metric.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), default.metrics.len(), "each once");
        assert_eq!(wanted("default,cache").unwrap().most_groups, None, "who names more asks for all of it");
        assert_eq!(wanted(" default ").unwrap().most_groups, Some(GROUPS_BY_DEFAULT));
    }

    #[test]
    fn a_list_keeps_its_order_and_empty_words_are_nothing() {
        let names = |list| wanted(list).unwrap().metrics.iter().map(|metric| metric.name).collect::<Vec<_>>();
        assert_eq!(names("page_walk_share,llc_mpki"), ["page_walk_share", "llc_mpki"]);
        assert_eq!(names("llc_mpki,page_walk_share,llc_mpki"), ["llc_mpki", "page_walk_share"]);
        assert!(names("").is_empty() && names(" , ,").is_empty() && names("none,none").is_empty());
        assert_eq!(names("none,llc_mpki"), ["llc_mpki"]);
        assert_eq!(names("all,default").len(), names("all").len());
    }

    #[test]
    fn what_is_neither_a_set_nor_a_hardware_metric_is_refused() {
        for (list, near) in [
            ("cach", Some("Did you mean 'cache'?")),
            ("cache,topdwn", Some("Did you mean 'topdown'?")),
            ("zzzzzzzzzzzz", Some("`ironlaw metrics --all` lists them all.")),
            // A metric of the registry, but not one of hardware events.
            ("cpu_utilization_of_nothing", None),
        ] {
            let error = wanted(list).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage, "{list}");
            assert!(near.is_none_or(|near| error.remedy() == Some(near)), "{list}: {:?}", error.remedy());
        }
    }
}
