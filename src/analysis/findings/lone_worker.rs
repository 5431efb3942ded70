//! One thread that does all the work of several.

use super::RuleContext;
use super::imbalance::{is_shared, wanted};
use crate::analysis::ThreadRow;
use crate::analysis::parked::parked;
use crate::model::Why;

/// Mean number of other working threads up to which one thread does all the work. [P]
pub(super) const SERIAL_OTHERS: f64 = 0.2;

/// Share of its lifetime from which the one thread that does all the work is saturated. [P]
pub(super) const SERIAL: f64 = 0.95;

/// The thread that does all the work.
pub(super) struct LoneWorker<'c> {
    pub row: &'c ThreadRow,
    /// Share of its lifetime in which it had work.
    pub works: f64,
    /// The same over the work of all, 0 to 1 for threads of one lifetime.
    pub share: f64,
    /// The number of the others, and the mean number of these at work.
    pub others: usize,
    pub others_work: f64,
}

/// Whether one thread does all the work, and others none of the same work.
pub(super) fn works_alone(context: &RuleContext<'_>) -> bool {
    lone_worker(context).is_ok_and(|lone| lone.is_some_and(|lone| !is_shared(context, lone.row.task.tid)))
}

/// That thread, if one thread does all the work.
pub(super) fn lone_worker<'c>(context: &'c RuleContext<'_>) -> Result<Option<LoneWorker<'c>>, Why> {
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
    let share = if all > 0.0 { most / all } else { 0.0 };
    let others_work = others.max(0.0);
    Ok(Some(LoneWorker { row: first, works: *most, share, others: measured.len() - 1, others_work }))
}
