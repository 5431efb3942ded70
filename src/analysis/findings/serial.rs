//! One thread that does all the work: it limits the program, however many CPUs there are. Single-threaded programs do
//! not count, nor do threads that hardly ran: nobody expects them to use more than one CPU. Nor does one that waits for its turn
//! as the others do: what they take turns at limits the program, and is found instead.

use super::imbalance::wanted;
use super::waits::mostly_below;
use super::{Confidence, Evidence, Finding, FindingKind, Place, Rule, RuleContext, Whole};
use crate::analysis::parked::parked;
use crate::analysis::text::{name, percent};
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "serial-thread",
    title: "one thread does all the work",
    kind: FindingKind::Limit,
    of: Whole::WorkingTime,
    explains: &[],
    evaluate,
};

/// Mean number of other working threads up to which one thread does all the work. [P]
const SERIAL_OTHERS: f64 = 0.2;

/// Share of its lifetime from which the one thread that does all the work is saturated. [P]
const SERIAL: f64 = 0.95;

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let wall = context.wall()?;
    context.require_work()?;
    let parked = parked(&context.threads);
    let works = context.threads.iter().filter(|row| !parked.contains(&row.task.tid));
    let measured: Vec<_> = works.filter_map(|row| Some((row, wanted(row)?))).collect();
    let busiest = measured.iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
    let Some((first, most)) = busiest else { return Err(Why::NotRecorded) };
    let lasts = first.lifetime.seconds() >= wall / 2.0;
    let siblings = measured.iter().filter(|(row, _)| row.task.pid == first.task.pid).count();
    let at_work = |wanted: f64, life: f64| wanted * life / wall;
    let all: f64 = measured.iter().map(|(row, wanted)| at_work(*wanted, row.lifetime.seconds())).sum();
    let others = all - at_work(*most, first.lifetime.seconds());
    let spare = context.profile.meta.host.cpus.len() != 1;
    if *most < SERIAL || !lasts || siblings < 2 || others > SERIAL_OTHERS || !spare {
        return Ok(None);
    }
    // A thread that exited unread may have worked for its whole lifetime.
    let unread = context.threads.iter().filter(|row| wanted(row).is_none());
    let hidden: f64 = unread.map(|row| row.lifetime.seconds() / wall).sum();
    if others + hidden > SERIAL_OTHERS {
        return Err(Why::ThreadsUnread);
    }
    let tid = first.task.tid;
    if context.takes_turns(tid) {
        return Ok(None);
    }
    let samples = context.samples().ok();
    let hottest = samples.map(|stacks| {
        let rows = stacks.counts.rows.iter().filter(|row| row.tid == tid);
        stacks.share(rows.fold(0, |sum, row| sum.saturating_add(row.weight)))
    });
    let place = samples.and_then(|stacks| stacks.part_of_thread(tid).place());
    let at = mostly_below(place.as_ref());
    let share = hottest.unwrap_or(if all > 0.0 { most / all } else { 0.0 }).min(1.0);
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "Thread {tid} {} works {} of the time{at}; all {} others together work {} of one thread's time.",
            name(&first.task.comm),
            percent(*most),
            measured.len() - 1,
            percent(others.max(0.0))
        ),
        evidence: vec![
            Evidence::of("busiest thread working", *most, U::Share, SERIAL),
            Evidence::up_to("all others working (at most)", others.max(0.0), U::Threads, SERIAL_OTHERS),
        ],
        confidence: Confidence::Medium,
        place: place.or_else(|| Some(Place { frames: Vec::new(), axis: context.axis(), threads: vec![tid] })),
        culprits: Vec::new(),
        refuted_by: "more load makes the other threads busier, but not this one",
        next_step: format!(
            "Profile it alone (--thread {tid}): make its work cheaper, or move part of it to other threads."
        ),
    }))
}
