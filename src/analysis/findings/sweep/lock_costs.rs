//! What locks cost at a width: on a CPU, blocked, and in the queue for a CPU.

use super::context::WidthContext;
use super::limits;
use crate::analysis::cpu_users::own_part;
use crate::analysis::findings::code_path::CodeClass;
use crate::analysis::findings::paths::WaitReason;
use crate::analysis::sweep::{Point, Run, SliceKind};
use crate::analysis::{Cause, CpuUser};
use crate::model::{MetricId, Region};

/// Shares of the lost cores.
#[derive(Clone, Copy)]
pub(super) struct LockCosts {
    pub blocked: f64,
    /// Blocked for a cause that was not seen, while a lock is contended and threads block more often.
    pub unseen: f64,
    pub running: f64,
    /// Runnable without a CPU, to wait for the lock on it.
    pub queued: f64,
}

impl LockCosts {
    pub fn whole(self) -> f64 {
        (self.blocked + self.unseen + self.running + self.queued).min(1.0)
    }
}

/// What locks cost at a width, apart from the queue for a CPU.
pub(super) fn costs(context: &WidthContext<'_>) -> LockCosts {
    let grew = context.waits().is_ok() && context.blocked_per_op(Cause::Lock).is_ok_and(|change| change.grew());
    let longer = |reason| grew && context.waits().is_ok_and(|waits| waits.get(reason).grew());
    let blocked = if longer(WaitReason::Lock) { context.wait_share(WaitReason::Lock) } else { 0.0 };
    // A slowdown of all code also affects uncontended locks.
    let contended = context.locks_contended();
    let real = blocked >= limits::FACTOR || contended || context.stands_out(CodeClass::Lock);
    let on_cpu = || context.code_share(CodeClass::Lock) + context.code_share(CodeClass::Section);
    let running = if real { on_cpu() } else { 0.0 };
    let unseen = if contended { unseen(context, grew) } else { 0.0 };
    LockCosts { blocked, unseen, running, queued: 0.0 }
}

/// The share of the lost cores in which workers were blocked, and it was not seen in what. Only stacks tell a lock from a signal:
/// waits without any are for the lock if nothing else is known to be waited for, and those of unknown cause if workers block
/// more often.
fn unseen(context: &WidthContext<'_>, longer: bool) -> f64 {
    let signals = || context.waits().is_ok_and(|waits| waits.leading_path(WaitReason::Signal).is_some());
    let nameless = if longer && !signals() { context.wait_share(WaitReason::Signal) } else { 0.0 };
    let switches = context.per_op(MetricId::VoluntarySwitches);
    let often = switches.is_ok_and(|change| change.grew_by_factor(limits::SWITCHES) && change.grew());
    let unknown = context.share(&[SliceKind::Unseen, SliceKind::Blocked(Cause::Unknown)]);
    context.left_idle(nameless + if often { unknown } else { 0.0 })
}

/// The share of the lost cores in which workers were runnable without a CPU, and more CPUs would not help: as much of this
/// time as of all other would go to a contended lock, or more where the last CPUs that were added helped less.
pub(super) fn queued_for_locks(context: &WidthContext<'_>) -> f64 {
    let costs = costs(context);
    let (queued, lost) = (context.share(&[SliceKind::RunQueue]), context.lost());
    if costs.whole() < limits::FACTOR * (1.0 - queued) || context.here.region != Region::Oversubscribed {
        return 0.0;
    }
    let (useful, locked) = (context.stack.useful.max(0.0), costs.whole() * lost);
    let helps = useful / (useful + locked).max(f64::MIN_POSITIVE);
    queued
        * own_part(&culprits(&context.here.runs)).unwrap_or(1.0)
        * (1.0 - helps.min(gained_by_a_cpu(context).unwrap_or(1.0)))
}

/// How much faster the program became with each of the CPUs that were added last; `None` if no width shows that.
fn gained_by_a_cpu(context: &WidthContext<'_>) -> Option<f64> {
    let with_cpus = context.points.iter().filter(|point| point.region != Region::Oversubscribed);
    let speedup = |point: &Point| Some((f64::from(point.n), point.numbers.speedup.value()?.mean));
    let mut widest = with_cpus.rev().filter_map(speedup);
    let ((n, here), (fewer, before)) = (widest.next()?, widest.next()?);
    (n > fewer).then(|| ((here - before) / (n - fewer)).clamp(0.0, 1.0))
}

/// The users of the CPUs in all runs at a width, by their mean share. One that a run lacks had none of its CPUs.
pub(super) fn culprits(runs: &[Run]) -> Vec<CpuUser> {
    let mut all: Vec<CpuUser> = Vec::new();
    for user in runs.iter().flat_map(|run| &run.cpu_users) {
        let share = user.share / runs.len() as f64;
        match all.iter_mut().find(|known| (known.kind, &known.name) == (user.kind, &user.name)) {
            Some(known) => {
                known.share += share;
                known.pid = known.pid.filter(|pid| user.pid == Some(*pid));
                known.cgroup.take_if(|group| user.cgroup.as_ref() != Some(group));
            }
            None => all.push(CpuUser { share, ..user.clone() }),
        }
    }
    all.sort_by(|a, b| b.share.total_cmp(&a.share));
    all
}
