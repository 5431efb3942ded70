//! Threads that are all woken for what one of them takes: a thundering herd, a condition variable that is broadcast where one
//! waiter is enough. Most of them find nothing and go back to sleep where they came from.
//!
//! What a woken thread found is not recorded, so the rule compares numbers: most of several threads wake at the same place for
//! each operation of the whole program, and waking and going back to sleep there takes much of their CPU time. Threads of a
//! pool that are woken once per job wake once per operation altogether, and threads that share the work of each operation spend
//! their time on it. Waits for locks, storage and the clock end for one thread each, and of threads that block in a read or an
//! accept the kernel wakes one: these do not count. Nor do two threads, which may answer each other.

use super::code_path::CodeClass;
use super::paths::WaitReason;
use super::sleepers::Sleepers;
use super::waits::mostly_below;
use super::{Confidence, Evidence, Finding, FindingKind, Place, Rule, RuleContext, Whole};
use crate::analysis::operations;
use crate::analysis::text::{digits, percent, seconds};
use crate::model::{Measure, Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: ID,
    title: TITLE,
    kind: FindingKind::Limit,
    of: Whole::CpuTime,
    explains: &[CodeClass::Signal],
    evaluate,
};

/// The name and the title, also in sweeps.
pub(super) const ID: &str = "useless-wake-ups";
pub(super) const TITLE: &str = "useless wake-ups";

/// Wake-ups per second below which they cost next to nothing: some 5 us each. [P]
const RATE: f64 = 500.0;
/// Threads from which one operation that wakes most of them is more than a dialogue. [P]
const FEWEST: usize = 3;
/// Wake-ups per operation from which one of two finds nothing. [P]
pub(super) const PER_OPERATION: f64 = 2.0;
/// Part of the threads that wake for an operation, on average: the others still run, or have not yet slept again. [P]
const OF_THREADS: f64 = 1.0 / 3.0;
/// Share of the threads' CPU time in waking and going back to sleep. Threads that share an operation's work spend more on it. [P]
const WAKING: f64 = 0.3;

/// Advice for a recording and for a sweep.
pub(super) const NEXT_STEP: &str = "Wake one thread for each piece of work: pthread_cond_signal instead of a broadcast, EPOLLEXCLUSIVE or \
     one epoll instance that all threads share, SO_REUSEPORT with a socket for each process, FUTEX_WAKE with a count of 1.";

