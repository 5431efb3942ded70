//! Compares the answers with what was planted into a simulated fleet: what was found, missed, and found though nothing was
//! planted.

use super::types::FleetView;
use crate::analysis::fleet::{DailyCourse, Estimate, OutlierHost};
use crate::model::{Measure, PlantedCause, PlantedKind, PlantedTruth};
use serde::Serialize;
use std::collections::BTreeSet;

/// A change or a rise counts as found below this probability by chance, corrected for the number of comparisons.
const LIMIT: f64 = 0.05;
/// Hours between the peak that was planted and the one that was found.
const NEAR_HOURS: f64 = 2.0;

/// How the causes of one kind were found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindResult {
    /// The kind.
    pub kind: PlantedKind,
    /// What is counted: `hosts`, `comparisons`, `pairs`, `jobs`.
    pub of: &'static str,
    /// How many were planted.
    pub planted: usize,
    /// Of these, how many were found.
    pub found: usize,
    /// Which were not.
    pub missed: Vec<String>,
    /// Found though nothing of the kind was planted.
    pub false_finds: Vec<String>,
    /// How many could have been found falsely; `None` if that is not a number of things tested.
    pub not_planted: Option<usize>,
    /// Intervals that contain the planted size, and all of them.
    pub covered: Option<(usize, usize)>,
}

impl KindResult {
    fn new(kind: PlantedKind, of: &'static str) -> KindResult {
        KindResult {
            kind,
            of,
            planted: 0,
            found: 0,
            missed: Vec::new(),
            false_finds: Vec::new(),
            not_planted: None,
            covered: None,
        }
    }

    fn count(&mut self, found: bool, name: impl FnOnce() -> String) {
        self.planted += 1;
        if found { self.found += 1 } else { self.missed.push(name()) }
    }

    fn covers(&mut self, found: &Measure<Estimate>, size: f64) {
        let Some(Some((low, high))) = found.value().map(|found| found.interval.value()) else { return };
        let (inside, all) = self.covered.unwrap_or_default();
        self.covered = Some((inside + usize::from((*low..=*high).contains(&size)), all + 1));
    }
}

/// Each kind of cause, in the order of the report.
#[must_use]
pub fn check(view: &FleetView, truth: &PlantedTruth) -> Vec<KindResult> {
    vec![
        bad_hosts(view, truth),
        lowered_clocks(view, truth),
        noisy_neighbours(view, truth),
        versions(view, truth, PlantedKind::Version),
        pooled_versions(view, truth, PlantedKind::Version),
        versions(view, truth, PlantedKind::SameVersion),
        pooled_versions(view, truth, PlantedKind::SameVersion),
        configs(view, truth),
        seasons(view, truth),
    ]
}

fn of_kind(truth: &PlantedTruth, kind: PlantedKind) -> impl Iterator<Item = &PlantedCause> {
    truth.causes.iter().filter(move |cause| cause.kind == kind)
}

fn outliers<'a>(view: &'a FleetView, measure: &'a str) -> impl Iterator<Item = &'a OutlierHost> {
    view.jobs.iter().flat_map(|job| &job.outliers).filter(move |host| host.beyond_others && host.measure == measure)
}

fn expensive<'a>(view: &'a FleetView, measure: &'a str) -> impl Iterator<Item = &'a str> {
    view.hosts.expensive.iter().filter(move |host| host.measure == measure).map(|host| host.host.as_str())
}

fn hosts_of(truth: &PlantedTruth, kind: PlantedKind) -> BTreeSet<&str> {
    of_kind(truth, kind).flat_map(|cause| &cause.hosts).map(String::as_str).collect()
}

/// Unusual or expensive by CPI. A noisy neighbour makes its hosts so, which is no false find.
fn bad_hosts(view: &FleetView, truth: &PlantedTruth) -> KindResult {
    let mut result = KindResult::new(PlantedKind::BadHost, "hosts");
    let found: BTreeSet<&str> =
        outliers(view, "cpi").map(|host| host.host.as_str()).chain(expensive(view, "cpi")).collect();
    for cause in of_kind(truth, PlantedKind::BadHost) {
        for host in &cause.hosts {
            result.count(found.contains(host.as_str()), || host.clone());
        }
    }
    let (bad, noisy) = (hosts_of(truth, PlantedKind::BadHost), hosts_of(truth, PlantedKind::NoisyNeighbour));
    let others = found.into_iter().filter(|host| !bad.contains(host) && !noisy.contains(host));
    result.false_finds = others.map(String::from).collect();
    result.not_planted = Some((view.extent.hosts as usize).saturating_sub(bad.union(&noisy).count()));
    result
}

/// By CPU time per operation, at the time; CPI does not show them.
fn lowered_clocks(view: &FleetView, truth: &PlantedTruth) -> KindResult {
    let mut result = KindResult::new(PlantedKind::LoweredClock, "hosts");
    for cause in of_kind(truth, PlantedKind::LoweredClock) {
        for name in &cause.hosts {
            let overlaps = |host: &OutlierHost| host.first_s < cause.to_s && host.last_s >= cause.from_s;
            let found = outliers(view, "cpu_s_per_op").any(|host| host.host == *name && overlaps(host));
            result.count(found, || name.clone());
        }
    }
    let kinds = [PlantedKind::BadHost, PlantedKind::LoweredClock, PlantedKind::NoisyNeighbour];
    let known: BTreeSet<&str> = kinds.into_iter().flat_map(|kind| hosts_of(truth, kind)).collect();
    let unusual = outliers(view, "cpu_s_per_op").map(|host| host.host.as_str());
    let found: BTreeSet<&str> = unusual.chain(expensive(view, "cpu_s_per_op")).collect();
    result.false_finds = found.difference(&known).map(|host| (*host).to_string()).collect();
    result.not_planted = Some((view.extent.hosts as usize).saturating_sub(known.len()));
    result
}

