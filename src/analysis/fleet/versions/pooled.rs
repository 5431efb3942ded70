//! The change from one version to another over the platforms that ran both: one estimate, and whether platforms differ.

use super::types::PooledChange;
use crate::analysis::fleet::estimate::{Estimate, StandardError, two_sided};
use crate::analysis::stats::{combined, f_upper_tail};
use crate::model::{Measure, Why};
use std::collections::BTreeMap;

/// The change on one platform.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PlatformChange {
    pub change: f64,
    pub error: StandardError,
    /// Hosts that ran the old and the new version.
    pub hosts: [f64; 2],
}

impl PlatformChange {
    /// What the variance is inverse to if the hosts of all platforms scatter alike. The variances that a few hosts tell are
    /// no weights: platforms whose hosts happen to be alike would decide, and the interval would be too narrow.
    fn weight(&self) -> f64 {
        let [old, new] = self.hosts;
        old * new / (old + new)
    }
}

/// Job, old and new version.
pub(super) type PairKey<'a> = (&'a str, &'a str, &'a str);

/// Pools the changes of each pair of versions.
pub(super) fn pooled_changes<'a>(all: impl Iterator<Item = (PairKey<'a>, PlatformChange)>) -> Vec<PooledChange> {
    let mut pairs: BTreeMap<PairKey<'a>, Vec<PlatformChange>> = BTreeMap::new();
    all.for_each(|(key, change)| pairs.entry(key).or_default().push(change));
    pairs.into_iter().filter_map(|(key, changes)| pooled(key, &changes)).collect()
}

/// `None` with fewer than two platforms.
fn pooled((job, base, new): PairKey<'_>, changes: &[PlatformChange]) -> Option<PooledChange> {
    if changes.len() < 2 {
        return None;
    }
    let whole: f64 = changes.iter().map(PlatformChange::weight).sum();
    let share = |one: &PlatformChange| one.weight() / whole;
    let change: f64 = changes.iter().map(|one| share(one) * one.change).sum();
    let parts: Vec<_> = changes.iter().map(|one| ((share(one) * one.error.error).powi(2), one.error.freedom)).collect();
    let error = combined(&parts).map(|(error, freedom)| StandardError { error, freedom: freedom.max(1.0) });
    let hosts = [0, 1].map(|at: usize| changes.iter().map(|one| one.hosts[at]).sum::<f64>());
    let p = two_sided(change, error);
    Some(PooledChange {
        job: job.to_string(),
        base: base.to_string(),
        new: new.to_string(),
        platforms: changes.len() as u64,
        hosts: hosts.map(|hosts| hosts as u64),
        cost_change: Measure::exact(Estimate::new(change, error, hosts[0] + hosts[1])),
        p,
        p_corrected: p,
        p_alike: alike(changes).map_or(Measure::Missing(Why::TooFewHosts), Measure::exact),
    })
}

/// Welch's test of equal means, whose variances are estimated from samples of their own: the probability of changes so
/// different by chance.
fn alike(changes: &[PlatformChange]) -> Option<f64> {
    let known = changes.iter().all(|one| one.error.error > 0.0 && one.error.error.is_finite());
    let weights: Vec<f64> = changes.iter().map(|one| one.error.error.powi(-2)).collect();
    let (count, whole) = (changes.len() as f64, weights.iter().sum::<f64>());
    let mean = changes.iter().zip(&weights).map(|(one, weight)| one.change * weight).sum::<f64>() / whole;
    let apart = changes.iter().zip(&weights).map(|(one, weight)| weight * (one.change - mean).powi(2)).sum::<f64>();
    let spent: f64 =
        changes.iter().zip(&weights).map(|(one, weight)| (1.0 - weight / whole).powi(2) / one.error.freedom).sum();
    let freedom = (count * count - 1.0) / (3.0 * spent);
    let ratio = apart / (count - 1.0) / (1.0 + 2.0 * (count - 2.0) / (count * count - 1.0) * spent);
    if known { f_upper_tail(ratio, count - 1.0, freedom) } else { None }
}

#[cfg(test)]
#[path = "tests/pooled.rs"]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests;
