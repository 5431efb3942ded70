//! Threads with similar work of which some finish early and wait for the busiest. Threads are similar if their names
//! differ only in digits and half of their samples are in the same functions with the same callers.
//!
//! On a busy machine, threads also wait for a thread that is waiting for a CPU, though all have equal work. So the time on
//! a CPU must be uneven as well, and the rule is undecided if the busiest thread's run-queue time exceeds its lead. So it is
//! if one of the threads ended before it was read.
//!
//! Where the busiest waits for its turn as the others do, they share something that one has at a time: that is found instead.

use super::stacks::Work;
use super::{Confidence, Evidence, Finding, FindingKind, Place, Rule, RuleContext, Whole, limits};
use crate::analysis::ThreadRow;
use crate::analysis::text::{percent, threads};
use crate::model::{Unit as U, Why};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

pub(super) const RULE: Rule = Rule {
    id: "load-imbalance",
    title: "uneven load",
    kind: FindingKind::Limit,
    of: Whole::WorkingTime,
    explains: &[],
    evaluate,
};

/// Minimum samples of a thread to describe its work by. [P]
const THREAD_SAMPLES: u64 = 10;

/// Share of their samples that threads with similar work have in common. [P]
const LIKENESS: f64 = 0.5;

/// A thread with the share of its lifetime in which it ran, and in which it had work: running, or waiting for a CPU.
struct Member {
    tid: u32,
    ran: f64,
    wanted: f64,
}

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    context.require_work()?;
    context.samples()?;
    let total = context.cpu_time()? / context.wall()?;
    let mut worst: Option<(String, Vec<Member>)> = None;
    let unread = unread(context);
    let mut undecided = (!unread.is_empty()).then_some(Why::ThreadsUnread);
    for (name, members) in groups(context) {
        let Some(busiest) = members.first() else { continue };
        let uneven = busiest.wanted >= limits::SATURATED
            && balance(&members, |member| member.wanted) < limits::BALANCE
            && balance(&members, |member| member.ran) < limits::BALANCE;
        let weighs = worst.as_ref().is_none_or(|(_, known)| known.len() < members.len());
        let wanted: f64 = members.iter().map(|member| member.wanted).sum();
        if uneven && weighs && wanted >= total / 2.0 && !unread.contains(&name) {
            let lead = busiest.wanted - wanted / members.len() as f64;
            if busiest.wanted - busiest.ran > lead {
                undecided = Some(Why::QueueUnknown);
            } else {
                worst = Some((name, members));
            }
        }
    }
    let Some((name, members)) = worst else {
        return undecided.map_or(Ok(None), Err);
    };
    if context.takes_turns(members[0].tid) {
        return Ok(None);
    }
    let (most, balance_run) = (members[0].wanted, balance(&members, |member| member.ran));
    let balance = balance(&members, |member| member.wanted);
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(1.0 - balance),
        claim: format!(
            "{} `{name}` do similar work: the busiest works {} of the time, the mean thread only {} of that.",
            threads(members.len()),
            percent(most),
            percent(balance)
        ),
        evidence: vec![
            Evidence::up_to("mean over maximum (at most)", balance, U::Share, limits::BALANCE),
            Evidence::up_to("the same of time on a CPU (at most)", balance_run, U::Share, limits::BALANCE),
            Evidence::of("busiest thread working", most, U::Share, limits::SATURATED),
        ],
        confidence: Confidence::Medium,
        place: Some(Place {
            frames: Vec::new(),
            axis: context.axis(),
            threads: members.iter().map(|member| member.tid).collect(),
        }),
        culprits: Vec::new(),
        refuted_by: "over a longer time all of them work equally, or the others do different work",
        next_step: "Compare the busiest thread with the others (--thread); distribute the work in smaller pieces."
            .to_string(),
    }))
}

/// The mean over the maximum, 1 if all are equal.
fn balance(members: &[Member], share: fn(&Member) -> f64) -> f64 {
    let most = members.iter().map(share).fold(0.0, f64::max);
    members.iter().map(share).sum::<f64>() / members.len() as f64 / most
}

/// Threads with similar work by their common name, busiest first. Idle threads are left out.
fn groups(context: &RuleContext<'_>) -> BTreeMap<String, Vec<Member>> {
    let samples_by_thread = samples_by_thread(context);
    let mut named: BTreeMap<String, Vec<(Member, &FunctionSamples)>> = BTreeMap::new();
    for row in &context.threads {
        let (Some(work), Some(&ran)) = (samples_by_thread.get(&row.task.tid), row.utilisation().value()) else {
            continue;
        };
        let Some(wanted) = wanted(row).filter(|wanted| *wanted >= limits::IDLE_THREADS) else { continue };
        named.entry(stem(&row.task.comm)).or_default().push((Member { tid: row.task.tid, ran, wanted }, work));
    }
    let like = |mut members: Vec<(Member, &FunctionSamples)>| {
        members.sort_by(|(a, _), (b, _)| b.wanted.total_cmp(&a.wanted));
        let first = members.first().map(|(_, work)| *work);
        let like = |work: &FunctionSamples| first.is_some_and(|first| work.in_common(first) >= LIKENESS);
        members.into_iter().filter(|(_, work)| like(work)).map(|(member, _)| member).collect()
    };
    named.into_iter().map(|(name, members)| (name, like(members))).collect()
}