/// Where they are found.
pub(super) fn place(context: &RuleContext<'_>) -> Option<Place> {
    evaluate(context).ok().flatten().and_then(|found| found.place)
}

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let span = context.span()?;
    let waits = context.waits()?;
    let reasons = [WaitReason::Signal, WaitReason::Other];
    let often = |group: &Sleepers| group.threads.len() >= FEWEST && group.count as f64 / span >= RATE;
    let groups: Vec<Sleepers> = waits.sleepers(&reasons).into_iter().filter(often).collect();
    if groups.is_empty() {
        return Ok(None);
    }
    let stacks = context.samples()?;
    let costs = groups.into_iter().map(|group| {
        let (waking, all) = stacks.at_sleep(&group);
        (group, stacks.share(waking), waking as f64 / all.max(1) as f64)
    });
    let costly = costs.filter(|(.., part)| *part >= WAKING);
    let Some((group, share, part)) = costly.max_by(|(_, a, _), (_, b, _)| a.total_cmp(b)) else { return Ok(None) };
    let ops = match operations(context.profile, context.window) {
        Measure::Known { value, .. } if value > 0.0 => value * span / context.wall()?,
        Measure::Known { .. } => return Err(Why::Idle),
        Measure::Missing(why) => return Err(why),
    };
    let (each, threads) = (group.count as f64 / ops, group.threads.len());
    if each < PER_OPERATION || each < threads as f64 * OF_THREADS {
        return Ok(None);
    }
    let place = waits.place_of_sleepers(&group);
    let at = mostly_below(Some(&place));
    let cost = context.cpu_time()? * share / ops;
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{threads} threads wake {} times for each operation, {} times a second{at}: all but one find nothing to do. Waking \
             and going back to sleep takes {} of their CPU time, {} for each operation.",
            digits(each),
            digits(group.count as f64 / span),
            percent(part),
            seconds(cost)
        ),
        evidence: vec![
            Evidence::of("wake-ups per operation", each, U::Count, PER_OPERATION),
            Evidence::of("wake-ups", group.count as f64 / span, U::PerSecond, RATE),
            Evidence::of("of their CPU time in waking and sleeping", part, U::Share, WAKING),
            Evidence::plain("the same per operation", cost, U::Seconds),
        ],
        confidence: Confidence::Medium,
        place: Some(place),
        culprits: Vec::new(),
        refuted_by: "each woken thread takes a part of the operation (count what it does after the wait returns)",
        next_step: NEXT_STEP.to_string(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::findings::{Finding, evaluate};
    use crate::analysis::testing::{Synthetic, ms};
    use crate::analysis::{Counters, Names, Selection, StackCounts, Tasks};
    use crate::model::{Scope, TaskState};
    use crate::units::Ops;

    const COND: &str =
        "app!main;app!take_job;/usr/lib/libc.so.6!pthread_cond_wait;[kernel]!do_futex;[kernel]!futex_wait";
    const EVENTS: &str =
        "app!main;app!wait_and_serve;/usr/lib/libc.so.6!epoll_wait;[kernel]!do_epoll_wait;[kernel]!schedule";

    /// Eight threads that wake 500 times a second each, with this part of their CPU time below the wait.
    fn found(threads: u32, stack: &str, part: u64, ops: Option<u64>) -> Vec<Finding> {
        let mut s = Synthetic::new();
        s.weight = ms(10).0;
        s.meta.plan.off_cpu = true;
        s.tick(10_000, 10_000);
        for tid in 41..41 + threads {
            s.alive(tid, "worker");
            for at in 0..4_990 {
                s.off_cpu(at * 2, tid, TaskState::Sleeping, 1, Some(0), stack);
            }
            s.samples(0, tid, stack, part).samples(1, tid, "app!main;app!handle_job", 100 - part);
            s.reading("task-clock", Scope::Thread(tid), 10_000, ms(900).0);
        }
        s.reading("task-clock", Scope::Target, 10_000, ms(u64::from(threads) * 900).0);
        let mut profile = s.finish();
        profile.ops = ops.map(|ops| vec![(ms(0), Ops(0)), (ms(10_000), Ops(ops))]).unwrap_or_default();
        let (names, tasks, counters) = (Names::of(&profile), Tasks::of(&profile), Counters::of(&profile));
        let selection = Selection::default();
        let window = selection.time.window(&profile.ticks, profile.duration());
        let counts = StackCounts::of(&profile, &tasks, &selection);
        let results = evaluate(&RuleContext::of(&profile, &names, &tasks, &counters, &counts, window));
        let open = results.undecided.iter().find(|(rule, ..)| *rule == ID).map(|(.., why)| *why);
        assert_eq!(open, ops.is_none().then_some(Why::NoOpsSource), "{results:?}");
        let is_found = |rule| results.found.iter().any(|finding| finding.rule == rule);
        if stack == COND && threads == 8 {
            assert_eq!(is_found("lock-wait"), !is_found(ID), "one cause, one finding: {results:?}");
        }
        results.found.into_iter().filter(|finding| finding.rule == ID).collect()
    }

    #[test]
    fn threads_that_all_wake_for_each_operation_are_found_with_the_place() {
        for (stack, function) in [(COND, "take_job"), (EVENTS, "wait_and_serve")] {
            let found = found(8, stack, 60, Some(5_000));
            assert_eq!(found.len(), 1);
            let place = found[0].place.as_ref().map(|place| (place.frames.last().cloned(), place.threads.len()));
            assert_eq!(place, Some((Some(function.to_string()), 8)), "{found:?}");
            assert!(found[0].share.is_some_and(|share| (share - 0.6).abs() < 1e-9), "{found:?}");
            assert!(found[0].claim.starts_with("8 threads wake 7.98 times for each operation"), "{}", found[0].claim);
        }
    }

    #[test]
    fn a_pool_that_wakes_once_per_job_and_threads_that_share_the_work_of_one_are_none() {
        assert_eq!(found(8, COND, 60, Some(40_000)), [], "one wake-up per job");
        assert_eq!(found(8, COND, 10, Some(5_000)), [], "the time goes to the work");
        assert_eq!(found(2, COND, 60, Some(5_000)), [], "two threads that answer each other");
        for wait in ["[kernel]!do_nanosleep", "[kernel]!pipe_read", "[kernel]!inet_csk_accept", "[kernel]!io_schedule"]
        {
            assert_eq!(found(8, &format!("app!main;app!serve;{wait}"), 60, Some(5_000)), [], "{wait}");
        }
        let lock = "app!main;app!update;/usr/lib/libc.so.6!pthread_mutex_lock;[kernel]!do_futex;[kernel]!futex_wait";
        assert_eq!(found(8, lock, 60, Some(5_000)), [], "a lock");
    }

    #[test]
    fn without_operations_nothing_shows_which_wake_ups_were_of_use() {
        assert_eq!(found(8, COND, 60, None), []);
    }
}
