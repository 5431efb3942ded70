//! Cache lines that several cores write: each access waits for the line to arrive. Only the offsets within the line
//! distinguish true from false sharing.

use super::context::WidthContext;
use super::hot_function::{HotFunction, hot_function};
use super::slower::{SlowerInstructions, evidence, slower};
use super::{Confidence, CostKind, Evidence, Finding, Place, Rule, limits};
use crate::analysis::text::{digits, name, percent};
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "false-sharing",
    title: "cache lines shared between threads",
    kind: CostKind::Cpi,
    explains: &[],
    evaluate,
};

/// Growth of cycles per instruction caused by cache lines that move between cores. [P]
const SHARED_CPI: f64 = 1.5;

/// Lines modified by another core, per thousand instructions. [P]
const HITM: f64 = 0.5;

/// Growth of the lines modified by another core per thousand instructions. [P]
const HITM_GROWTH: f64 = 3.0;

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let Some(slower) = slower(context)? else { return Ok(None) };
    let hot_function = hot_function(context);
    match context.hardware(MetricId::HitmPerKinstr) {
        Ok(hitm) => {
            if !hitm.grew_by_factor(HITM_GROWTH) || hitm.here.value < HITM || !hitm.grew() {
                return Ok(None);
            }
            let row = Evidence::of("modified lines of others, per 1000", hitm.here.value, U::Count, HITM);
            Ok(Some(finding(slower, hot_function.ok().flatten().as_ref(), Some(row), Confidence::High)))
        }
        // Exhausted memory bandwidth also slows its readers down, without more instructions.
        Err(why) if context.explained.cpi > 0.0 => Err(why),
        Err(why) => by_shape(context, slower, hot_function?.as_ref(), why),
    }
}

/// Without that counter: as many instructions as before, several times slower, nearly all in one function.
fn by_shape(
    context: &WidthContext<'_>,
    slower: SlowerInstructions,
    hot_function: Option<&HotFunction<'_>>,
    no_hitm: Why,
) -> Result<Option<Finding>, Why> {
    let path = context.number(|numbers| numbers.path_length)?;
    let busy = context.busy()?;
    if slower.ratio.is_none_or(|ratio| ratio < SHARED_CPI) || path.grew_by_factor(limits::RETRIES) {
        return Ok(None);
    }
    match hot_function.filter(|hot_function| busy && hot_function.stands_out()) {
        Some(hot_function) => Ok(Some(finding(slower, Some(hot_function), None, Confidence::Medium))),
        None => Err(no_hitm),
    }
}

fn finding(
    slower: SlowerInstructions,
    hot_function: Option<&HotFunction<'_>>,
    hitm: Option<Evidence>,
    confidence: Confidence,
) -> Finding {
    let share = hot_function.map_or(slower.share, |hot_function| hot_function.share);
    let mut evidence = evidence(share, &slower);
    evidence.extend(hitm);
    if let Some(hot_function) = hot_function {
        evidence.push(Evidence::of("of the growth of CPU time", hot_function.part, U::Share, limits::CONCENTRATED));
        evidence.push(Evidence::plain("of the CPU time at the base", hot_function.before, U::Share));
    }
    let grown = slower.ratio.map_or(String::new(), |ratio| format!(" take {} times the cycles", digits(ratio)));
    let at = hot_function.map_or(String::new(), |hot_function| {
        format!("; {} of the growth is in {}", percent(hot_function.part), name(&hot_function.row.function.name))
    });
    let seen = if hitm.is_some() { ", and other cores modified the lines it reads" } else { "" };
    Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores wait for cache lines that other cores write: no more instructions per operation, but \
             they{}{at}{seen}.",
            percent(share),
            if grown.is_empty() { " are slower" } else { &grown }
        ),
        evidence,
        confidence,
        place: hot_function.map(|hot_function| Place::on_cpu(hot_function.frames.clone())),
        culprits: Vec::new(),
        refuted_by: "memory bandwidth is used up, or the growth is spread over many functions",
        next_step:
            "Find the line with `ironlaw record --mem` (or `perf c2c record`) and `ironlaw report`: give each thread its own copy on \
                    its own line, or write it less often."
                .to_string(),
    }
}
