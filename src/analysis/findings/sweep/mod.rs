//! Finds why a program does not scale, rule by rule, from a sweep: compares each width that lost with the base, down to
//! the code. A sweep that scales has no findings, and time is split only where it was measured separately.

mod address_space;
mod allocator;
mod bandwidth;
mod block_io;
mod cache_capacity;
mod contended_line;
mod cpi_growth;
mod cpu_time_growth;
mod frequency;
mod growth;
mod hand_over;
mod hot;
mod imbalance;
mod kernel_spin;
mod kernel_time;
mod limits;
mod locks;
mod mean;
mod mmap_lock;
mod more_work;
mod one_worker;
mod outside;
mod page_walks;
mod places;
mod remote_memory;
mod run_queue;
mod serial;
mod sharing;
mod slower;
mod smt;
mod spin;
mod steal;
mod step;
mod throttling;
mod tlb_flush;
mod unseen;

use super::context::less_certain;
use super::{Confidence, Evidence, Finding, Place, RuleResults, Verdict, weight, words};
use crate::analysis::findings::paths::Code;
use crate::analysis::sweep::{Fit, Loss, Point, Stack};
use crate::model::{Region, Why};
use step::Step;

/// What a rule's share counts towards beyond the code it explains, so that no core is lost twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Waits that no other rule claims.
    Wait,
    /// Workers without work.
    Idle,
    /// CPU time with slower cycles.
    Clock,
    /// Time on a CPU while the virtual machine did not run. Only kernels that know of it leave it out of CPU time.
    Stolen,
    /// More CPU time per operation.
    Cpu,
    /// Slower instructions: several reasons may explain the same cycles.
    Cpi,
    /// The remainder of the CPU time per operation.
    Rest,
}

/// One rule.
#[derive(Debug, Clone, Copy)]
struct Rule {
    id: &'static str,
    title: &'static str,
    kind: Kind,
    /// The code whose growth its findings explain, unless an earlier rule does.
    explains: &'static [Code],
    /// Returns the finding, nothing, or why the rule cannot decide.
    judge: fn(&Step<'_>) -> Result<Option<Finding>, Why>,
}

impl Rule {
    /// Whether its findings are only as good as the samples.
    fn uses_samples(&self) -> bool {
        match self.kind {
            Kind::Cpu | Kind::Cpi | Kind::Rest => true,
            Kind::Wait => !self.explains.is_empty(),
            // Threads and their off-CPU time are counted, not sampled.
            Kind::Idle | Kind::Clock | Kind::Stolen => false,
        }
    }
}

/// In decision order: cheap and certain rules, then those that need interpretation, then the remainders.
const RULES: &[Rule] = &[
    throttling::RULE,
    steal::RULE,
    run_queue::RULE,
    locks::RULE,
    block_io::RULE,
    one_worker::RULE,
    serial::RULE,
    imbalance::RULE,
    hand_over::RULE,
    outside::RULE,
    unseen::RULE,
    frequency::RULE,
    spin::RULE,
    contended_line::RULE,
    tlb_flush::RULE,
    mmap_lock::RULE,
    address_space::RULE,
    allocator::RULE,
    kernel_spin::RULE,
    kernel_time::RULE,
    smt::RULE,
    bandwidth::RULE,
    sharing::RULE,
    remote_memory::RULE,
    cache_capacity::RULE,
    page_walks::RULE,
    more_work::RULE,
    cpi_growth::RULE,
    cpu_time_growth::RULE,
];

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
pub fn judge_scaling(points: &[Point], base: usize, stacks: &[Stack], losses: &[Loss], fits: &[Fit]) -> RuleResults {
    let mut judged = RuleResults::default();
    if let Err(why) = comparable(points, base) {
        judged.undecided = RULES.iter().map(|rule| (rule.id, rule.title, why)).collect();
        return judged;
    }
    let verdicts_by_width = verdicts_by_width(points, base, stacks, losses, fits);
    if verdicts_by_width.is_empty() && points.iter().skip(base.saturating_add(1)).any(seems_lost) {
        // The loss is as large as the scatter of the runs: it may not exist, and its cause is open.
        judged.undecided = RULES.iter().map(|rule| (rule.id, rule.title, Why::RunsScatter)).collect();
        return judged;
    }
    for (index, rule) in RULES.iter().enumerate() {
        match decide(&verdicts_by_width, index) {
            Verdict::Found(finding) => judged.found.push(finding),
            Verdict::Undecided(why) => judged.undecided.push((rule.id, rule.title, why)),
            Verdict::Clear => judged.clear.push(rule.id),
        }
    }
    // The sort is stable: equal weights stay in decision order. Remainders come after findings with a reason.
    judged.found.sort_by(|a, b| remains(a).cmp(&remains(b)).then(weight(b).total_cmp(&weight(a))));
    judged
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

/// Whether a width lost so much that even the upper end of its margin is below what counts as scaling.
fn lost(point: &Point) -> bool {
    let efficiency = point.numbers.efficiency.value();
    efficiency.is_some_and(|efficiency| efficiency.mean + efficiency.margin() < limits::SCALES)
}

/// Whether it lost on average.
fn seems_lost(point: &Point) -> bool {
    point.numbers.efficiency.value().is_some_and(|efficiency| efficiency.mean < limits::SCALES)
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
            step.take(rule, &finding);
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

/// The verdict of a rule, given by its index, over all widths that lost.
fn decide(verdicts_by_width: &[WidthVerdicts], rule: usize) -> Verdict {
    let found = |rung: &WidthVerdicts| match rung.verdicts.get(rule) {
        Some(Verdict::Found(finding)) => Some(finding.clone()),
        _ => None,
    };
    let mut best: Option<(usize, Finding)> = None;
    for (index, rung) in verdicts_by_width.iter().enumerate().filter(|(_, rung)| rung.widest) {
        let heavier = |finding: &Finding| best.as_ref().is_none_or(|(_, known)| weight(finding) >= weight(known));
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

#[cfg(test)]
mod tests;
