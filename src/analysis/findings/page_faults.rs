//! Page faults: major ones by their rate, minor ones by the CPU time they take. The two are not added, because a major
//! fault costs a thousand minor ones.

use super::families::{is_clear_page, is_page_fault};
use super::paths::CodeClass;
use super::stacks::At;
use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, limits};
use crate::analysis::text::{digits, percent};
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "page-faults",
    title: "page faults",
    kind: FindingKind::Limit,
    explains: &[CodeClass::AddressSpace],
    evaluate,
};

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    context.require_cpu_time()?;
    if let (Ok(rate), Ok(count)) = (context.metric(MetricId::MajorFaults), context.count("major-faults"))
        && rate >= limits::MAJOR_FAULTS
        && count >= limits::STARTING_FAULTS
    {
        return Ok(Some(major(context, rate)));
    }
    if few(context) {
        return Ok(None);
    }
    minor(context)
}

fn major(context: &RuleContext<'_>, rate: f64) -> Finding {
    Finding {
        rule: RULE.id,
        title: RULE.title,
        share: None,
        claim: format!("{} page faults a second had to wait for storage.", digits(rate)),
        evidence: vec![Evidence::of("major page faults", rate, U::PerSecond, limits::MAJOR_FAULTS)],
        confidence: Confidence::Medium,
        place: context.kernel_samples().ok().and_then(|stacks| stacks.part(At::Anywhere, is_page_fault).place),
        refuted_by: "the rate falls to nothing once the program has started up",
        next_step: "Memory or page cache is too small for what is touched: look for swapping, or read ahead."
            .to_string(),
    }
}

/// Faults that cost at most 1% of the CPU time are ruled out without samples.
fn few(context: &RuleContext<'_>) -> bool {
    let per_cpu_second = context.count("minor-faults").and_then(|faults| Ok(faults / context.cpu_time()?));
    per_cpu_second.is_ok_and(|rate| rate <= limits::FEW_FAULTS)
}

fn minor(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let stacks = context.kernel_samples()?;
    let part = stacks.gather_rows(|row, calls| {
        let fault = calls.iter().rposition(|call| is_page_fault(stacks.function(*call)));
        fault.filter(|_| stacks.class(row) == CodeClass::AddressSpace)
    });
    if part.share < limits::FAULTS {
        return Ok(None);
    }
    let clearing = stacks.part(At::Leaf, is_clear_page).share;
    let mut evidence = vec![
        Evidence::of("below page faults", part.share, U::Share, limits::FAULTS),
        Evidence::plain("clearing fresh pages", clearing, U::Share),
    ];
    evidence.extend(
        context.metric(MetricId::MinorFaults).map(|rate| Evidence::plain("minor page faults", rate, U::PerSecond)),
    );
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(part.share),
        claim: format!(
            "{} of the CPU time serves page faults, {} of it all clears fresh memory.",
            percent(part.share),
            percent(clearing)
        ),
        evidence,
        confidence: Confidence::High,
        place: part.place,
        refuted_by: "the program has just started and touches its memory for the first time",
        next_step: "Keep memory instead of returning it (malloc's trim threshold, pools), or use huge pages."
            .to_string(),
    }))
}
