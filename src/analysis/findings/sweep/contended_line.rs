//! One function that costs several times more per operation with more threads, where no counter distinguishes spinning
//! from a shared cache line. The finding covers both and states so. It applies only without an instruction count: with
//! one, each case has its own rule.

use super::context::WidthContext;
use super::hot_function::{HotFunction, hot_function};
use super::one_worker::busy;
use super::{Confidence, CostKind, Evidence, Finding, Place, Rule, limits, lost_cores};
use crate::analysis::text::{digits, name, percent, seconds};
use crate::model::{Region, Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "contended-line",
    title: "spinning or cache-line sharing",
    kind: CostKind::Cpu,
    explains: &[],
    evaluate,
};

/// Useful cores over the base's width, up to which throughput fell: no shortage of bandwidth causes that. [P]
const RETROGRADE: f64 = 0.95;

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let counted = context.number(|numbers| numbers.path_length).is_ok();
    // One thread has nobody to contend with.
    let alone = context.here.runs.iter().all(|run| busy(run) == Some(1));
    if counted || alone || !context.cpu_grew()? {
        return Ok(None);
    }
    let Some(hot_function) = hot_function(context)? else { return Ok(None) };
    let explained = |code| context.explained.codes.contains(&code);
    if context.cpu()?.of_function(&hot_function.row.function, explained) > 0.5 {
        return Ok(None);
    }
    let fell = context.stack.useful <= RETROGRADE * f64::from(context.base.n);
    let certain = hot_function.stands_out() || fell;
    // SMT siblings take at most half a core from each other, and from all code alike.
    if !certain
        && context.here.region == Region::Smt
        && hot_function.row.here <= hot_function.row.base * limits::SIBLINGS
    {
        return Ok(None);
    }
    let all_busy = context.busy().unwrap_or(false);
    let confidence = if certain && all_busy && hot_function.rises { Confidence::Medium } else { Confidence::Low };
    Ok(Some(finding(context, &hot_function, certain, confidence)))
}

fn finding(
    context: &WidthContext<'_>,
    hot_function: &HotFunction<'_>,
    certain: bool,
    confidence: Confidence,
) -> Finding {
    let ratio = hot_function.row.here / hot_function.row.base.max(f64::MIN_POSITIVE);
    let grown = if ratio <= 100.0 { format!("{} times", digits(ratio)) } else { "from next to nothing".to_string() };
    let rivals = if certain {
        "spinning, retries and cache-line sharing look the same without hardware counters"
    } else {
        "nearly all CPU time was there at the base already, so that spinning, cache-line sharing and a \
         shortage of memory bandwidth, cache or clock look the same without hardware counters"
    };
    let mut evidence = vec![
        lost_cores(hot_function.share),
        Evidence::of("of the growth of CPU time", hot_function.part, U::Share, limits::CONCENTRATED),
        Evidence::plain("of the CPU time at the base", hot_function.before, U::Share),
    ];
    if hot_function.row.base > 0.0 {
        evidence.extend(Evidence::growth("cost per operation, growth", Some(ratio), limits::HOTTER));
    }
    let law = context.fits.iter().find(|fit| fit.region == context.here.region).and_then(|fit| fit.law.ok());
    evidence.extend(law.map(|law| Evidence::plain("coherency by the scalability law", law.beta.value, U::Ratio)));
    evidence.extend(
        context
            .number(|numbers| numbers.utilisation)
            .map(|busy| Evidence::of("of the workers' time on a CPU", busy.here.value, U::Share, limits::BUSY)),
    );
    Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(hot_function.share),
        claim: format!(
            "{} of the lost cores are in {}, whose CPU time per operation grows {grown} ({} in all functions); {rivals}.",
            percent(hot_function.share),
            name(&hot_function.row.function.name),
            per_op(context)
        ),
        evidence,
        confidence,
        place: Some(Place::on_cpu(hot_function.frames.clone())),
        culprits: Vec::new(),
        refuted_by: "it costs as much when pinned to one core, or to cores of one cache",
        next_step: "Look at its hottest instructions: a locked one, or a load after one, means a shared line, a short \
             loop with a pause means a spin. Give each thread its own copy on its own line; `perf c2c` on a \
             machine with hardware counters names the line."
            .to_string(),
    }
}

/// CPU time per operation at both widths, in words.
fn per_op(context: &WidthContext<'_>) -> String {
    match context.number(|numbers| numbers.cpu_ns_per_op) {
        Ok(change) => format!("{} to {}", seconds(change.base.value * 1e-9), seconds(change.here.value * 1e-9)),
        Err(_) => "unknown".to_string(),
    }
}
