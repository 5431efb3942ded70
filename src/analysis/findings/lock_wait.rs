//! Threads that wait for each other: for a lock, or for a signal. Idle threads do not count: signals do where they come thousands
//! of times per second, too often to be work from outside, and where only the program's own threads can send them.

use super::code_path::CodeClass;
use super::contention::{ContentionCosts, HAND_OVERS, costs, queued_for_locks};
use super::paths::WaitReason;
use super::stacks::CodeShare;
use super::waits::{HoldersWait, mostly_below};
use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, Whole, limits, useless_wake_ups};
use crate::analysis::causes::Cause;
use crate::analysis::text::{digits, name, percent, seconds};
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "lock-wait",
    title: "waiting for locks",
    kind: FindingKind::Limit,
    of: Whole::WorkingTime,
    explains: &[CodeClass::Lock, CodeClass::Signal],
    evaluate,
};

/// The title where signals are most of what threads wait for.
const MUTUAL: &str = "waiting for each other";

/// Share of working time from which a lock is the first thing to examine. [P]
const LOCKED_MUCH: f64 = 0.25;

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let waits = context.waits();
    let mut costs = costs(context, waits.as_ref().ok().copied())?;
    if costs.share < limits::LOCKED {
        waits?;
        let total = context.require_work()?.total() + costs.signalled;
        return context.below_limit(WaitReason::Lock, costs.share, total, limits::LOCKED);
    }
    let work = context.require_work()?;
    costs.queued = work.queued * queued_for_locks(context)?;
    costs.share += costs.queued / (work.total() + costs.signalled);
    let only_locks = costs.signalled == 0.0;
    let reasons: &[WaitReason] = match (only_locks, costs.closed) {
        (true, _) => &[WaitReason::Lock],
        (false, true) => &[WaitReason::Signal],
        (false, false) => &[WaitReason::Lock, WaitReason::Signal],
    };
    let (place, lock) = match &waits {
        Ok(waits) if costs.locked + costs.signalled >= costs.running => (waits.worst(reasons, !only_locks), None),
        _ => {
            let part = context.samples().ok().map(|stacks| stacks.part_of(&[CodeClass::Lock]));
            (part.as_ref().and_then(CodeShare::place), part.and_then(|part| part.callee().map(name)))
        }
    };
    // Threads that are all woken for what one of them takes wait for each other, too: the wake-ups are the cause, and found.
    let woken = place.as_ref().and_then(|place| Some(useless_wake_ups::place(context)?.frames == place.frames));
    if woken == Some(true) {
        return Ok(None);
    }
    let mostly_locks = costs.mostly_locks();
    // The one who has the lock may be waiting for a CPU: then that comes first, unless most of it is measured on a CPU.
    let queued = work.runnable() - costs.queued > costs.locked + costs.running;
    let confidence = match (mostly_locks && !queued, costs.share >= LOCKED_MUCH && waits.is_ok()) {
        (true, true) => Confidence::High,
        (true, false) => Confidence::Medium,
        (false, _) if mostly_locks && costs.running > costs.locked => Confidence::Medium,
        (false, _) => Confidence::Low,
    };
    let mut evidence = vec![
        Evidence::of("of working time", costs.share, U::Share, limits::LOCKED),
        Evidence::plain("contending on a CPU", costs.running, U::Threads),
        Evidence::plain("runnable, where a CPU would not help", costs.queued, U::Threads),
        Evidence::plain("mean lock wait", costs.locks.mean(), U::Seconds),
    ];
    if !only_locks && !costs.closed {
        evidence.push(Evidence::of("hand-overs per CPU second", costs.rate, U::PerSecond, HAND_OVERS));
    }
    evidence.retain(|row| row.value > 0.0);
    evidence.extend(
        context
            .metric(MetricId::VoluntarySwitches)
            .map(|rate| Evidence::plain("switches, blocked", rate, U::PerSecond)),
    );
    let holder = waits.as_ref().ok().filter(|_| mostly_locks && costs.locked >= costs.running);
    let holder = holder.and_then(|waits| waits.holders_wait());
    let allocator = waits.as_ref().ok().filter(|waits| mostly_locks && waits.mostly_allocator());
    let allocator = allocator.map(|waits| waits.allocator_waiters());
    evidence.extend(holder.map(|wait| Evidence::plain("blocked with the lock", wait.seconds, U::Seconds)));
    let at = mostly_below(place.as_ref()) + &lock.map_or(String::new(), |lock| format!(", by {lock}"));
    Ok(Some(Finding {
        rule: RULE.id,
        title: if mostly_locks { RULE.title } else { MUTUAL },
        share: Some(costs.share),
        claim: claim(context, &costs, mostly_locks, waits.is_ok(), &at)?
            + if allocator.is_some() { " The lock is one of the memory allocator's." } else { "" }
            + &holder.map_or(String::new(), held),
        evidence,
        confidence,
        next_step: advice(context, &costs, holder, allocator, waits.is_ok()),
        place,
        culprits: Vec::new(),
        refuted_by: "the waits end when work arrives: then threads were idle; or CPUs are short, and the holder waits for one",
    }))
}

