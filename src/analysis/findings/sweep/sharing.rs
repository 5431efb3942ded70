//! Cache lines that several cores write: each access waits for the line to arrive. Only the offsets within the line
//! distinguish true from false sharing.

use super::hot::{Hot, hot};
use super::slower::{Slower, evidence, slower};
use super::step::Step;
use super::{Confidence, Evidence, Finding, Kind, Place, Rule, limits};
use crate::analysis::Axis;
use crate::analysis::text::{digits, name, percent};
use crate::model::Unit as U;
use crate::model::Why;

pub(super) const RULE: Rule =
    Rule { id: "false-sharing", title: "cache lines shared between threads", kind: Kind::Cpi, explains: &[], judge };

fn judge(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    let Some(slower) = slower(step)? else { return Ok(None) };
    let hot = hot(step);
    match step.hardware("hitm_per_kinstr") {
        Ok(hitm) => {
            if !hitm.by(limits::HITM_GROWTH) || hitm.here.value < limits::HITM || !hitm.grew() {
                return Ok(None);
            }
            let row = Evidence::of("modified lines of others, per 1000", hitm.here.value, U::Count, limits::HITM);
            Ok(Some(finding(slower, hot.ok().flatten().as_ref(), Some(row), Confidence::High)))
        }
        // Exhausted memory bandwidth also slows its readers down, without more instructions.
        Err(why) if step.taken.cpi > 0.0 => Err(why),
        Err(why) => by_shape(step, slower, hot?.as_ref(), why),
    }
}

/// Without that counter: as many instructions as before, several times slower, nearly all in one function.
fn by_shape(step: &Step<'_>, slower: Slower, hot: Option<&Hot<'_>>, no_hitm: Why) -> Result<Option<Finding>, Why> {
    let path = step.number(|numbers| numbers.path_length)?;
    let busy = step.busy()?;
    if slower.ratio.is_none_or(|ratio| ratio < limits::SHARED_CPI) || path.by(limits::RETRIES) {
        return Ok(None);
    }
    match hot.filter(|hot| busy && hot.stands_out()) {
        Some(hot) => Ok(Some(finding(slower, Some(hot), None, Confidence::Medium))),
        None => Err(no_hitm),
    }
}

fn finding(slower: Slower, hot: Option<&Hot<'_>>, hitm: Option<Evidence>, confidence: Confidence) -> Finding {
    let share = hot.map_or(slower.share, |hot| hot.share);
    let mut evidence = evidence(share, &slower);
    evidence.extend(hitm);
    if let Some(hot) = hot {
        evidence.push(Evidence::of("of the growth of CPU time", hot.part, U::Share, limits::CONCENTRATED));
        evidence.push(Evidence::plain("of the CPU time at the base", hot.before, U::Share));
    }
    let grown = slower.ratio.map_or(String::new(), |ratio| format!(" take {} times the cycles", digits(ratio)));
    let at = hot.map_or(String::new(), |hot| {
        format!("; {} of the growth is in {}", percent(hot.part), name(&hot.row.function.name))
    });
    let seen = if hitm.is_some() { ", and other cores have changed the lines it reads" } else { "" };
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
        place: hot.map(|hot| Place { frames: hot.frames.clone(), axis: Axis::Event(0), threads: Vec::new() }),
        refuted_by: "memory bandwidth is used up, or the growth is spread over many functions",
        next_step:
            "Find the line with `perf c2c record`: give each thread its own copy on its own line, or write it less \
                    often."
                .to_string(),
    }
}
