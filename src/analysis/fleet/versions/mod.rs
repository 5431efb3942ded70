//! Versions of a job compared: cost at equal intensity, what a change consists of, and whether the sum over platforms
//! misleads.

mod confidence;
mod cost;
mod extremes;
mod factors;
mod hosts;
mod platforms;
mod pooled;
mod sums;
#[cfg(test)]
#[path = "tests/simulated.rs"]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests;
mod types;

pub use confidence::one_sided_confidence;
pub use types::{
    FactorChange, FactorSplit, Intensity, PlatformCheck, PlatformCost, PooledChange, VersionAnswer, VersionComparison,
};

use crate::analysis::stats::benjamini_hochberg;
use crate::error::Result;
use crate::model::{Measure, ResultTable};
use cost::AdjustedCost;
use pooled::PlatformChange;
use sums::{Key, Version};

/// Comparisons of `versions.sql`: of every version with `base`, or else with the version that first ran before it.
///
/// # Errors
/// If a column is absent or has the wrong type.
pub fn versions(table: &ResultTable, base: Option<&str>) -> Result<VersionAnswer> {
    let all = sums::versions_by_job(table)?;
    let mut pairs: Vec<(&Key, [&Version; 2])> = Vec::new();
    for (key, versions) in &all {
        match base {
            Some(base) => {
                let Some(old) = versions.iter().find(|version| version.name == base) else { continue };
                pairs.extend(versions.iter().filter(|new| new.name != base).map(|new| (key, [old, new])));
            }
            None => pairs.extend(versions.iter().zip(versions.iter().skip(1)).map(|(old, new)| (key, [old, new]))),
        }
    }
    let (mut comparisons, mut adjusted) = (Vec::new(), Vec::new());
    for (key, pair) in &pairs {
        let (kept, left_out) = extremes::without_extremes(*pair);
        let kept = [&kept[0], &kept[1]];
        let cost = cost::adjusted(kept);
        comparisons.push(VersionComparison { left_out, ..compared(key, kept, cost) });
        adjusted.push(cost);
    }
    correct(&mut comparisons, |one| one.p, |one, p| one.p_corrected = p);
    let changes = comparisons.iter().zip(&adjusted).filter_map(|(one, adjusted)| {
        let adjusted = adjusted.value()?;
        let hosts = one.hosts.map(|hosts| hosts as f64);
        let change = PlatformChange { change: adjusted.change.value, error: adjusted.error?, hosts };
        Some(((one.job.as_str(), one.base.as_str(), one.new.as_str()), change))
    });
    let mut pooled = pooled::pooled_changes(changes);
    correct(&mut pooled, |one| one.p, |one, p| one.p_corrected = p);
    Ok(VersionAnswer { comparisons, checks: platforms::platform_checks(pairs.into_iter()), pooled })
}

/// Corrects probabilities for their number.
fn correct<T>(all: &mut [T], of: impl Fn(&T) -> Measure<f64>, set: impl Fn(&mut T, Measure<f64>)) {
    let p: Vec<f64> = all.iter().map(|one| of(one).value().copied().unwrap_or(f64::NAN)).collect();
    for (one, corrected) in all.iter_mut().zip(benjamini_hochberg(&p)) {
        let corrected = of(one).map(|_| corrected);
        set(one, corrected);
    }
}

fn compared((job, platform): &Key, pair: [&Version; 2], adjusted: Measure<AdjustedCost>) -> VersionComparison {
    let intensity = pair.map(cost::intensity);
    let change = adjusted.map(|adjusted| adjusted.change);
    let p = flat(adjusted.map(|adjusted| adjusted.p));
    VersionComparison {
        job: job.clone(),
        platform: platform.clone(),
        base: pair[0].name.clone(),
        new: pair[1].name.clone(),
        hosts: pair.map(|version| version.hosts.len() as u64),
        left_out: Vec::new(),
        windows: pair.map(|version| version.sum(|host| host.windows) as u64),
        intensity,
        cost: [0, 1].map(|at: usize| adjusted.map(|adjusted| adjusted.cost[at])),
        cost_change: change,
        rue_change: change.map(|change| change.through(|change| 1.0 / (1.0 + change) - 1.0)),
        raw_cost_change: factors::raw_change(pair),
        confidence_cheaper: flat(adjusted.map(|adjusted| adjusted.confidence_cheaper)),
        p,
        p_corrected: p,
        extrapolated: (intensity[0].mean - intensity[1].mean).abs() > intensity[0].sd + intensity[1].sd,
        factors: factors::factors(pair),
    }
}

fn flat(measure: Measure<Measure<f64>>) -> Measure<f64> {
    match measure {
        Measure::Known { value, .. } => value,
        Measure::Missing(why) => Measure::Missing(why),
    }
}
