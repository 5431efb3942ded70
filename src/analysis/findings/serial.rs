//! One thread that does all the work: it limits the program, however many CPUs there are. Single-threaded programs do
//! not count, nor do threads that hardly ran: nobody expects them to use more than one CPU. Where others do the same work in
//! turns, and wait for theirs, what they wait for limits the program.

use super::contention::costs;
use super::imbalance::is_shared;
use super::lone_worker::{LoneWorker, SERIAL, SERIAL_OTHERS, lone_worker};
use super::waits::mostly_below;
use super::{Confidence, Evidence, Finding, FindingKind, Place, Rule, RuleContext, Whole};
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

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let Some(LoneWorker { row, works, share, others, others_work }) = lone_worker(context)? else { return Ok(None) };
    let tid = row.task.tid;
    if is_shared(context, tid) && costs(context, context.waits().ok()).is_ok_and(|costs| costs.closed) {
        return Ok(None);
    }
    let samples = context.samples().ok();
    let hottest = samples.map(|stacks| {
        let rows = stacks.counts.rows.iter().filter(|row| row.tid == tid);
        stacks.share(rows.fold(0, |sum, row| sum.saturating_add(row.weight)))
    });
    let place = samples.and_then(|stacks| stacks.part_of_thread(tid).place());
    let at = mostly_below(place.as_ref());
    let share = hottest.unwrap_or(share).min(1.0);
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "Thread {tid} {} works {} of the time{at}; all {others} others together work {} of one thread's time.",
            name(&row.task.comm),
            percent(works),
            percent(others_work)
        ),
        evidence: vec![
            Evidence::of("busiest thread working", works, U::Share, SERIAL),
            Evidence::up_to("all others working (at most)", others_work, U::Threads, SERIAL_OTHERS),
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
