//! Applies every rule to every width that lost, and reports each finding with the widths that it holds for.

use super::context::WidthContext;
use super::rule::{CostKind, Rule};
use super::values::{lost, seems_lost};
use super::{RULES, address_space, lock_costs, tail_latency, useless_wake_ups};
use crate::analysis::finding::{Confidence, Finding, RuleResults, Verdict};
use crate::analysis::findings::code_path::CodeClass;
use crate::analysis::findings::context::lower_for_coverage;
use crate::analysis::sweep::{Loss, Point, RegionFit, Stack};
use crate::analysis::text::{percent, threads};
use crate::model::{Region, Why};
use std::collections::BTreeSet;

/// The verdicts of all rules on one width that lost.
struct WidthVerdicts {
    /// Index of its point.
    at: usize,
    n: u32,
    /// Whether it is the widest of the losing widths in its region.
    widest: bool,
    /// How many of its threads are left out because they hardly ran.
    parked: f64,
    verdicts: Vec<Verdict>,
}

/// Applies every rule to the widest losing point of each region, and reports the width from which each finding holds.
/// `points` ascend by width; `base` is the index of the point that the others are compared with. If a rule finds
/// something in several regions, the finding with the largest weight is kept. Latency is judged apart: it may grow
/// where nothing is lost.
#[must_use]
pub fn evaluate_sweep(
    points: &[Point],
    base: usize,
    stacks: &[Stack],
    losses: &[Loss],
    fits: &[RegionFit],
) -> RuleResults {
    let mut results = lost_cores(points, base, stacks, losses, fits);
    let verdict = useless_wake_ups::verdict(points, base, stacks, losses, fits);
    let record = |verdict| results.record(verdict, useless_wake_ups::ID, useless_wake_ups::TITLE);
    if let Some(finding) = verdict.and_then(record) {
        // It says why the others had nothing to do.
        let idle = |finding: &Finding| RULES.iter().any(|rule| rule.id == finding.rule && rule.kind == CostKind::Idle);
        results.clear.extend(results.found.iter().filter(|finding| idle(finding)).map(|finding| finding.rule));
        results.found.retain(|finding| !idle(finding));
        results.found.insert(0, finding);
    }
    match tail_latency::verdict(points, base) {
        Some(Verdict::Found(finding)) => {
            let at = results.found.iter().position(remains).unwrap_or(results.found.len());
            results.found.insert(at, finding);
        }
        Some(Verdict::Undecided(why)) => results.undecided.push((tail_latency::ID, tail_latency::TITLE, why)),
        Some(Verdict::Clear) => results.clear.push(tail_latency::ID),
        None => {}
    }
    results
}

fn lost_cores(points: &[Point], base: usize, stacks: &[Stack], losses: &[Loss], fits: &[RegionFit]) -> RuleResults {
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
    RULES.iter().any(|rule| rule.id == finding.rule && rule.kind == CostKind::Rest)
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
    fits: &[RegionFit],
) -> Vec<WidthVerdicts> {
    let after = points.iter().enumerate().skip(base.saturating_add(1));
    let losing: Vec<(usize, &Point)> = after.filter(|(_, point)| lost(point)).collect();
    let widest = |region: Region| losing.iter().rev().find(|(_, point)| point.region == region).map(|(at, _)| *at);
    let width = |(at, point): &(usize, &Point)| {
        let stack = stacks.iter().find(|stack| stack.n == point.n);
        let reach = points.get(base..=*at).unwrap_or_default();
        let context = stack.and_then(|stack| WidthContext::of(reach, stack, losses, fits));
        let parked = context.as_ref().map_or(0.0, WidthContext::parked);
        let verdicts = context.map_or_else(|| vec![Verdict::Undecided(Why::NotRecorded); RULES.len()], verdicts);
        WidthVerdicts { at: *at, n: point.n, widest: widest(point.region) == Some(*at), parked, verdicts }
    };
    losing.iter().map(width).collect()
}

fn verdicts(mut context: WidthContext<'_>) -> Vec<Verdict> {
    let few = context.base.runs.len().min(context.here.runs.len()) < 3;
    let verdict = |rule: &Rule| match (rule.evaluate)(&context) {
        Ok(Some(mut finding)) => {
            mark_explained(&mut context, rule, &finding);
            if let Some(coverage) = context.coverage().filter(|_| rule.uses_samples()) {
                lower_for_coverage(&mut finding, coverage);
            }
            // The scatter of one run is unknown, and that of two is little more than a guess.
            finding.confidence = if few { finding.confidence.min(Confidence::Medium) } else { finding.confidence };
            Verdict::Found(finding)
        }
        Ok(None) => Verdict::Clear,
        Err(why) => Verdict::Undecided(why),
    };
    let mut verdicts: Vec<Verdict> = RULES.iter().map(verdict).collect();
    share_cycles(&mut verdicts, context.explained.cpi);
    verdicts
}

