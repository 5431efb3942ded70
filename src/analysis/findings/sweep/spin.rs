//! Workers that wait actively or retry: known spin loops, or many more instructions per operation in one function. Time
//! alone does not distinguish spinning from a shared line: that is the contended-line rule.

use super::hot::hot;
use super::places::{below, cpu_place};
use super::step::Step;
use super::{Confidence, Evidence, Finding, Kind, Rule, limits};
use crate::analysis::Axis;
use crate::analysis::findings::paths::Code;
use crate::analysis::sweep::Numbers;
use crate::analysis::text::{digits, name, percent};
use crate::model::Unit as U;
use crate::model::Why;

pub(super) const RULE: Rule =
    Rule { id: "spin-wait", title: "spinning or trying again", kind: Kind::Cpu, explains: &[Code::UserSpin], judge };

fn judge(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    if !step.cpu_grew()? {
        return Ok(None);
    }
    if let Some(found) = known(step)? { Ok(Some(found)) } else { counted(step) }
}

/// Functions that are known to wait.
fn known(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    let share = step.code_share(Code::UserSpin);
    let Some(lead) = step.cpu()?.lead(Code::UserSpin).filter(|_| share >= limits::FACTOR) else { return Ok(None) };
    let claim =
        format!("{} of the lost cores wait actively in {}{}.", percent(share), name(&lead.function), below(lead));
    let evidence = vec![Evidence::of("of the lost cores", share, U::Share, limits::FACTOR)];
    Ok(Some(finding(share, claim, evidence, Confidence::High, cpu_place(lead))))
}

/// More instructions for the same work, nearly all in one function.
fn counted(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    let path = step.number(|numbers| numbers.path_length)?;
    if !path.by(limits::RETRIES) || !path.grew() {
        return Ok(None);
    }
    let Some(hot) = hot(step)?.filter(|hot| !elsewhere(step, path.amount(), hot.part)) else { return Ok(None) };
    let ratio = path.ratio().unwrap_or(0.0);
    let claim = format!(
        "{} of the lost cores are in {}: instructions per operation grow {} times while it takes {} of the growth of CPU \
         time, as loops that spin or try again do.",
        percent(hot.share),
        name(&hot.row.function.name),
        digits(ratio),
        percent(hot.part)
    );
    let evidence = vec![
        Evidence::of("of the lost cores", hot.share, U::Share, limits::FACTOR),
        Evidence::of("instructions per operation, growth", ratio, U::Ratio, limits::RETRIES),
        Evidence::of("in this function, of the growth", hot.part, U::Share, limits::CONCENTRATED),
    ];
    let place = super::Place { frames: hot.frames, axis: Axis::Event(0), threads: Vec::new() };
    Ok(Some(finding(hot.share, claim, evidence, Confidence::Medium, place)))
}

/// Whether half of the additional instructions may be in all other code, whose CPU time grew as well. One-time work
/// costs more per operation where there are fewer operations.
fn elsewhere(step: &Step<'_>, more: f64, part: f64) -> bool {
    let cycles = |numbers: &Numbers| numbers.path_length.ratio(numbers.cpi, |path, cpi| Some(path.mean * cpi.mean));
    let grown = |base: f64, here: f64| (here - base) * (1.0 - part) * limits::ORDINARY_IPC;
    let (base, here) = (cycles(&step.base.numbers), cycles(&step.here.numbers));
    base.value().zip(here.value()).is_some_and(|(base, here)| grown(*base, *here) > more / 2.0)
}

fn finding(share: f64, claim: String, evidence: Vec<Evidence>, confidence: Confidence, place: super::Place) -> Finding {
    Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim,
        evidence,
        confidence,
        place: Some(place),
        refuted_by: "the further instructions are spread over many functions, or the function works through more data",
        next_step:
            "See what this function waits for and who holds it; shorten the hold, give each thread its own, or let \
                    waiters sleep after a short while."
                .to_string(),
    }
}
