//! A last-level cache that has become too small for the threads together. Exhausted bandwidth is excluded: misses come
//! with it.

use super::bandwidth::saturated;
use super::context::WidthContext;
use super::hot_function::hot_function;
use super::places::{grown_function_place, grown_functions};
use super::slower::{counted, evidence};
use super::values::{Change, Mean};
use super::{Confidence, CostKind, Evidence, Finding, Rule, limits};
use crate::analysis::text::{digits, percent};
use crate::model::{MetricId, Why};

pub(super) const RULE: Rule =
    Rule { id: "cache-capacity", title: "last-level cache too small", kind: CostKind::Cpi, explains: &[], evaluate };

/// Misses of the level above that grow by this part of the last level's growth are its cause.
const SOONER: f64 = 0.5;

/// Growth of last-level cache misses per operation. [P]
const MISSES: f64 = 1.3;

/// Maximum nanoseconds of a last-level cache miss, to local memory whose bandwidth is not exhausted. [P]
const MISS_NS: f64 = 150.0;

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let Some((slower, misses)) = counted(context, MetricId::LlcMpki)? else { return Ok(None) };
    let misses = per_op(context, misses);
    // Each thread touches more data, whatever the cache size, or other cores take its lines away. A line that the last
    // level held before and no longer holds was missed by the level above it all along.
    let sooner = context.metric(MetricId::L2Mpki).map(|change| per_op(context, change));
    let as_much = |sooner: &Change| sooner.ratio() >= misses.ratio() || sooner.amount() >= SOONER * misses.amount();
    if sooner.as_ref().is_ok_and(|sooner| sooner.grew_by_factor(MISSES) && as_much(sooner)) {
        return Ok(None);
    }
    let full = saturated(context).is_ok_and(|used| used.is_some());
    // A line that moves between caches is a miss of both. Only its own counter shows that it is in a cache.
    let moves = || {
        Ok::<_, Why>(sooner.is_err() || hot_function(context)?.is_some_and(|hot_function| hot_function.stands_out()))
    };
    if context.hardware(MetricId::HitmPerKinstr).is_err() && moves()? {
        return Err(context.no_counter());
    }
    if !misses.grew_by_factor(MISSES) || !misses.grew() || full {
        return Ok(None);
    }
    let Some(share) = explainable_share(context, &misses, slower.share) else { return Ok(None) };
    let ratio = misses.ratio();
    let mut evidence = evidence(share, &slower);
    evidence.extend(Evidence::growth("misses, growth", ratio, MISSES));
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "up to {} of the lost cores wait for memory because each thread has less of the last-level cache: {} \
             misses per operation, {} at n={}{}.",
            percent(share),
            digits(misses.here.value),
            digits(misses.base.value),
            context.base.n,
            grown_functions(context)
        ),
        evidence,
        confidence: Confidence::Medium,
        place: grown_function_place(context),
        culprits: Vec::new(),
        refuted_by: "misses of the caches before it grow as much: then each thread touches more",
        next_step:
            "Let threads work on the same data at the same time, or on smaller pieces; compare with fewer threads per \
                    cache."
                .to_string(),
    }))
}

/// The largest share of the lost cores that the additional misses can explain, if it is large enough.
fn explainable_share(context: &WidthContext<'_>, misses: &Change, share: f64) -> Option<f64> {
    let counted = context.number(|numbers| numbers.path_length).is_ok();
    let cost = context.number(|numbers| numbers.cpu_ns_per_op).ok().filter(|_| counted);
    let most = cost.map_or(share, |cost| context.work() * misses.amount() * MISS_NS / cost.amount());
    Some(share.min(most)).filter(|share| *share >= limits::FACTOR)
}

/// Converts misses per thousand instructions to misses per operation; unchanged if instructions were not counted.
fn per_op(context: &WidthContext<'_>, misses: Change) -> Change {
    let Ok(path) = context.number(|numbers| numbers.path_length) else { return misses };
    let times = |mean: Mean, path: Mean| {
        let factor = path.value / 1000.0;
        Mean { value: mean.value * factor, error: mean.error * factor }
    };
    Change { base: times(misses.base, path.base), here: times(misses.here, path.here) }
}
