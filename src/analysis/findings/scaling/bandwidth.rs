//! Memory bandwidth that is used up: more threads do not get more of it.
//! It never knows the machine's peak: the most that any width of the sweep had stands for it.

use super::places::{grower_place, growers};
use super::slower::{counted, evidence};
use super::step::{Step, metric};
use super::words::{digits, percent};
use super::{Confidence, Evidence, Finding, Kind, Rule, limits};
use crate::analysis::MetricUnit as U;
use crate::analysis::scaling::Point;
use crate::model::Why;

pub(super) const RULE: Rule =
    Rule { id: "memory-bandwidth", title: "memory bandwidth used up", kind: Kind::Cpi, explains: &[], judge };

/// Bytes per second over the most seen, where a further thread brought hardly more; `None` where there was more to have.
pub(super) fn saturated(step: &Step<'_>) -> Result<Option<f64>, Why> {
    step.hardware("memory_bandwidth")?;
    let mean = |point: &Point| {
        let values: Result<Vec<f64>, Why> = point.runs.iter().map(|run| metric(run, "memory_bandwidth")).collect();
        values.map(|values| values.iter().sum::<f64>() / values.len().max(1) as f64)
    };
    let here = mean(step.here)?;
    let narrower = step.points.iter().rev().skip(1);
    let known: Vec<(u32, f64)> = narrower.filter_map(|point| Some((point.n, mean(point).ok()?))).collect();
    let most = known.iter().map(|(_, bytes)| *bytes).fold(here, f64::max);
    let Some((n, before)) = known.first().copied().filter(|(n, before)| *n > 0 && *before > 0.0) else {
        return Ok(None);
    };
    let wider = f64::from(step.here.n) / f64::from(n) - 1.0;
    let flat = here / before - 1.0 <= limits::FLAT * wider;
    Ok((most > 0.0 && flat && here / most >= limits::BANDWIDTH).then(|| here / most))
}

fn judge(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    let Some((slower, bytes)) = counted(step, "memory_bandwidth")? else { return Ok(None) };
    let Some(used) = saturated(step)? else { return Ok(None) };
    let latency = step.metric("l3_latency").ok();
    if latency.is_some_and(|change| !change.by(limits::LATENCY)) {
        return Ok(None);
    }
    let mut evidence = evidence(slower.share, &slower);
    evidence.push(Evidence::of("of the most bandwidth seen", used, U::Share, limits::BANDWIDTH));
    evidence.push(Evidence::plain("bytes a second", bytes.here.value, U::Bytes));
    let ratio = latency.and_then(|change| change.ratio());
    evidence.extend(ratio.map(|ratio| Evidence::of("time of a miss, growth", ratio, U::Ratio, limits::LATENCY)));
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(slower.share),
        claim: format!(
            "{} of the lost cores wait for memory that gives no more: {} GB/s, {} of the most seen at any width{}.",
            percent(slower.share),
            digits(bytes.here.value * 1e-9),
            percent(used),
            growers(step)
        ),
        evidence,
        confidence: if ratio.is_some() { Confidence::High } else { Confidence::Medium },
        place: grower_place(step),
        refuted_by: "bandwidth still grows with n, or the time of a miss stays flat",
        next_step:
            "Compare with what the machine can do (STREAM); touch less memory per operation, in smaller or reused \
                    blocks, or spread over more nodes."
                .to_string(),
    }))
}
