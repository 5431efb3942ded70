//! A last-level cache that has become too small for the threads together. Exhausted bandwidth is excluded: misses come
//! with it.

use super::bandwidth::saturated;
use super::hot::hot;
use super::mean::{Change, Mean};
use super::places::{grower_place, growers};
use super::slower::{counted, evidence};
use super::step::Step;
use super::{Confidence, Evidence, Finding, Kind, Rule, limits};
use crate::analysis::text::{digits, percent};
use crate::model::Unit as U;
use crate::model::Why;

pub(super) const RULE: Rule =
    Rule { id: "cache-capacity", title: "last-level cache too small", kind: Kind::Cpi, explains: &[], judge };

/// Misses of the level above that grow by this part of the last level's growth are its cause.
const SOONER: f64 = 0.5;

fn judge(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    let Some((slower, misses)) = counted(step, "llc_mpki")? else { return Ok(None) };
    let misses = per_op(step, misses);
    // Each thread touches more data, whatever the cache size, or other cores take its lines away. A line that the last
    // level held before and no longer holds was missed by the level above it all along.
    let sooner = step.metric("l2_mpki").map(|change| per_op(step, change));
    let as_much = |sooner: &Change| sooner.ratio() >= misses.ratio() || sooner.amount() >= SOONER * misses.amount();
    if sooner.as_ref().is_ok_and(|sooner| sooner.by(limits::MISSES) && as_much(sooner)) {
        return Ok(None);
    }
    let full = saturated(step).is_ok_and(|used| used.is_some());
    // A line that moves between caches is a miss of both. Only its own counter shows that it is in a cache.
    let moves = || Ok::<_, Why>(sooner.is_err() || hot(step)?.is_some_and(|hot| hot.stands_out()));
    if step.hardware("hitm_per_kinstr").is_err() && moves()? {
        return Err(step.no_counter());
    }
    if !misses.by(limits::MISSES) || !misses.grew() || full {
        return Ok(None);
    }
    let Some(share) = explained(step, &misses, slower.share) else { return Ok(None) };
    let ratio = misses.ratio();
    let mut evidence = evidence(share, &slower);
    evidence.extend(ratio.map(|ratio| Evidence::of("misses, growth", ratio, U::Ratio, limits::MISSES)));
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "up to {} of the lost cores wait for memory because the last-level cache holds less for each thread: {} \
             misses per operation, {} at n={}{}.",
            percent(share),
            digits(misses.here.value),
            digits(misses.base.value),
            step.base.n,
            growers(step)
        ),
        evidence,
        confidence: Confidence::Medium,
        place: grower_place(step),
        refuted_by: "misses of the caches before it grow as much: then each thread touches more",
        next_step:
            "Let threads work on the same data at the same time, or on smaller pieces; compare with fewer threads per \
                    cache."
                .to_string(),
    }))
}

/// The largest share of the lost cores that the additional misses can explain, if it is large enough.
fn explained(step: &Step<'_>, misses: &Change, share: f64) -> Option<f64> {
    let counted = step.number(|numbers| numbers.path_length).is_ok();
    let cost = step.number(|numbers| numbers.cpu_ns_per_op).ok().filter(|_| counted);
    let most = cost.map_or(share, |cost| step.work() * misses.amount() * limits::MISS_NS / cost.amount());
    Some(share.min(most)).filter(|share| *share >= limits::FACTOR)
}

/// Converts misses per thousand instructions to misses per operation; unchanged if instructions were not counted.
fn per_op(step: &Step<'_>, misses: Change) -> Change {
    let Ok(path) = step.number(|numbers| numbers.path_length) else { return misses };
    let times = |mean: Mean, path: Mean| {
        let factor = path.value / 1000.0;
        Mean { value: mean.value * factor, error: mean.error * factor }
    };
    Change { base: times(misses.base, path.base), here: times(misses.here, path.here) }
}
