//! All causes of a slowdown with their shares, the largest first, and where to look for the leading one.

use super::super::pooled::PooledWindows;
use super::super::types::{Cause, CauseLocation, Evidence};
use super::super::words::comparison;
use super::shares::{SlowdownShares, StolenTime, stolen};
use super::{cycles, no_pmu, waits};
use crate::analysis::diff::PRIMARY;
use crate::analysis::finding::Confidence;
use crate::model::{HostFacts, MetricId};

/// Every cause that fits, the largest first.
pub(in super::super) fn explain(pool: &PooledWindows, facts: &HostFacts) -> Vec<Evidence> {
    let StolenTime { evidence: stolen, in_cpu_time, shares } =
        stolen(pool, SlowdownShares::of(pool), facts.stolen_in_cpu_time);
    let mut all: Vec<Evidence> = path(pool, &shares).into_iter().collect();
    all.extend(waits::evidence(pool, &shares));
    all.extend(stolen);
    let left = (shares.cpu_side() - in_cpu_time).max(0.0);
    all.extend(match pool.get(MetricId::Cpi) {
        Some(_) => cycles::evidence(pool, &shares, in_cpu_time, facts.virtual_machine),
        None => no_pmu::evidence(pool, left),
    });
    if all.is_empty() {
        all.extend(largest_factor(pool, &shares));
    }
    if all.is_empty() {
        all.extend(slow_operations(pool));
    }
    // The sort is stable: equal shares keep the order of decision. A cause without a share is weighted by its
    // confidence.
    all.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    all
}

/// The largest factor, if each grew too little to be reported on its own.
fn largest_factor(pool: &PooledWindows, shares: &SlowdownShares) -> Option<Evidence> {
    let cost = pool.grown(PRIMARY)?;
    let factors =
        [(Cause::PathLength, shares.path), (Cause::CpiOther, shares.cpi), (Cause::Frequency, shares.frequency)];
    let (cause, share) =
        factors.into_iter().filter_map(|(cause, share)| Some((cause, share?))).max_by(|a, b| a.1.total_cmp(&b.1))?;
    let text = format!("{}: several factors grew a little, this one most.", comparison(cost));
    Some(Evidence { cause, share: Some(share), confidence: Confidence::Low, text })
}

/// Operations take longer, and neither their cost nor the waits of threads show why.
fn slow_operations(pool: &PooledWindows) -> Option<Evidence> {
    let slow = pool.grown(MetricId::LatencyP99)?;
    let text = format!(
        "{}: the slowest operations wait for something that neither their CPU time nor the waits for CPUs and storage show.",
        comparison(slow)
    );
    Some(Evidence { cause: Cause::Waiting, share: None, confidence: Confidence::Low, text })
}

/// A cause without a share sorts after those that explain much and before those that explain little.
fn weight(evidence: &Evidence) -> f64 {
    evidence.share.unwrap_or(match evidence.confidence {
        Confidence::High => 0.3,
        Confidence::Medium => 0.2,
        Confidence::Low => 0.05,
    })
}

fn path(pool: &PooledWindows, shares: &SlowdownShares) -> Option<Evidence> {
    let moved = pool.grown(MetricId::PathLength)?;
    Some(Evidence {
        cause: Cause::PathLength,
        share: shares.path,
        confidence: Confidence::High,
        text: format!("{}: the program does more for each operation, whoever else runs.", comparison(moved)),
    })
}

/// Where to look, given the leading cause and whether a neighbour moved with it.
///
/// `cleared`: everything else is ruled out: neighbours by their use and, where instructions cannot be told from cycles,
/// the program by its functions.
pub(in super::super) fn location(cause: Cause, convincing: bool, cleared: bool, facts: &HostFacts) -> CauseLocation {
    match cause {
        Cause::PathLength => CauseLocation::Program,
        Cause::Throttling => CauseLocation::OwnLimits,
        Cause::Steal => CauseLocation::Outside,
        _ if convincing => CauseLocation::Neighbours,
        Cause::Waiting => CauseLocation::Unknown,
        // A queue forms on this machine, whoever filled it.
        Cause::RunQueue | Cause::Smt => CauseLocation::Unknown,
        _ if cleared && facts.virtual_machine => CauseLocation::Outside,
        _ => CauseLocation::Unknown,
    }
}
