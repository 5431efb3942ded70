//! What threads of a recording lose by waiting for each other, on a CPU, blocked, and in the queue for a CPU.

use super::code_path::{CodeClass, Families};
use super::paths::WaitReason;
use super::waits::{Sum, Waits};
use super::{RuleContext, imbalance, limits, serial};
use crate::analysis::cpu_users::{cpu_users, own_part};
use crate::analysis::parked::parked;
use crate::model::{MetricId, Why};

/// Share of a lock's CPU time in futex calls, or in loops that pause, from which threads contend for it. [P]
const TRADED: f64 = 0.1;

/// Waits for another thread's signal per second of CPU time: a thread works for 200 us or less between two. [P]
pub(super) const HAND_OVERS: f64 = 5_000.0;

/// Busy cores below which threads that wait for a signal are assumed to wait for work from outside. [P]
const HAND_OVER_BUSY: f64 = 0.2;

/// Mean number of threads up to which nearly none waits for what is outside the program. [P]
const OUTSIDE: f64 = 0.05;

/// Mean number of threads that run, wait for a CPU, or wait outside with what the others wait for, from which at nearly any moment
/// one of them gets on: where others bring the work, there are moments without any. [P]
const GETS_ON: f64 = 0.9;

/// Signals over locks from which threads wait for each other otherwise than for locks. [P]
const MORE_THAN_LOCKS: f64 = 2.0;

/// How threads waited for each other, as mean numbers of threads.
pub(super) struct ContentionCosts {
    pub locked: f64,
    pub signalled: f64,
    /// On a CPU in lock functions and below them.
    pub running: f64,
    /// Runnable without a CPU, where another one would only let them wait for a lock.
    pub queued: f64,
    /// All of these, as a share of working time plus the time waiting for signals.
    pub share: f64,
    /// Short waits for a signal per second of CPU time.
    pub rate: f64,
    /// Whether only the program's own threads end the waits for signals, however long they are.
    pub closed: bool,
    pub locks: Sum,
}

impl ContentionCosts {
    /// Whether locks cost as much as waits for signals.
    pub fn mostly_locks(&self) -> bool {
        self.locked + self.running >= self.signalled
    }
}

/// What they cost in a selection, apart from the queue for a CPU.
pub(super) fn costs(context: &RuleContext<'_>, waits: Option<&Waits<'_>>) -> Result<ContentionCosts, Why> {
    let (span, work) = (context.span()?, context.require_work()?);
    let sum = |reason| waits.map_or_else(Sum::default, |waits| waits.sum(&[reason]));
    let (locks, signals) = (sum(WaitReason::Lock), sum(WaitReason::Signal));
    let running = contended(context).unwrap_or(0.0) * work.running;
    let cpu = work.running * span;
    let rate = if cpu > 0.0 { signals.short_count as f64 / cpu } else { 0.0 };
    let fine = rate >= HAND_OVERS && work.running >= HAND_OVER_BUSY;
    let mutual = waits.map(|waits| waits.mutual(&parked(&context.threads))).unwrap_or_default();
    let closed = !fine
        && mutual.waiters > 1
        && mutual.outside <= OUTSIDE * span
        && work.running + work.runnable() + mutual.holding / span >= GETS_ON
        && mutual.signalled / span >= MORE_THAN_LOCKS * (work.locked + running)
        // One that does most of the work says more than that the others wait for it.
        && ![imbalance::RULE, serial::RULE].iter().any(|rule| rule.finds(context));
    let signalled = match (fine, closed) {
        (true, _) => signals.short_seconds / span,
        (false, true) => mutual.signalled / span,
        (false, false) => 0.0,
    };
    Ok(ContentionCosts {
        locked: work.locked,
        signalled,
        running,
        queued: 0.0,
        share: (work.locked + signalled + running) / (work.total() + signalled),
        rate,
        closed,
        locks,
    })
}

/// How much of the time in which threads are runnable without a CPU would go to contended locks on more CPUs, 0 to 1: as much as
/// of their other time. Time for which others had the CPUs counts for none.
pub(super) fn queued_for_locks(context: &RuleContext<'_>) -> Result<f64, Why> {
    let costs = costs(context, context.waits().ok())?;
    let host = context.metric(MetricId::HostBusy).unwrap_or(0.0);
    if costs.share < limits::LOCKED || host < limits::HOST_BUSY {
        return Ok(0.0);
    }
    let running = context.require_work()?.running;
    let users = cpu_users(context.profile, context.counters, (&context.who, &context.threads), context.window);
    let own = own_part(&users).unwrap_or_else(|| {
        let busy = host * context.profile.meta.host.cpus.len().max(1) as f64;
        (running / busy).min(1.0)
    });
    Ok(own * ((costs.locked + costs.running) / (running + costs.locked)).min(1.0))
}

/// The share of the CPU time in contended locks, which spend some of it in futex calls, or in loops that wait for the one who
/// has the lock. Uncontended locks cost little each, which is the price of safety.
fn contended(context: &RuleContext<'_>) -> Result<f64, Why> {
    let stacks = context.samples()?;
    let all = stacks.part_of(&[CodeClass::Lock]);
    let in_kernel = stacks.part(|kind| (kind.runs(Families::KERNEL) && kind.class == CodeClass::Lock).then_some(0));
    let spinning = stacks.part(|kind| (kind.spins && kind.class == CodeClass::Lock).then_some(0));
    let traded = in_kernel.share + spinning.share >= all.share * TRADED && all.threads() > 1;
    Ok(if traded { all.share } else { 0.0 })
}
