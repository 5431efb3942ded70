//! Threads that were blocked before the capture began and have not run since. Where the whole target is, it hangs or has
//! nothing to do; where others work, only waits for a lock or for storage count, since idle workers wait, too.

use super::paths::WaitReason;
use super::waits::{EarlierWait, mostly_below};
use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, Whole, limits};
use crate::analysis::causes::Cause;
use crate::analysis::text::{name, seconds};
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "blocked-throughout",
    title: "blocked all the time",
    kind: FindingKind::Limit,
    of: Whole::WorkingTime,
    explains: &[],
    evaluate,
};

/// Share of the time from which a thread whose CPU time was not read was blocked all the time. [P]
const THROUGHOUT: f64 = 0.8;

/// Share of the finding where others work: what the thread would have done is not known. [P]
const SOME_OF_MANY: f64 = 0.1;

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let (waits, span) = (context.waits()?, context.span()?);
    let ran = |tid: u32| context.threads.iter().find(|row| row.task.tid == tid)?.cpu_time.value().map(|cpu| *cpu > 0.0);
    let throughout = |(tid, it): &(u32, &EarlierWait)| match ran(*tid) {
        Some(ran) => !ran,
        None => it.seconds >= THROUGHOUT * span,
    };
    let mut blocked: Vec<(u32, &EarlierWait)> = waits.earlier().filter(throughout).collect();
    if blocked.is_empty() {
        return Ok(None);
    }
    let all = blocked.len() >= context.threads.len();
    if !all {
        blocked.retain(|(_, it)| it.is_stuck());
    }
    blocked.sort_by_key(|(tid, it)| (!it.is_stuck(), *tid != it.pid, it.reason != WaitReason::Storage, *tid));
    let Some(&(tid, first)) = blocked.first() else { return Ok(None) };
    let works = context.work()?.running >= limits::IDLE_THREADS;
    let place = waits.place_of(tid);
    let at = mostly_below(place.as_ref()).replace(", most of it", "");
    let stuck = blocked.iter().any(|(_, it)| it.is_stuck());
    let age = first.age.age.seconds();
    let waited = if first.age.known { "for" } else { "since before the capture, for at least" };
    let comm = context.threads.iter().find(|row| row.task.tid == tid).map_or("", |row| row.task.comm.as_str());
    let who = match (all, blocked.len()) {
        (true, 1) => "The only thread was blocked all the time".to_string(),
        (true, count) => format!("All {count} threads were blocked all the time"),
        (false, 1) => "One thread was blocked all the time".to_string(),
        (false, count) => format!("{count} threads were blocked all the time"),
    };
    let (thread, age_text, cause) = (named(tid, comm), seconds(age), words(first.cause));
    let claim = format!("{who}: {thread} has waited {waited} {age_text} {cause}{at}.");
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(if all { 1.0 } else { SOME_OF_MANY }),
        claim,
        evidence: evidence(&blocked, age),
        confidence: match (all, stuck, works) {
            (true, true, false) => Confidence::High,
            (_, true, false) | (true, _, false) => Confidence::Medium,
            _ => Confidence::Low,
        },
        place,
        refuted_by: "the threads wait for work and there was none",
        next_step: next_step(first),
        culprits: Vec::new(),
    }))
}

fn words(cause: Cause) -> &'static str {
    match cause {
        Cause::Lock => "in a futex (lock, condition variable)",
        Cause::BlockIo => "for storage",
        Cause::Network => "for a socket",
        Cause::Pipe => "for a pipe or terminal",
        Cause::Events => "for events",
        Cause::Sleep => "in a sleep",
        Cause::RunQueue | Cause::Other => "for a child, a signal or a stop to end",
        Cause::Unknown => "for something that was not seen",
    }
}

fn named(tid: u32, comm: &str) -> String {
    if comm.is_empty() { format!("thread {tid}") } else { format!("thread {tid} {}", name(comm)) }
}

/// How many threads wait for what, and for how long the first has.
fn evidence(blocked: &[(u32, &EarlierWait)], age: f64) -> Vec<Evidence> {
    let count = |cause: Cause| blocked.iter().filter(|(_, it)| it.cause == cause).count();
    let causes = Cause::ALL.into_iter().map(|cause| (cause, count(cause))).filter(|(_, count)| *count > 0);
    let counts = causes.map(|(cause, count)| Evidence::plain(cause.label(), count as f64, U::Threads));
    std::iter::once(Evidence::plain("age of the wait", age, U::Seconds)).chain(counts).collect()
}

