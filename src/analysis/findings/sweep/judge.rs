//! Applies every rule to every width that lost, and reports each finding with the widths that it holds for.

use super::rule::{Kind, Rule};
use super::step::Step;
use super::values::{lost, seems_lost};
use super::{RULES, address_space};
use crate::analysis::finding::{Confidence, Finding, RuleResults, Verdict};
use crate::analysis::findings::context::less_certain;
use crate::analysis::findings::paths::Code;
use crate::analysis::sweep::{Fit, Loss, Point, Stack};
use crate::model::{Region, Why};
use std::collections::BTreeSet;

/// The verdicts of all rules on one width that lost.
struct WidthVerdicts {
    /// Index of its point.
    at: usize,
    n: u32,
    /// Whether it is the widest of the losing widths in its region.
    widest: bool,
    verdicts: Vec<Verdict>,
}

/// Applies every rule to the widest losing point of each region, and reports the width from which each finding holds.
/// `points` ascend by width; `base` is the index of the point that the others are compared with. If a rule finds
/// something in several regions, the finding with the largest weight is kept.
#[must_use]
pub fn judge_sweep(points: &[Point], base: usize, stacks: &[Stack], losses: &[Loss], fits: &[Fit]) -> RuleResults {
    let mut results = RuleResults::default();
    if let Err(why) = comparable(points, base) {
        results.undecided = RULES.iter().map(|rule| (rule.id, rule.title, why)).collect();
        return results;
    }
    let verdicts_by_width = verdicts_by_width(points, base, stacks, losses, fits);
    if verdicts_by_width.is_empty() && points.iter().skip(base.saturating_add(1)).any(seems_lost) {
        // The loss is as large as the scatter of the runs: it may not exist, and its cause is open.
        results.undecided = RULES.iter().map(|rule| (rule.id, rule.title, Why::RunsScatter)).collect();
        return results;
    }
    for (index, rule) in RULES.iter().enumerate() {
        match decide(&verdicts_by_width, index) {
            Verdict::Found(finding) => results.found.push(finding),
            Verdict::Undecided(why) => results.undecided.push((rule.id, rule.title, why)),
            Verdict::Clear => results.clear.push(rule.id),
        }
    }
    // The sort is stable: equal weights stay in decision order. Remainders come after findings with a reason.
    results.found.sort_by(|a, b| remains(a).cmp(&remains(b)).then(b.weight().total_cmp(&a.weight())));
    results
}

/// Whether a finding covers what no other rule explains.
fn remains(finding: &Finding) -> bool {
    RULES.iter().any(|rule| rule.id == finding.rule && rule.kind == Kind::Rest)
}

/// Whether any width can be compared with the base.
fn comparable(points: &[Point], base: usize) -> Result<(), Why> {
    let others = points.get(base.saturating_add(1)..).unwrap_or_default();
    let mut reason = Why::NotRecorded;
    for point in others {
        match point.numbers.efficiency.why() {
            None => return Ok(()),
            Some(why) => reason = why,
        }
    }
    Err(reason)
}

fn verdicts_by_width(
    points: &[Point],
    base: usize,
    stacks: &[Stack],
    losses: &[Loss],
    fits: &[Fit],
) -> Vec<WidthVerdicts> {
    let after = points.iter().enumerate().skip(base.saturating_add(1));
    let lossy: Vec<(usize, &Point)> = after.filter(|(_, point)| lost(point)).collect();
    let widest = |region: Region| lossy.iter().rev().find(|(_, point)| point.region == region).map(|(at, _)| *at);
    let rung = |(at, point): &(usize, &Point)| {
        let stack = stacks.iter().find(|stack| stack.n == point.n);
        let reach = points.get(base..=*at).unwrap_or_default();
        let step = stack.and_then(|stack| Step::of(reach, stack, losses, fits));
        let verdicts = step.map_or_else(|| vec![Verdict::Undecided(Why::NotRecorded); RULES.len()], verdicts);
        WidthVerdicts { at: *at, n: point.n, widest: widest(point.region) == Some(*at), verdicts }
    };
    lossy.iter().map(rung).collect()
}