/// Reasons for slower instructions that explain the same cycles share these in proportion to what each would explain
/// alone, so that all shares together are at most the whole.
fn share_cycles(verdicts: &mut [Verdict], most: f64) {
    let of_cycles = |(rule, verdict): (&Rule, &Verdict)| match verdict {
        Verdict::Found(found) if rule.kind == CostKind::Cpi => Some((rule.id, rule.title, found.share?)),
        _ => None,
    };
    let reasons: Vec<_> = RULES.iter().zip(&*verdicts).filter_map(of_cycles).collect();
    let all: f64 = reasons.iter().map(|(.., share)| share).sum();
    if reasons.len() < 2 || all <= most {
        return;
    }
    for verdict in verdicts {
        let Verdict::Found(finding) = verdict else { continue };
        let others: Vec<&str> =
            reasons.iter().filter(|(id, ..)| *id != finding.rule).map(|(_, title, _)| *title).collect();
        if let Some(share) = finding.share.filter(|_| others.len() < reasons.len()) {
            let share = share * most / all;
            finding.share = Some(share);
            finding.claim.push_str(&format!(
                " The same cycles have other reasons too ({}): {} of the lost cores count here.",
                others.join(", "),
                percent(share)
            ));
        }
    }
}

/// Marks what a finding explains as taken, so that no later rule reports it again.
fn mark_explained(context: &mut WidthContext<'_>, rule: &Rule, finding: &Finding) {
    let share = finding.share.unwrap_or(0.0);
    let with = rule.explains.contains(&address_space::costs(context).holder).then_some(CodeClass::AddressSpace);
    let codes: BTreeSet<CodeClass> = rule.explains.iter().copied().chain(with).collect();
    let code: f64 = codes.iter().map(|code| context.code_share(*code)).sum();
    let beyond = (share - code).max(0.0);
    let unseen = if rule.explains.contains(&CodeClass::Lock) { lock_costs::costs(context).unseen } else { 0.0 };
    context.explained.codes.extend(codes);
    context.explained.cpu += code;
    if rule.explains.is_empty() && matches!(rule.kind, CostKind::Cpu | CostKind::Cpi) {
        context.explained.functions.extend(finding.place.iter().filter_map(|place| place.frames.last().cloned()));
    }
    match rule.kind {
        CostKind::Wait => context.explained.idle += unseen,
        CostKind::Idle => context.explained.idle += beyond,
        CostKind::Clock => context.explained.clock += share,
        CostKind::Stolen => {
            let unseen = share.min(context.unseen_by_steal());
            context.explained.idle += unseen;
            context.explained.clock += share - unseen;
        }
        CostKind::Cpu | CostKind::Rest => context.explained.cpu += beyond,
        CostKind::Cpi => context.explained.cpi = context.explained.cpi.max(share),
    }
}

/// The verdict of a rule, given by its index, over all widths that lost.
fn decide(verdicts_by_width: &[WidthVerdicts], rule: usize) -> Verdict {
    let found = |width: &WidthVerdicts| match width.verdicts.get(rule) {
        Some(Verdict::Found(finding)) => Some(finding.clone()),
        _ => None,
    };
    let mut best: Option<(usize, Finding)> = None;
    for (index, width) in verdicts_by_width.iter().enumerate().filter(|(_, width)| width.widest) {
        let heavier = |finding: &Finding| best.as_ref().is_none_or(|(_, known)| finding.weight() >= known.weight());
        if let Some(finding) = found(width).filter(heavier) {
            best = Some((index, finding));
        }
    }
    if let Some((index, finding)) = best {
        let first = first_width(verdicts_by_width, index, |width| found(width).is_some());
        return Verdict::Found(with_widths(finding, verdicts_by_width, index, first));
    }
    let reasons = verdicts_by_width.iter().filter(|width| width.widest).filter_map(|width| width.verdicts.get(rule));
    let undecided = reasons.rev().find(|verdict| matches!(verdict, Verdict::Undecided(_)));
    undecided.cloned().unwrap_or(Verdict::Clear)
}

/// Index of the first of the consecutive widths up to `index` that all have the finding.
fn first_width(verdicts_by_width: &[WidthVerdicts], index: usize, found: impl Fn(&WidthVerdicts) -> bool) -> usize {
    let mut first = index;
    while let Some(before) = first.checked_sub(1)
        && let (Some(narrower), Some(width)) = (verdicts_by_width.get(before), verdicts_by_width.get(first))
        && narrower.at + 1 == width.at
        && found(narrower)
    {
        first = before;
    }
    first
}

/// Adds the widths to the claim.
fn with_widths(mut finding: Finding, verdicts_by_width: &[WidthVerdicts], index: usize, first: usize) -> Finding {
    if let (Some(here), Some(first)) = (verdicts_by_width.get(index), verdicts_by_width.get(first)) {
        let from = if first.n < here.n { format!(", and from n={} on", first.n) } else { String::new() };
        let left_out = match here.parked.round() {
            0.0 => String::new(),
            parked => format!(" ({} without work)", threads(parked as usize)),
        };
        finding.claim = format!("At n={}{from}{left_out}: {}", here.n, finding.claim);
    }
    finding
}
