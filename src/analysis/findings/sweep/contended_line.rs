//! One function that costs several times more per operation with more threads, where no counter distinguishes spinning
//! from a shared cache line. The finding covers both and states so. It applies only without an instruction count: with
//! one, each case has its own rule.

use super::hot::{Hot, hot};
use super::step::Step;
use super::{Confidence, Evidence, Finding, Kind, Place, Rule, limits};
use crate::analysis::Axis;
use crate::analysis::text::{digits, name, percent, seconds};
use crate::model::Unit as U;
use crate::model::{Region, Why};

pub(super) const RULE: Rule =
    Rule { id: "contended-line", title: "spinning or cache-line sharing", kind: Kind::Cpu, explains: &[], judge };

fn judge(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    let counted = step.number(|numbers| numbers.path_length).is_ok();
    if counted || !step.cpu_grew()? {
        return Ok(None);
    }
    let Some(hot) = hot(step)? else { return Ok(None) };
    let fell = step.stack.useful <= limits::RETROGRADE * f64::from(step.base.n);
    let certain = hot.stands_out() || fell;
    // SMT siblings take at most half a core from each other, and from all code alike.
    if !certain && step.here.region == Region::Smt && hot.row.here <= hot.row.base * limits::SIBLINGS {
        return Ok(None);
    }
    let busy = step.busy().unwrap_or(false);
    let confidence = if certain && busy && hot.rises { Confidence::Medium } else { Confidence::Low };
    Ok(Some(finding(step, &hot, certain, confidence)))
}

fn finding(step: &Step<'_>, hot: &Hot<'_>, certain: bool, confidence: Confidence) -> Finding {
    let ratio = hot.row.here / hot.row.base.max(f64::MIN_POSITIVE);
    let grown = if hot.row.base > 0.0 { format!("{} times", digits(ratio)) } else { "from nothing".to_string() };
    let rivals = if certain {
        "spinning, retries and cache-line sharing cannot be told apart without hardware counters"
    } else {
        "nearly all time was there at the base already, so that spinning, cache-line sharing and a shortage of memory \
         bandwidth, cache or clock cannot be told apart without hardware counters"
    };
    let mut evidence = vec![
        Evidence::of("of the lost cores", hot.share, U::Share, limits::FACTOR),
        Evidence::of("of the growth of CPU time", hot.part, U::Share, limits::CONCENTRATED),
        Evidence::plain("of the CPU time at the base", hot.before, U::Share),
    ];
    if hot.row.base > 0.0 {
        evidence.push(Evidence::of("cost per operation, growth", ratio, U::Ratio, limits::HOTTER));
    }
    let law = step.fits.iter().find(|fit| fit.region == step.here.region).and_then(|fit| fit.law.ok());
    evidence.extend(law.map(|law| Evidence::plain("coherency by the scalability law", law.beta.value, U::Ratio)));
    evidence.extend(
        step.number(|numbers| numbers.utilisation)
            .map(|busy| Evidence::of("of the workers' time on a CPU", busy.here.value, U::Share, limits::BUSY)),
    );
    Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(hot.share),
        claim: format!(
            "{} of the lost cores are in {}, whose CPU time per operation grows {grown} ({} in all functions); {rivals}.",
            percent(hot.share),
            name(&hot.row.function.name),
            per_op(step)
        ),
        evidence,
        confidence,
        place: Some(Place { frames: hot.frames.clone(), axis: Axis::Event(0), threads: Vec::new() }),
        refuted_by: "pinned to one core, or to cores of one cache, it costs as much",
        next_step:
            "Look at its hottest instructions: a locked one, or a load after one, tells a shared line, a short loop \
                    with a pause a spin. Give each thread its own copy on its own line; `perf c2c` on a machine with \
                    hardware counters names the line."
                .to_string(),
    }
}

/// CPU time per operation at both widths, in words.
fn per_op(step: &Step<'_>) -> String {
    match step.number(|numbers| numbers.cpu_ns_per_op) {
        Ok(change) => format!("{} to {}", seconds(change.base.value * 1e-9), seconds(change.here.value * 1e-9)),
        Err(_) => "unknown".to_string(),
    }
}