fn verdicts(mut step: Step<'_>) -> Vec<Verdict> {
    let few = step.base.runs.len().min(step.here.runs.len()) < 3;
    let verdict = |rule: &Rule| match (rule.judge)(&step) {
        Ok(Some(mut finding)) => {
            take(&mut step, rule, &finding);
            if let Some(coverage) = step.coverage().filter(|_| rule.uses_samples()) {
                less_certain(&mut finding, coverage);
            }
            // The scatter of one run is unknown, and that of two is little more than a guess.
            finding.confidence = if few { finding.confidence.min(Confidence::Medium) } else { finding.confidence };
            Verdict::Found(finding)
        }
        Ok(None) => Verdict::Clear,
        Err(why) => Verdict::Undecided(why),
    };
    RULES.iter().map(verdict).collect()
}

/// Marks what a finding explains as taken, so that no later rule reports it again.
fn take(step: &mut Step<'_>, rule: &Rule, finding: &Finding) {
    let share = finding.share.unwrap_or(0.0);
    let with = rule.explains.contains(&address_space::costs(step).holder).then_some(Code::AddressSpace);
    let codes: BTreeSet<Code> = rule.explains.iter().copied().chain(with).collect();
    let code: f64 = codes.iter().map(|code| step.code_share(*code)).sum();
    let beyond = (share - code).max(0.0);
    step.taken.codes.extend(codes);
    step.taken.cpu += code;
    if rule.explains.is_empty() && matches!(rule.kind, Kind::Cpu | Kind::Cpi) {
        step.taken.functions.extend(finding.place.iter().filter_map(|place| place.frames.last().cloned()));
    }
    match rule.kind {
        Kind::Wait => {}
        Kind::Idle => step.taken.idle += beyond,
        Kind::Clock => step.taken.clock += share,
        Kind::Stolen => {
            let unseen = share.min(step.unseen_by_steal());
            step.taken.idle += unseen;
            step.taken.clock += share - unseen;
        }
        Kind::Cpu | Kind::Rest => step.taken.cpu += beyond,
        Kind::Cpi => step.taken.cpi = step.taken.cpi.max(share),
    }
}

/// The verdict of a rule, given by its index, over all widths that lost.
fn decide(verdicts_by_width: &[WidthVerdicts], rule: usize) -> Verdict {
    let found = |rung: &WidthVerdicts| match rung.verdicts.get(rule) {
        Some(Verdict::Found(finding)) => Some(finding.clone()),
        _ => None,
    };
    let mut best: Option<(usize, Finding)> = None;
    for (index, rung) in verdicts_by_width.iter().enumerate().filter(|(_, rung)| rung.widest) {
        let heavier = |finding: &Finding| best.as_ref().is_none_or(|(_, known)| finding.weight() >= known.weight());
        if let Some(finding) = found(rung).filter(heavier) {
            best = Some((index, finding));
        }
    }
    if let Some((index, finding)) = best {
        let first = since(verdicts_by_width, index, |rung| found(rung).is_some());
        return Verdict::Found(told(finding, verdicts_by_width, index, first));
    }
    let reasons = verdicts_by_width.iter().filter(|rung| rung.widest).filter_map(|rung| rung.verdicts.get(rule));
    let undecided = reasons.rev().find(|verdict| matches!(verdict, Verdict::Undecided(_)));
    undecided.cloned().unwrap_or(Verdict::Clear)
}

/// Index of the first of the consecutive widths up to `index` that all have the finding.
fn since(verdicts_by_width: &[WidthVerdicts], index: usize, found: impl Fn(&WidthVerdicts) -> bool) -> usize {
    let mut first = index;
    while let Some(before) = first.checked_sub(1)
        && let (Some(narrower), Some(rung)) = (verdicts_by_width.get(before), verdicts_by_width.get(first))
        && narrower.at + 1 == rung.at
        && found(narrower)
    {
        first = before;
    }
    first
}

/// Adds the widths to the claim.
fn told(mut finding: Finding, verdicts_by_width: &[WidthVerdicts], index: usize, first: usize) -> Finding {
    if let (Some(here), Some(first)) = (verdicts_by_width.get(index), verdicts_by_width.get(first)) {
        let from = if first.n < here.n { format!(", and from n={} on", first.n) } else { String::new() };
        finding.claim = format!("At n={}{from}: {}", here.n, finding.claim);
    }
    finding
}
