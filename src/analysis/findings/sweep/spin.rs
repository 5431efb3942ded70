//! Workers that wait actively or retry: known spin loops, or many more instructions per operation in one function. Time
//! alone does not distinguish spinning from a shared line: that is the contended-line rule.

use super::context::WidthContext;
use super::hot_function::hot_function;
use super::places::{below, cpu_place};
use super::{Confidence, CostKind, Evidence, Finding, Rule, limits, lost_cores};
use crate::analysis::findings::code_path::CodeClass;
use crate::analysis::sweep::PointMetrics;
use crate::analysis::text::{digits, name, percent};
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "spin-wait",
    title: "spinning or retrying",
    kind: CostKind::Cpu,
    explains: &[CodeClass::UserSpin],
    evaluate,
};

/// Instructions per cycle of code that neither waits for memory nor is tuned. [P]
const ORDINARY_IPC: f64 = 1.0;

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    if !context.cpu_grew()? {
        return Ok(None);
    }
    if let Some(found) = known(context)? { Ok(Some(found)) } else { counted(context) }
}

/// Functions that are known to wait.
fn known(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let share = context.code_share(CodeClass::UserSpin);
    let Some(leading_path) = context.cpu()?.leading_path(CodeClass::UserSpin).filter(|_| share >= limits::FACTOR)
    else {
        return Ok(None);
    };
    let claim = format!(
        "{} of the lost cores spin in {}{}.",
        percent(share),
        name(&leading_path.function),
        below(leading_path)
    );
    let evidence = vec![lost_cores(share)];
    Ok(Some(finding(share, claim, evidence, Confidence::High, cpu_place(leading_path))))
}

/// More instructions for the same work, nearly all in one function.
fn counted(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let path = context.number(|numbers| numbers.path_length)?;
    if !path.grew_by_factor(limits::RETRIES) || !path.grew() {
        return Ok(None);
    }
    let Some(hot_function) =
        hot_function(context)?.filter(|hot_function| !elsewhere(context, path.amount(), hot_function.part))
    else {
        return Ok(None);
    };
    let explained = |code| context.explained.codes.contains(&code);
    if context.cpu()?.of_function(&hot_function.row.function, explained) > 0.5 {
        return Ok(None);
    }
    let ratio = path.ratio().unwrap_or(0.0);
    let claim = format!(
        "{} of the lost cores are in {}: instructions per operation grow {} times and it takes {} of the \
         growth of CPU time, as spin and retry loops do.",
        percent(hot_function.share),
        name(&hot_function.row.function.name),
        digits(ratio),
        percent(hot_function.part)
    );
    let evidence = vec![
        lost_cores(hot_function.share),
        Evidence::of("instructions per operation, growth", ratio, U::Ratio, limits::RETRIES),
        Evidence::of("in this function, of the growth", hot_function.part, U::Share, limits::CONCENTRATED),
    ];
    let place = super::Place::on_cpu(hot_function.frames);
    Ok(Some(finding(hot_function.share, claim, evidence, Confidence::Medium, place)))
}

/// Whether half of the additional instructions may be in all other code, whose CPU time grew as well. One-time work
/// costs more per operation where there are fewer operations.
fn elsewhere(context: &WidthContext<'_>, more: f64, part: f64) -> bool {
    let cycles =
        |numbers: &PointMetrics| numbers.path_length.ratio(numbers.cpi, |path, cpi| Some(path.mean * cpi.mean));
    let grown = |base: f64, here: f64| (here - base) * (1.0 - part) * ORDINARY_IPC;
    let (base, here) = (cycles(&context.base.numbers), cycles(&context.here.numbers));
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
        culprits: Vec::new(),
        refuted_by: "the additional instructions are spread over many functions, or the function processes more data",
        next_step:
            "Find out what this function waits for and who holds it; hold it for less time, give each thread its \
             own, or block after a short spin."
                .to_string(),
    }
}
