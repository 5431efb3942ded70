//! Threads that wait for each other: for a held lock, or for a signal that comes thousands of times a second. Idle
//! threads do not count as held up: only hand-overs too short to be work do.

use super::paths::{CodeClass, WaitReason};
use super::waits::{Sum, Waits, mostly_below};
use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, limits};
use crate::analysis::names::CodeKind;
use crate::analysis::text::{digits, percent, seconds};
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "lock-wait",
    title: "waiting for locks",
    kind: FindingKind::Limit,
    explains: &[CodeClass::Lock, CodeClass::Signal],
    evaluate,
};

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
        return waits.map(|_| None);
    }
    let only_locks = costs.signalled == 0.0;
    let reasons: &[WaitReason] = if only_locks { &[WaitReason::Lock] } else { &[WaitReason::Lock, WaitReason::Signal] };
    let running = || context.samples().ok().and_then(|stacks| stacks.part_of(&[CodeClass::Lock]).place);
    let place = match &waits {
        Ok(waits) if costs.locked + costs.signalled >= costs.running => waits.worst(reasons, !only_locks),
        _ => running(),
    };
    let mostly_locks = costs.locked + costs.running >= costs.signalled;
    // The lock holder may be waiting for a CPU: then that comes first.
    let queued = context.require_work()?.queued > costs.locked + costs.running;
    let confidence = match (mostly_locks && !queued, costs.share >= limits::LOCKED_MUCH && waits.is_ok()) {
        (true, true) => Confidence::High,
        (true, false) => Confidence::Medium,
        (false, _) => Confidence::Low,
    };
    let mut evidence = vec![
        Evidence::of("of working time", costs.share, U::Share, limits::LOCKED),
        Evidence::plain("on a CPU, threads", costs.running, U::Threads),
        Evidence::plain("mean lock wait", costs.locks.mean(), U::Seconds),
    ];
    if !only_locks {
        evidence.push(Evidence::of("hand-overs per CPU second", costs.rate, U::PerSecond, limits::HAND_OVERS));
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
    let fine = rate >= limits::HAND_OVERS && work.running >= limits::HAND_OVER_BUSY;
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
    let in_kernel = stacks.gather_rows(|row, calls| {
        let kernel = calls.first().is_some_and(|call| stacks.function(*call).kind == CodeKind::Kernel);
        (kernel && stacks.class(row) == CodeClass::Lock).then_some(0)
    });
    let traded = in_kernel.share >= all.share * limits::TRADED && all.threads > 1;
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
            "how long they were blocked was not recorded".to_string()
        };
        return Ok(format!(
            "Locks that others held took {} of the threads' working time: {} on a CPU (spinning, system calls, wake-ups) \
             in {}; {blocked}{at}.",
            percent(costs.share),
            seconds(costs.running * span),
            seconds(span)
        ));
    }
    if mostly_locks {
        return Ok(format!(
            "Threads waited {} of their working time for locks that others held: {} in {}{at}.",
            percent(costs.share),
            seconds(waited * span),
            seconds(span)
        ));
    }
    Ok(format!(
        "Threads hand over to each other {} times per CPU second and waited {} of their working time for it{at}; a \
         shortage of work looks the same.",
        digits(costs.rate),
        percent(costs.share)
    ))
}

fn next_step(mostly_locks: bool, recorded: bool) -> String {
    let text = if !recorded {
        "Record with --off-cpu to see how long they wait; hold the lock for less time, take it less often, or split it."
    } else if mostly_locks {
        "See in the off-CPU flame graph which lock it is and who takes it; hold it for less time, or split it."
    } else {
        "See in the off-CPU flame graph who waits for whom; hand over more work at a time, or let one thread do both."
    };
    text.to_string()
}