fn noisy_neighbours(view: &FleetView, truth: &PlantedTruth) -> KindResult {
    let mut result = KindResult::new(PlantedKind::NoisyNeighbour, "pairs");
    let found: BTreeSet<(&str, &str)> = view
        .jobs
        .iter()
        .flat_map(|job| &job.suspects)
        .map(|suspect| (suspect.job.as_str(), suspect.neighbour.as_str()))
        .collect();
    let planted: BTreeSet<(&str, &str)> = of_kind(truth, PlantedKind::NoisyNeighbour)
        .flat_map(|cause| cause.jobs.iter().filter_map(|job| Some((job.as_str(), cause.neighbour.as_deref()?))))
        .collect();
    for (job, neighbour) in &planted {
        result.count(found.contains(&(job, neighbour)), || format!("{job} beside {neighbour}"));
    }
    result.false_finds =
        found.difference(&planted).map(|(job, neighbour)| format!("{job} beside {neighbour}")).collect();
    // Each pair is tested by CPI and by CPU time per operation.
    result.not_planted = Some((view.pairs_tested as usize / 2).saturating_sub(planted.len()));
    result
}

/// Each comparison on a platform counts on its own.
fn versions(view: &FleetView, truth: &PlantedTruth, kind: PlantedKind) -> KindResult {
    let all = view.versions.iter().map(|one| VersionChange {
        job: &one.job,
        new: &one.new,
        name: format!("{} on {}", one.job, one.platform),
        cost_change: &one.cost_change,
        p: one.p_corrected,
    });
    changes(KindResult::new(kind, "comparisons"), truth, all)
}

/// All platforms of a job together.
fn pooled_versions(view: &FleetView, truth: &PlantedTruth, kind: PlantedKind) -> KindResult {
    let all = view.pooled_versions.iter().map(|one| VersionChange {
        job: &one.job,
        new: &one.new,
        name: one.job.clone(),
        cost_change: &one.cost_change,
        p: one.p_corrected,
    });
    changes(KindResult::new(kind, "jobs"), truth, all)
}

/// The change from one version to another, on a platform or on all.
struct VersionChange<'a> {
    job: &'a String,
    new: &'a String,
    name: String,
    cost_change: &'a Measure<Estimate>,
    p: Measure<f64>,
}

fn changes<'a>(
    mut result: KindResult,
    truth: &PlantedTruth,
    all: impl Iterator<Item = VersionChange<'a>>,
) -> KindResult {
    for one in all {
        let is_planted =
            |cause: &&PlantedCause| cause.jobs.contains(one.job) && cause.version.as_ref() == Some(one.new);
        let Some(cause) = of_kind(truth, result.kind).find(is_planted) else { continue };
        let changed = one.p.value().is_some_and(|p| *p < LIMIT);
        result.covers(one.cost_change, cause.size);
        if result.kind == PlantedKind::Version {
            let dearer = one.cost_change.value().is_some_and(|change| change.value > 0.0);
            result.count(changed && dearer, || one.name);
        } else {
            result.not_planted = Some(result.not_planted.unwrap_or(0) + 1);
            result.false_finds.extend(changed.then_some(one.name));
        }
    }
    result
}

fn configs(view: &FleetView, truth: &PlantedTruth) -> KindResult {
    let mut result = KindResult::new(PlantedKind::Config, "comparisons");
    for cause in of_kind(truth, PlantedKind::Config) {
        let new = cause.config.as_deref().unwrap_or("");
        for one in view.configs.iter().filter(|one| one.new == new || one.base == new) {
            // The configuration with more CPU time is the base.
            let turned = one.base == new;
            let size = if turned { 1.0 / (1.0 + cause.size) } else { 1.0 + cause.size };
            let p = one.p.value().map(|p| if turned { 1.0 - p } else { *p });
            result.count(p.is_some_and(|p| p < LIMIT), || new.to_string());
            result.covers(&one.speed_up, size);
        }
    }
    result
}

/// By the hour of the highest load.
fn seasons(view: &FleetView, truth: &PlantedTruth) -> KindResult {
    let mut result = KindResult::new(PlantedKind::Season, "jobs");
    for cause in of_kind(truth, PlantedKind::Season) {
        for job in &cause.jobs {
            let season = view.seasons.iter().find(|season| season.job == *job);
            let near = season.and_then(|season| peak_hour(&season.operations_per_s)).zip(cause.peak_hour);
            let found = near.is_some_and(|(found, planted)| {
                let apart = (found - planted).rem_euclid(24.0);
                apart.min(24.0 - apart) <= NEAR_HOURS
            });
            result.count(found, || job.clone());
        }
    }
    result
}

/// The middle of the hour with the highest mean.
fn peak_hour(course: &DailyCourse) -> Option<f64> {
    let most = course.hours.iter().max_by(|a, b| a.mean.value.total_cmp(&b.mean.value));
    most.map(|hour| f64::from(hour.hour) + 0.5)
}
