//! Threads that wait for each other: for a lock that is held, or for a signal that comes thousands of times a second.
//! It never takes a thread without work for one that is held up: only hand-overs too fine to be work count.

use super::waits::{Reason, Sum, Waits, mostly_below};
use super::words::{digits, percent, seconds};
use super::{Confidence, Evidence, Finding, Kind, Rule, Sight, limits};
use crate::analysis::MetricUnit as U;
use crate::model::Why;

pub(super) const RULE: Rule = Rule { id: "lock-wait", title: "waiting for locks", kind: Kind::Limit, judge };

/// How threads waited for each other, in mean numbers of threads.
struct Held {
    locked: f64,
    signalled: f64,
    /// Both over working time and both.
    share: f64,
    /// Short waits for a signal per second of CPU time.
    rate: f64,
    locks: Sum,
}

fn judge(sight: &Sight<'_>) -> Result<Option<Finding>, Why> {
    let waits = sight.waits()?;
    let held = held(sight, waits)?;
    if held.share < limits::LOCKED {
        return Ok(None);
    }
    let only_locks = held.signalled == 0.0;
    let reasons: &[Reason] = if only_locks { &[Reason::Lock] } else { &[Reason::Lock, Reason::Signal] };
    let place = waits.worst(reasons, !only_locks);
    let mostly_locks = held.locked >= held.signalled;
    // Whoever holds the lock may be in the queue for a CPU: then that comes first.
    let queued = sight.busy()?.queued > held.locked;
    let confidence = match (mostly_locks && !queued, held.share >= limits::LOCKED_MUCH) {
        (true, true) => Confidence::High,
        (true, false) => Confidence::Medium,
        (false, _) => Confidence::Low,
    };
    let mut evidence = vec![
        Evidence::of("blocked, of working time", held.share, U::Share, limits::LOCKED),
        Evidence::plain("mean lock wait", held.locks.mean(), U::Seconds),
    ];
    if !only_locks {
        evidence.push(Evidence::of("hand-overs per CPU second", held.rate, U::PerSecond, limits::HAND_OVERS));
    }
    evidence.retain(|row| row.value > 0.0);
    evidence.extend(
        sight.metric("voluntary_switches").map(|rate| Evidence::plain("switches, blocked", rate, U::PerSecond)),
    );
    let at = mostly_below(place.as_ref());
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(held.share),
        claim: claim(sight, &held, mostly_locks, &at)?,
        evidence,
        confidence,
        next_step: next_step(mostly_locks),
        place,
        refuted_by: "the waits end when work arrives: then threads were idle; or CPUs are short, and the holder waits for one",
    }))
}

fn held(sight: &Sight<'_>, waits: &Waits<'_>) -> Result<Held, Why> {
    let (span, work) = (sight.span()?, sight.busy()?);
    let (locks, signals) = (waits.sum(&[Reason::Lock]), waits.sum(&[Reason::Signal]));
    let cpu = work.running * span;
    let rate = if cpu > 0.0 { signals.short_count as f64 / cpu } else { 0.0 };
    let fine = rate >= limits::HAND_OVERS && work.running >= limits::HAND_OVER_BUSY;
    let signalled = if fine { signals.short_seconds / span } else { 0.0 };
    Ok(Held {
        locked: work.locked,
        signalled,
        share: (work.locked + signalled) / (work.total() + signalled),
        rate,
        locks,
    })
}

fn claim(sight: &Sight<'_>, held: &Held, mostly_locks: bool, at: &str) -> Result<String, Why> {
    let (span, waited) = (sight.span()?, held.locked + held.signalled);
    if mostly_locks {
        return Ok(format!(
            "Threads waited {} of their working time for locks that others held: {} in {}{at}.",
            percent(held.share),
            seconds(waited * span),
            seconds(span)
        ));
    }
    Ok(format!(
        "Threads hand over to each other {} times per CPU second and waited {} of their working time for it{at}; a \
         shortage of work looks the same.",
        digits(held.rate),
        percent(held.share)
    ))
}

fn next_step(mostly_locks: bool) -> String {
    let text = if mostly_locks {
        "See in the off-CPU flame graph which lock it is and who takes it; hold it for less time, or split it."
    } else {
        "See in the off-CPU flame graph who waits for whom; hand over more work at a time, or let one thread do both."
    };
    text.to_string()
}