/// What to do: about the holder of the lock, the allocator, or where threads wait. `timed`: waits were recorded.
fn advice(
    context: &RuleContext<'_>,
    costs: &ContentionCosts,
    holder: Option<HoldersWait>,
    allocator: Option<usize>,
    timed: bool,
) -> String {
    match (holder, allocator) {
        (Some(wait), _) => holders_step(context, wait),
        (None, Some(1)) => {
            "One thread waits, so another one has the lock for long: see which of them frees, trims \
                            (malloc_trim) or allocates much meanwhile, and let it do less at a time."
                .to_string()
        }
        (None, Some(_)) => {
            "Let threads reuse memory instead of returning it, or try an allocator with more of its \
                            own memory for each (LD_PRELOAD)."
                .to_string()
        }
        (None, None) if costs.closed => {
            "See in the off-CPU flame graph where threads wait, and by thread which of them do not: make the work of those \
             cheaper, let more threads do it, or have more of what the others wait for (connections, buffers)."
                .to_string()
        }
        (None, None) => next_step(costs.mostly_locks(), timed),
    }
}

fn claim(
    context: &RuleContext<'_>,
    costs: &ContentionCosts,
    mostly_locks: bool,
    recorded: bool,
    at: &str,
) -> Result<String, Why> {
    let (span, waited) = (context.span()?, costs.locked + costs.signalled);
    let queued = match costs.queued {
        queued if queued > 0.0 => format!("; {} runnable, where another CPU would not help", seconds(queued * span)),
        _ => String::new(),
    };
    if mostly_locks && costs.running >= 0.1 * (waited + costs.running) {
        let blocked = match recorded {
            true if waited > 0.0 => format!("{} blocked", seconds(waited * span)),
            // Threads may block often, and too shortly for a source that looks from time to time.
            true => "no time blocked was seen".to_string(),
            false => "blocked time was not recorded".to_string(),
        };
        return Ok(format!(
            "Lock contention takes {} of the threads' working time: {} on a CPU (spinning, system calls, \
             wake-ups) in {}{at}; {blocked}{queued}.",
            percent(costs.share),
            seconds(costs.running * span),
            seconds(span)
        ));
    }
    if mostly_locks {
        return Ok(format!(
            "Threads {} locks for {} of their working time: {} in {}{at}{queued}.",
            if queued.is_empty() { "are blocked on" } else { "wait for" },
            percent(costs.share),
            seconds(waited * span),
            seconds(span)
        ));
    }
    if costs.closed {
        return Ok(format!(
            "Threads wait for each other for {} of their working time: {} in {}{at}{queued}. Nobody else wakes them: they wait for \
             one that has more to do, or for something that the program has too few of.",
            percent(costs.share),
            seconds(waited * span),
            seconds(span)
        ));
    }
    Ok(format!(
        "Threads hand over to each other {} times per CPU second and wait {} of their working time for \
         it{at}{queued}; a shortage of work looks the same.",
        digits(costs.rate),
        percent(costs.share)
    ))
}

/// A sentence on the one who has the lock.
fn held(wait: HoldersWait) -> String {
    let what = match wait.cause {
        Cause::Pipe => "for the other end of a pipe or terminal",
        Cause::Network => "for the other end of a connection",
        Cause::BlockIo => "for storage",
        _ => "in a sleep",
    };
    format!(" Whoever has the lock is blocked itself meanwhile, {what}: {} in all.", seconds(wait.seconds))
}

fn holders_step(context: &RuleContext<'_>, wait: HoldersWait) -> String {
    let text = match wait.cause {
        Cause::Pipe => match context.pipe_readers().filter(|_| wait.fills_pipe) {
            Some(readers) => {
                return format!(
                    "{readers} reads what it writes, and is too slow: profile that. Fewer threads or a shorter section change \
                     nothing."
                );
            }
            None => {
                "The process at the other end is too slow: find it (`ls -l /proc/PID/fd` names the pipe, `lsof` both ends) and \
                 profile it. Fewer threads or a shorter section change nothing."
            }
        },
        Cause::Network => {
            "The process at the other end is too slow: find it (`ss -tp`) and profile it, or send without the lock."
        }
        Cause::BlockIo => "Read and write without the lock, or hand that to one thread.",
        _ => "Sleep without the lock.",
    };
    text.to_string()
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
