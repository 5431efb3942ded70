//! Versions of a job compared: cost at equal intensity, what a change consists of, and whether the sum over platforms
//! misleads.

mod confidence;
mod cost;
mod factors;
mod hosts;
mod platforms;
mod sums;
#[cfg(test)]
#[path = "tests/simulated.rs"]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests;
mod types;

pub use confidence::one_sided_confidence;
pub use types::{FactorChange, FactorSplit, Intensity, PlatformCheck, PlatformCost, VersionAnswer, VersionComparison};

use crate::analysis::stats::benjamini_hochberg;
use crate::error::Result;
use crate::model::{Measure, ResultTable};
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
    let mut comparisons: Vec<VersionComparison> = pairs.iter().map(|(key, pair)| compared(key, *pair)).collect();
    let p: Vec<f64> = comparisons.iter().map(|one| one.p.value().copied().unwrap_or(f64::NAN)).collect();
    for (one, corrected) in comparisons.iter_mut().zip(benjamini_hochberg(&p)) {
        one.p_corrected = one.p.map(|_| corrected);
    }
    Ok(VersionAnswer { comparisons, checks: platforms::platform_checks(pairs.into_iter()) })
}

fn compared((job, platform): &Key, pair: [&Version; 2]) -> VersionComparison {
    let adjusted = cost::adjusted(pair);
    let intensity = pair.map(cost::intensity);
    let change = adjusted.map(|adjusted| adjusted.change);
    let p = flat(adjusted.map(|adjusted| adjusted.p));
    VersionComparison {
        job: job.clone(),
        platform: platform.clone(),
        base: pair[0].name.clone(),
        new: pair[1].name.clone(),
        hosts: pair.map(|version| version.hosts.len() as u64),
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