/// Common names of several threads that lived for half of the time, of which one ended before it was read: it may have
/// worked more than the others, or as much.
fn unread(context: &RuleContext<'_>) -> FxHashSet<String> {
    let Ok(wall) = context.wall() else { return FxHashSet::default() };
    let mut named: FxHashMap<String, (usize, bool)> = FxHashMap::default();
    for row in context.threads.iter().filter(|row| row.lifetime.seconds() >= wall / 2.0) {
        let (threads, unread) = named.entry(stem(&row.task.comm)).or_default();
        *threads += 1;
        *unread |= matches!(row.utilisation().why(), Some(Why::TargetGone | Why::ThreadsUnread));
    }
    named.into_iter().filter(|(_, (threads, unread))| *threads > 1 && *unread).map(|(name, _)| name).collect()
}

/// Share of a thread's lifetime in which it had work; waiting for a CPU is not idleness.
pub(super) fn wanted(row: &ThreadRow) -> Option<f64> {
    let queued = row.queued().value().copied().unwrap_or(0.0);
    row.utilisation().value().map(|busy| (busy + queued).min(1.0))
}

/// A thread's samples by their innermost function outside the kernel and its caller: a producer and its consumers may spend
/// their time in the same function, but for different work.
#[derive(Debug, Default)]
struct FunctionSamples {
    samples: u64,
    functions: FxHashMap<Work, u64>,
}

impl FunctionSamples {
    /// The share of both threads' samples in the same functions with the same callers, 0 to 1.
    fn in_common(&self, other: &FunctionSamples) -> f64 {
        let share = |work: &FunctionSamples, function: &Work| {
            work.functions.get(function).copied().unwrap_or(0) as f64 / work.samples.max(1) as f64
        };
        self.functions.keys().map(|function| share(self, function).min(share(other, function))).sum()
    }
}

/// Work by thread; threads with few samples are left out.
fn samples_by_thread(context: &RuleContext<'_>) -> FxHashMap<u32, FunctionSamples> {
    let Ok(stacks) = context.samples() else { return FxHashMap::default() };
    let mut samples_by_thread: FxHashMap<u32, FunctionSamples> = FxHashMap::default();
    let wanted = |row: &&ThreadRow| wanted(row).is_some_and(|wanted| wanted >= limits::IDLE_THREADS);
    let tids: FxHashSet<u32> = context.threads.iter().filter(wanted).map(|row| row.task.tid).collect();
    for (row, does) in stacks.works().filter(|(row, _)| tids.contains(&row.tid)) {
        let work = samples_by_thread.entry(row.tid).or_default();
        work.samples += row.samples;
        if let Some(does) = does {
            *work.functions.entry(does).or_default() += row.samples;
        }
    }
    samples_by_thread.retain(|_, work| work.samples >= THREAD_SAMPLES);
    samples_by_thread
}

/// A thread's name with its numbers replaced: `worker-12` and `worker-3` become `worker-#`.
fn stem(comm: &str) -> String {
    let mut out = String::new();
    for c in comm.chars() {
        match c {
            '0'..='9' if out.ends_with('#') => {}
            '0'..='9' => out.push('#'),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_are_alike_by_what_they_have_in_common() {
        let called = |functions: &[(u32, u64)], caller: u32| FunctionSamples {
            samples: functions.iter().map(|(_, samples)| samples).sum(),
            functions: functions.iter().map(|(function, samples)| ((*function, Some(caller)), *samples)).collect(),
        };
        let work = |functions| called(functions, 9);
        let compress = work(&[(1, 80), (2, 20)]);
        assert!(compress.in_common(&called(&[(1, 80), (2, 20)], 8)) < 1e-9, "for another caller");
        assert!((compress.in_common(&work(&[(1, 8), (2, 2)])) - 1.0).abs() < 1e-9);
        assert!((compress.in_common(&work(&[(1, 5), (3, 5)])) - 0.5).abs() < 1e-9);
        assert!(compress.in_common(&work(&[(3, 10)])) < 1e-9);
    }

    #[test]
    fn a_stem_stands_for_all_numbers() {
        assert_eq!([stem("worker-12"), stem("io_thd_3"), stem("main")], ["worker-#", "io_thd_#", "main"]);
    }
}
