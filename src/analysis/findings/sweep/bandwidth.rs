//! Exhausted memory bandwidth: more threads do not get more of it. The machine's peak is unknown, so a flat byte rate
//! is not enough: reads must also take longer, or queue up.

use super::context::WidthContext;
use super::places::{grown_function_place, grown_functions};
use super::slower::{counted, evidence};
use super::values::metric;
use super::{Confidence, CostKind, Evidence, Finding, Rule, limits};
use crate::analysis::sweep::Point;
use crate::analysis::text::{digits, percent};
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "memory-bandwidth", title: "memory bandwidth used up", kind: CostKind::Cpi, explains: &[], evaluate };

/// Bytes per second below which no machine's bandwidth is exhausted: less than a tenth of one channel. [P]
const LEAST_BANDWIDTH: f64 = 2e9;

/// Bandwidth at this width over the highest in the sweep. [P]
const BANDWIDTH: f64 = 0.7;

/// Growth of bandwidth over growth of width up to which bandwidth is flat. [P]
const FLAT: f64 = 0.5;

/// Growth of the time per miss. [P]
const LATENCY: f64 = 1.5;

/// Bytes per second over the highest rate seen, if additional threads brought hardly more. `None` if there was more to
/// have, or if the rate is too low to matter.
pub(super) fn saturated(context: &WidthContext<'_>) -> Result<Option<f64>, Why> {
    context.hardware(MetricId::MemoryBandwidth)?;
    let mean = |point: &Point| {
        let values: Result<Vec<f64>, Why> =
            point.runs.iter().map(|run| metric(run, MetricId::MemoryBandwidth)).collect();
        values.map(|values| values.iter().sum::<f64>() / values.len().max(1) as f64)
    };
    let here = mean(context.here)?;
    let narrower = context.points.iter().rev().skip(1);
    let known: Vec<(u32, f64)> = narrower.filter_map(|point| Some((point.n, mean(point).ok()?))).collect();
    if here < LEAST_BANDWIDTH {
        return Ok(None);
    }
    let most = known.iter().map(|(_, bytes)| *bytes).fold(here, f64::max);
    let Some((n, before)) = known.first().copied().filter(|(n, before)| *n > 0 && *before > 0.0) else {
        return Ok(None);
    };
    let wider = f64::from(context.here.n) / f64::from(n) - 1.0;
    let flat = here / before - 1.0 <= FLAT * wider;
    Ok((most > 0.0 && flat && here / most >= BANDWIDTH).then(|| here / most))
}

/// Evidence that memory delivers no more, rather than that no more was requested: reads that take longer, or many in
/// flight at once.
///
/// # Errors
/// Why that cannot be decided.
fn strained(context: &WidthContext<'_>) -> Result<Option<Evidence>, Why> {
    for latency in [MetricId::L3MissLatency, MetricId::ProbeDramLatency] {
        if let Ok(change) = context.metric(latency) {
            let ratio = change.ratio().filter(|_| change.grew_by_factor(LATENCY) && change.grew());
            return Ok(ratio.map(|ratio| Evidence::of("time of a miss, growth", ratio, U::Ratio, LATENCY)));
        }
    }
    let several = [
        (MetricId::TmaMemoryBandwidth, "four or more reads in flight", U::Share, limits::MEMORY_BANDWIDTH),
        (MetricId::Mlp, "reads in flight", U::Count, limits::FEW_READS),
    ];
    for (id, label, unit, threshold) in several {
        if let Ok(change) = context.metric(id) {
            let many = change.here.value >= threshold && change.grew();
            return Ok(many.then(|| Evidence::of(label, change.here.value, unit, threshold)));
        }
    }
    Err(context.no_counter())
}

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let Some((slower, bytes)) = counted(context, MetricId::MemoryBandwidth)? else { return Ok(None) };
    let Some(used) = saturated(context)? else { return Ok(None) };
    let Some(strain) = strained(context)? else { return Ok(None) };
    let mut evidence = evidence(slower.share, &slower);
    evidence.push(Evidence::of("of the highest bandwidth", used, U::Share, BANDWIDTH));
    evidence.push(Evidence::plain("bytes per second", bytes.here.value, U::BytesPerSecond));
    evidence.push(strain);
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(slower.share),
        claim: format!(
            "{} of the lost cores wait for saturated memory: {} GB/s, {} of the highest rate at any width{}.",
            percent(slower.share),
            digits(bytes.here.value * 1e-9),
            percent(used),
            grown_functions(context)
        ),
        evidence,
        confidence: if strain.unit == U::Ratio { Confidence::High } else { Confidence::Medium },
        place: grown_function_place(context),
        culprits: Vec::new(),
        refuted_by: "bandwidth still grows with n, or the time of a miss stays flat",
        next_step: "Compare with the machine's peak (STREAM); touch less memory per operation, in smaller or reused \
             blocks, or spread over more nodes."
            .to_string(),
    }))
}