fn next_step(first: &EarlierWait) -> String {
    let text = match (first.reason, first.cause) {
        (WaitReason::Lock | WaitReason::MmapLock, _) => {
            "Find who holds the lock: see in the off-CPU flame graph where the other threads wait (`gdb -p PID` shows the \
             lock's owner)."
        }
        (WaitReason::Storage, _) => {
            "Look at the storage below it: `dmesg`, `iostat -x 1`, the server of a network file system."
        }
        (_, Cause::Network | Cause::Pipe) => {
            "Find the process at the other end (`ss -tp`, /proc/PID/fd) and profile it: it does not answer, or nothing \
             was asked."
        }
        (_, Cause::Other) => {
            "See what it waits for: a child process (profile it with --children), a signal, a debugger."
        }
        (_, Cause::Unknown) => {
            "Run as root, or as the program's user with kernel.yama.ptrace_scope=0, to see what it waits for."
        }
        _ => "See in the off-CPU flame graph where each thread waits, and who should wake it.",
    };
    text.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::analysis::{Counters, Names, Selection, StackCounts, Tasks, Window, findings::evaluate as all_rules};
    use crate::model::Scope;

    const LOCK: &str = "app!main;app!take;libc!pthread_mutex_lock;[kernel]!futex_wait";
    const IDLE: &str = "app!main;app!serve;libc!epoll_wait;[kernel]!ep_poll";

    fn found(synthetic: Synthetic) -> Option<Finding> {
        let profile = synthetic.finish();
        let (names, tasks, counters) = (Names::of(&profile), Tasks::of(&profile), Counters::of(&profile));
        let counts = StackCounts::of(&profile, &tasks, &Selection::default());
        let window = Window { from: ms(0), to: ms(2_000) };
        let context = RuleContext::of(&profile, &names, &tasks, &counters, &counts, window);
        all_rules(&context).found.into_iter().find(|finding| finding.rule == RULE.id)
    }

    /// Two threads; of the first the CPU time in two seconds, where the second used none.
    fn target(cpu_ms: u64) -> Synthetic {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "main").alive(42, "other");
        synthetic.reading("task-clock", Scope::Target, 2_000, ms(cpu_ms).0);
        synthetic.reading("task-clock", Scope::Thread(41), 2_000, ms(cpu_ms).0);
        synthetic.reading("task-clock", Scope::Thread(42), 2_000, 0);
        synthetic.tick(2_000, 2_000);
        synthetic
    }

    #[test]
    fn a_program_that_hangs_is_named_with_its_lock_and_its_age() {
        let mut synthetic = target(0);
        synthetic.earlier_wait(41, Some(60_000), 2_000, IDLE).earlier_wait(42, Some(118_000), 2_000, LOCK);
        let finding = found(synthetic).expect("it hangs");
        assert_eq!((finding.confidence, finding.share), (Confidence::High, Some(1.0)));
        assert!(finding.claim.starts_with("All 2 threads were blocked all the time: thread 42"), "{}", finding.claim);
        assert!(finding.claim.contains("120 s") && finding.claim.contains("`take`"), "{}", finding.claim);
        assert!(finding.next_step.contains("holds the lock"), "{}", finding.next_step);
    }

    #[test]
    fn beside_threads_that_work_only_a_lock_counts_and_an_idle_pool_does_not() {
        for (stack, expected) in [(LOCK, Some(Confidence::Low)), (IDLE, None)] {
            let mut synthetic = target(1_900);
            synthetic.earlier_wait(42, None, 2_000, stack);
            let finding = found(synthetic);
            assert_eq!(finding.as_ref().map(|finding| finding.confidence), expected, "{stack}");
            assert!(finding.is_none_or(|it| it.claim.contains("since before the capture, for at least")));
        }
    }

    #[test]
    fn a_wait_that_ended_within_the_capture_is_none() {
        let mut synthetic = target(5);
        synthetic.earlier_wait(41, Some(60_000), 900, LOCK).earlier_wait(42, Some(60_000), 2_000, IDLE);
        assert_eq!(found(synthetic), None);
    }
}
