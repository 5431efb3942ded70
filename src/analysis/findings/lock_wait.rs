//! Threads that wait for each other: for a lock, or for a signal that comes thousands of times per second. Idle
//! threads do not count: only hand-overs too short to be work do.

use super::code_path::{CodeClass, Families};
use super::paths::WaitReason;
use super::waits::{Sum, Waits, mostly_below};
use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, limits};
use crate::analysis::text::{digits, percent, seconds};
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "lock-wait",
    title: "waiting for locks",
    kind: FindingKind::Limit,
    explains: &[CodeClass::Lock, CodeClass::Signal],
    evaluate,
};

/// Share of a lock's CPU time in futex calls from which threads contend for it. [P]
const TRADED: f64 = 0.1;

/// Share of working time from which a lock is the first thing to examine. [P]
const LOCKED_MUCH: f64 = 0.25;

/// Waits for another thread's signal per second of CPU time: a thread works for 200 us or less between two. [P]
const HAND_OVERS: f64 = 5_000.0;

/// Busy cores below which threads that wait for a signal are assumed to wait for work from outside. [P]
const HAND_OVER_BUSY: f64 = 0.2;

/// How threads waited for each other, as mean numbers of threads.
struct ContentionCosts {
    locked: f64,
    signalled: f64,
    /// On a CPU in lock functions and below them.
    running: f64,
    /// All three, as a share of working time plus the time waiting for signals.
    share: f64,
    /// Short waits for a signal per second of CPU time.
    rate: f64,
    locks: Sum,
}

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let waits = context.waits();
    let costs = costs(context, waits.as_ref().ok().copied())?;
    if costs.share < limits::LOCKED {
        waits?;
        let total = context.require_work()?.total() + costs.signalled;
        return context.below_limit(WaitReason::Lock, costs.share, total, limits::LOCKED);
    }
    let only_locks = costs.signalled == 0.0;
    let reasons: &[WaitReason] = if only_locks { &[WaitReason::Lock] } else { &[WaitReason::Lock, WaitReason::Signal] };
    let running = || context.samples().ok().and_then(|stacks| stacks.part_of(&[CodeClass::Lock]).place());
    let place = match &waits {
        Ok(waits) if costs.locked + costs.signalled >= costs.running => waits.worst(reasons, !only_locks),
        _ => running(),
    };
    let mostly_locks = costs.locked + costs.running >= costs.signalled;
    // The lock holder may be waiting for a CPU: then that comes first.
    let queued = context.require_work()?.queued > costs.locked + costs.running;
    let confidence = match (mostly_locks && !queued, costs.share >= LOCKED_MUCH && waits.is_ok()) {
        (true, true) => Confidence::High,
        (true, false) => Confidence::Medium,
        (false, _) => Confidence::Low,
    };
    let mut evidence = vec![
        Evidence::of("of working time", costs.share, U::Share, limits::LOCKED),
        Evidence::plain("contending on a CPU", costs.running, U::Threads),
        Evidence::plain("mean lock wait", costs.locks.mean(), U::Seconds),
    ];
    if !only_locks {
        evidence.push(Evidence::of("hand-overs per CPU second", costs.rate, U::PerSecond, HAND_OVERS));
    }
    evidence.retain(|row| row.value > 0.0);
    evidence.extend(
        context
            .metric(MetricId::VoluntarySwitches)
            .map(|rate| Evidence::plain("switches, blocked", rate, U::PerSecond)),
    );
    let at = mostly_below(place.as_ref());
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(costs.share),
        claim: claim(context, &costs, mostly_locks, waits.is_ok(), &at)?,
        evidence,
        confidence,
        next_step: next_step(mostly_locks, waits.is_ok()),
        place,
        refuted_by: "the waits end when work arrives: then threads were idle; or CPUs are short, and the holder waits for one",
    }))
}

fn costs(context: &RuleContext<'_>, waits: Option<&Waits<'_>>) -> Result<ContentionCosts, Why> {
    let (span, work) = (context.span()?, context.require_work()?);
    let sum = |reason| waits.map_or_else(Sum::default, |waits| waits.sum(&[reason]));
    let (locks, signals) = (sum(WaitReason::Lock), sum(WaitReason::Signal));
    let running = contended(context).unwrap_or(0.0) * work.running;
    let cpu = work.running * span;
    let rate = if cpu > 0.0 { signals.short_count as f64 / cpu } else { 0.0 };
    let fine = rate >= HAND_OVERS && work.running >= HAND_OVER_BUSY;
    let signalled = if fine { signals.short_seconds / span } else { 0.0 };
    Ok(ContentionCosts {
        locked: work.locked,
        signalled,
        running,
        share: (work.locked + signalled + running) / (work.total() + signalled),
        rate,
        locks,
    })
}

/// The share of the CPU time in contended locks, which spend some of it in futex calls. Uncontended locks cost little
/// each, which is the price of safety.
fn contended(context: &RuleContext<'_>) -> Result<f64, Why> {
    let stacks = context.samples()?;
    let all = stacks.part_of(&[CodeClass::Lock]);
    let in_kernel = stacks.part(|kind| (kind.runs(Families::KERNEL) && kind.class == CodeClass::Lock).then_some(0));
    let traded = in_kernel.share >= all.share * TRADED && all.threads() > 1;
    Ok(if traded { all.share } else { 0.0 })
}

fn claim(
    context: &RuleContext<'_>,
    costs: &ContentionCosts,
    mostly_locks: bool,
    recorded: bool,
    at: &str,
) -> Result<String, Why> {
    let (span, waited) = (context.span()?, costs.locked + costs.signalled);
    if mostly_locks && costs.running >= 0.1 * (waited + costs.running) {
        let blocked = if recorded {
            format!("{} blocked", seconds(waited * span))
        } else {
            "blocked time was not recorded".to_string()
        };
        return Ok(format!(
            "Lock contention takes {} of the threads' working time: {} on a CPU (spinning, system calls, \
             wake-ups) in {}; {blocked}{at}.",
            percent(costs.share),
            seconds(costs.running * span),
            seconds(span)
        ));
    }
    if mostly_locks {
        return Ok(format!(
            "Threads are blocked on locks for {} of their working time: {} in {}{at}.",
            percent(costs.share),
            seconds(waited * span),
            seconds(span)
        ));
    }
    Ok(format!(
        "Threads hand over to each other {} times per CPU second and wait {} of their working time for \
         it{at}; a shortage of work looks the same.",
        digits(costs.rate),
        percent(costs.share)
    ))
}

fn next_step(mostly_locks: bool, recorded: bool) -> String {
    let text = if !recorded {
        "Record with --off-cpu to see how long threads wait; hold the lock for less time, take it less often, \
         or split it."
    } else if mostly_locks {
        "Find the lock and its holders in the off-CPU flame graph; hold it for less time, or split it."
    } else {
        "See in the off-CPU flame graph which threads wait for each other; hand over more work at a time, or \
         let one thread do both."
    };
    text.to_string()
}
