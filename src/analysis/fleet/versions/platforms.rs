//! Compares a change over all platforms with the change on each of them.

use super::sums::{Key, Version};
use super::types::{PlatformCheck, PlatformCost};
use std::collections::BTreeMap;

/// A change below this share has no direction.
const TRIFLE: f64 = 0.005;

/// Operations and CPU seconds of both versions on one platform.
pub(super) type PlatformTotals = (String, [[f64; 2]; 2]);

/// Checks every pair of versions that ran on several platforms.
pub(super) fn platform_checks<'a>(pairs: impl Iterator<Item = (&'a Key, [&'a Version; 2])>) -> Vec<PlatformCheck> {
    let mut all: BTreeMap<(&str, &str, &str), Vec<PlatformTotals>> = BTreeMap::new();
    for ((job, platform), versions) in pairs {
        let totals = versions.map(|version| [version.sum(|host| host.operations), version.sum(|host| host.cpu_s)]);
        let key = (job.as_str(), versions[0].name.as_str(), versions[1].name.as_str());
        all.entry(key).or_default().push((platform.clone(), totals));
    }
    all.into_iter().filter_map(|((job, base, new), totals)| check(job, [base, new], &totals)).collect()
}

/// `None` with fewer than two platforms.
pub(super) fn check(job: &str, versions: [&str; 2], totals: &[PlatformTotals]) -> Option<PlatformCheck> {
    let operations = [0, 1].map(|version: usize| totals.iter().map(|one| one.1[version][0]).sum::<f64>());
    let cost = |(platform, totals): &PlatformTotals| PlatformCost {
        platform: platform.clone(),
        share: [0, 1].map(|version: usize| totals[version][0] / operations[version]),
        cost: totals.map(|[operations, cpu_s]| cpu_s / operations),
    };
    let platforms: Vec<PlatformCost> = totals.iter().map(cost).collect();
    let sum = |of: &dyn Fn(&PlatformCost) -> f64| platforms.iter().map(of).sum::<f64>();
    let whole = [sum(&|one| one.share[0] * one.cost[0]), sum(&|one| one.share[1] * one.cost[1])];
    let way = |cost: [f64; 2]| {
        let change = cost[1] / cost[0] - 1.0;
        if change.abs() < TRIFLE { 0.0 } else { change.signum() }
    };
    let against = platforms.iter().all(|one| way(one.cost) == -way(whole));
    let standardised = sum(&|one| one.share[0] * one.cost[1]);
    let rate_effect = sum(&|one| (one.share[0] + one.share[1]) / 2.0 * (one.cost[1] - one.cost[0]));
    let mix_effect = sum(&|one| (one.cost[0] + one.cost[1]) / 2.0 * (one.share[1] - one.share[0]));
    let sound = whole.iter().all(|cost| *cost > 0.0 && cost.is_finite());
    let disagrees = way(whole) != 0.0 && against;
    let [base, new] = versions.map(str::to_string);
    let job = job.to_string();
    (platforms.len() > 1 && sound).then_some(PlatformCheck {
        job,
        base,
        new,
        platforms,
        whole,
        standardised,
        rate_effect,
        mix_effect,
        disagrees,
    })
}
