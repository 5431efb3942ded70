//! Page faults: major ones by their rate, minor ones by the CPU time they take. The two are not added, because a major
//! fault costs a thousand minor ones. What to do about minor ones depends on their kind, which the kernel's functions below
//! the fault show.

use super::code_path::CodeClass;
use super::families::is_clear_page;
use super::fault_kinds::FaultKind;
use super::stacks::{StackKind, Stacks};
use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, Whole};
use crate::analysis::text::{digits, name, percent};
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "page-faults",
    title: "page faults",
    kind: FindingKind::Limit,
    of: Whole::CpuTime,
    explains: &[CodeClass::AddressSpace],
    evaluate,
};

/// Share of samples below page faults. [P]
const FAULTS: f64 = 0.1;

/// Minor faults per second of CPU time that cost at most 1%, at 0.5 us each. [P]
const FEW_FAULTS: f64 = 20_000.0;

/// Major faults per second: at 1 to 10 ms each on a disk, a twentieth of one thread's time or more. [P]
const MAJOR_FAULTS: f64 = 50.0;

/// Major faults that a program takes to start with a cold cache. [P]
const STARTING_FAULTS: f64 = 200.0;

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    context.require_cpu_time()?;
    if let (Ok(rate), Ok(count)) = (context.metric(MetricId::MajorFaults), context.count("major-faults"))
        && rate >= MAJOR_FAULTS
        && count >= STARTING_FAULTS
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
        claim: format!("{} page faults per second wait for storage.", digits(rate)),
        evidence: vec![Evidence::of("major page faults", rate, U::PerSecond, MAJOR_FAULTS)],
        confidence: Confidence::Medium,
        place: context.kernel_samples().ok().and_then(|stacks| stacks.part(|kind| kind.fault).place()),
        culprits: Vec::new(),
        refuted_by: "the rate falls to nothing once the program has started",
        next_step: "Memory or page cache is too small for the data in use: check for swapping, or read ahead."
            .to_string(),
    }
}

/// Faults that cost at most 1% of the CPU time are ruled out without samples.
fn few(context: &RuleContext<'_>) -> bool {
    let per_cpu_second = context.count("minor-faults").and_then(|faults| Ok(faults / context.cpu_time()?));
    per_cpu_second.is_ok_and(|rate| rate <= FEW_FAULTS)
}

fn minor(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let stacks = context.kernel_samples()?;
    let part = stacks.part(fault);
    if part.share < FAULTS {
        return Ok(None);
    }
    let clearing = stacks.part_at_leaf(is_clear_page).share;
    let kinds = kinds(stacks);
    let mut evidence = vec![
        Evidence::of("below page faults", part.share, U::Share, FAULTS),
        Evidence::plain("clearing fresh pages", clearing, U::Share),
    ];
    evidence.extend(kinds.iter().map(|(kind, share)| Evidence::plain(kind.label(), *share, U::Share)));
    evidence.extend(
        context.metric(MetricId::MinorFaults).map(|rate| Evidence::plain("minor page faults", rate, U::PerSecond)),
    );
    let faulting = stacks.part(|kind| fault(kind).map(|at| at + 1));
    let at = match faulting.function() {
        "" => String::new(),
        function => format!(", most of them in {}", name(function)),
    };
    let leading = kinds.first();
    let which = leading.map_or("the kernel's functions do not show of which kind".to_string(), |(kind, share)| {
        format!("at least {} is for {}", percent(*share), kind.words())
    });
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(part.share),
        claim: format!("Page faults take {} of the CPU time{at}; {which}.", percent(part.share)),
        evidence,
        confidence: Confidence::High,
        place: part.place(),
        culprits: Vec::new(),
        refuted_by: leading.map_or(FaultKind::Fresh, |(kind, _)| *kind).refuted_by(),
        next_step: leading.map_or(NEXT_STEP, |(kind, _)| kind.next_step()).to_string(),
    }))
}

/// The fault of a stack that counts here.
fn fault(kind: &StackKind) -> Option<u32> {
    kind.fault.filter(|_| kind.class == CodeClass::AddressSpace)
}

/// The kinds with their shares, largest first. What they lack to all faults was spent on the way to where kinds part.
fn kinds(stacks: &Stacks<'_>) -> Vec<(FaultKind, f64)> {
    let share = |wanted| stacks.part(|kind| fault(kind).filter(|_| kind.fault_kind == Some(wanted))).share;
    let mut kinds: Vec<_> = FaultKind::ALL.map(|kind| (kind, share(kind))).into_iter().collect();
    kinds.retain(|(_, share)| *share > 0.0);
    kinds.sort_by(|a, b| b.1.total_cmp(&a.1));
    kinds
}

/// Where no function shows the kind.
const NEXT_STEP: &str =
    "Record for longer: none of the samples lies where the kernel clears, copies or reads a page, which would show it.";
