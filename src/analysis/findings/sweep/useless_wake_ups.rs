//! More and more threads that are woken for each operation, of which one finds something to do. It is judged apart, as the time
//! that it costs is little of what idle workers of a wide point leave: what grew for an operation comes first, and that others
//! had nothing to do meanwhile is what the rule says itself.

use super::context::WidthContext;
use super::growth::{LeadingPath, function};
use super::limits;
use super::places::cpu_place;
use super::values::{known, lost, ops};
use super::{Confidence, Evidence, Finding};
use crate::analysis::finding::Verdict;
use crate::analysis::findings::paths::{WaitReason, wait_reason_by};
use crate::analysis::findings::useless_wake_ups::{NEXT_STEP, PER_OPERATION};
use crate::analysis::sweep::{Loss, Point, RegionFit, Run, Stack};
use crate::analysis::text::{digits, name, percent, seconds};
use crate::model::{MetricId, Unit as U, Why};

pub(super) use crate::analysis::findings::useless_wake_ups::{ID, TITLE};

/// Wake-ups per operation and worker from which most workers wake for each. [P]
const OF_WORKERS: f64 = 0.5;
/// Part of the growth of CPU time per operation that is waking and going back to sleep. [P]
const WAKING: f64 = 0.3;

/// The verdict on the widest point; `None` if it did not lose.
pub(super) fn verdict(
    points: &[Point],
    base: usize,
    stacks: &[Stack],
    losses: &[Loss],
    fits: &[RegionFit],
) -> Option<Verdict> {
    let reach = points.get(base..)?;
    let widest = reach.last().filter(|point| lost(point))?;
    let stack = stacks.iter().find(|stack| stack.n == widest.n)?;
    let context = WidthContext::of(reach, stack, losses, fits)?;
    Some(evaluate(&context).into())
}

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let wakes = context.per_op(MetricId::VoluntarySwitches)?;
    let workers = context.change(|run| Ok(f64::from(run.n) - f64::from(run.parked)))?.here.value;
    let least = PER_OPERATION.max(workers * OF_WORKERS);
    let cost = context.number(|numbers| numbers.cpu_ns_per_op)?;
    let more = wakes.grew() && wakes.grew_by_factor(limits::SWITCHES) && wakes.here.value >= least;
    if !more || !cost.grew() {
        return Ok(None);
    }
    let Some(place) = leading_wait(context)? else { return Ok(None) };
    let waking = context.change(|run| Ok(waking(run, &place) * 1e9 * known(run.totals.cpu)? / ops(run)?))?;
    let part = waking.amount() / cost.amount();
    if part < WAKING || !waking.grew() {
        return Ok(None);
    }
    let base = context.base.n;
    let at = place.last().map_or(String::new(), |innermost| format!(", most of them in {}", name(innermost)));
    let leading =
        LeadingPath { function: place.last().cloned().unwrap_or_default(), frames: place, caller: None, callee: None };
    Ok(Some(Finding {
        rule: ID,
        title: TITLE,
        share: None,
        claim: format!(
            "At n={}: threads wake {} times for each operation, {} at n={base}{at}, and all but one find nothing to do. Waking and \
             going back to sleep takes {} for each operation, {} at n={base}: {} of the growth of its CPU time.",
            context.here.n,
            digits(wakes.here.value),
            digits(wakes.base.value),
            seconds(waking.here.value * 1e-9),
            seconds(waking.base.value * 1e-9),
            percent(part.min(1.0))
        ),
        evidence: vec![
            Evidence::of("wake-ups per operation", wakes.here.value, U::Count, least),
            Evidence::plain("the same at the base", wakes.base.value, U::Count),
            Evidence::of("of the growth of CPU time", part.min(1.0), U::Share, WAKING),
            Evidence::plain("CPU time per operation", cost.here.value * 1e-9, U::Seconds),
            Evidence::plain("CPU time per operation at the base", cost.base.value * 1e-9, U::Seconds),
        ],
        confidence: if context.base.runs.len().min(context.here.runs.len()) < 3 {
            Confidence::Low
        } else {
            Confidence::Medium
        },
        place: Some(cpu_place(&leading)),
        culprits: Vec::new(),
        refuted_by: "each woken thread takes a part of the operation (count what it does after the wait returns)",
        next_step: NEXT_STEP.to_string(),
    }))
}

/// The path to the function in which workers wait most here, other than for locks and storage.
fn leading_wait(context: &WidthContext<'_>) -> Result<Option<Vec<String>>, Why> {
    let waits = context.waits()?;
    let reasons = [WaitReason::Signal, WaitReason::Other];
    let paths = reasons.iter().filter_map(|reason| Some((waits.get(*reason).here.value, waits.leading_path(*reason)?)));
    Ok(paths.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, path)| path.frames.clone()))
}

/// The share of a run's sampled CPU time in the kernel and libraries below a wait, given its path, root first.
fn waking(run: &Run, place: &[String]) -> f64 {
    let below = run.cpu.paths.iter().filter(|path| {
        let within =
            path.frames.len() > place.len() && path.frames.iter().zip(place).all(|(frame, name)| frame.name == *name);
        within && {
            let functions: Vec<_> = path.frames.iter().map(function).collect();
            let (_, at) = wait_reason_by(&functions.iter().collect::<Vec<_>>(), path.lock);
            at + 1 == place.len()
        }
    });
    let weight: f64 = below.map(|path| path.weight).sum();
    if run.cpu.weight > 0.0 { weight / run.cpu.weight } else { 0.0 }
}
