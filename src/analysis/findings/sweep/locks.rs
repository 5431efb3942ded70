//! Locks: workers are blocked longer per operation because others hold what they need, and everything a contended lock costs
//! on the CPU: spinning, system calls, waking waiters, and the section under it. Waits for a signal do not count: idle threads
//! sleep in the same system call.

use super::context::WidthContext;
use super::growth::LeadingPath;
use super::lock_costs::{LockCosts, costs, queued_for_locks};
use super::places::{blocked_place, cpu_place};
use super::{Confidence, CostKind, Evidence, Finding, Rule, limits, lost_cores};
use crate::analysis::Cause;
use crate::analysis::TRUNCATED;
use crate::analysis::findings::code_path::CodeClass;
use crate::analysis::findings::paths::WaitReason;
use crate::analysis::sweep::SliceKind;
use crate::analysis::text::{name, percent, seconds};
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "lock-wait",
    title: "waiting for locks",
    kind: CostKind::Wait,
    explains: &[CodeClass::Lock, CodeClass::Section],
    evaluate,
};

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let costs = LockCosts { queued: queued_for_locks(context), ..costs(context) };
    if costs.whole() >= limits::FACTOR {
        return Ok(Some(finding(context, costs)));
    }
    match context.waits() {
        Err(why) if context.share(&[SliceKind::Unseen]) + context.blocked(Cause::Lock) >= limits::FACTOR => Err(why),
        _ => {
            // Both of its costs may have grown within the scatter of the runs.
            if context.blocked(Cause::Lock) >= limits::FACTOR {
                context.blocked_per_op(Cause::Lock)?.grew_beyond_scatter()?;
            }
            context.cpu_grew()?;
            Ok(None)
        }
    }
}

fn finding(context: &WidthContext<'_>, costs: LockCosts) -> Finding {
    let share = costs.whole();
    let of_time = share * context.lost() / f64::from(context.here.n);
    let switches = context.per_op(MetricId::VoluntarySwitches).ok();
    let mut evidence = vec![
        lost_cores(share),
        Evidence::of("of the workers' time", of_time, U::Share, limits::LOCKED),
        Evidence::plain("blocked", costs.blocked, U::Share),
        Evidence::plain("on a CPU: spinning, system calls, wake-ups", costs.running, U::Share),
    ];
    if costs.unseen > 0.0 {
        evidence.push(Evidence::plain("blocked, cause not seen", costs.unseen, U::Share));
    }
    if costs.queued > 0.0 {
        evidence.push(Evidence::plain("runnable, where a CPU would not help", costs.queued, U::Share));
    }
    let blocked = context.waits().and_then(|_| context.blocked_per_op(Cause::Lock)).ok();
    if let Some(change) = blocked {
        evidence.push(Evidence::plain("blocked by locks, per operation", change.here.value, U::Seconds));
        evidence.push(Evidence::plain("the same at the base", change.base.value, U::Seconds));
    }
    if let Some(change) = switches {
        evidence.push(Evidence::plain("switches, blocked, per operation", change.here.value, U::Count));
        evidence.extend(Evidence::growth("switches per operation, growth", change.ratio(), limits::SWITCHES));
    }
    let more = switches.is_none_or(|change| change.grew_by_factor(limits::SWITCHES));
    let sure = match (of_time >= limits::LOCKED, more) {
        (true, true) => Confidence::High,
        (false, false) => Confidence::Low,
        _ => Confidence::Medium,
    };
    let (leading_path, place) = leading_path(context, costs);
    let length = match blocked {
        None => "; blocked time was not recorded".to_string(),
        Some(change) if change.here.value > 0.0 => {
            let (here, base) = (seconds(change.here.value), seconds(change.base.value));
            format!("; locks block each operation for {here}, {base} at n={}", context.base.n)
        }
        Some(_) => String::new(),
    };
    let cut_off = place.as_ref().is_some_and(|place| place.frames.first().is_some_and(|frame| frame == TRUNCATED));
    let cut = if cut_off { " The stacks there are cut off: their outermost callers are missing." } else { "" };
    Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores {}{}{length}.{cut}",
            percent(share),
            what(costs),
            leading_path.map_or(String::new(), most)
        ),
        evidence,
        confidence: if blocked.is_some() && costs.unseen < costs.whole() / 2.0 {
            sure
        } else {
            sure.min(Confidence::Medium)
        },
        place,
        culprits: Vec::new(),
        refuted_by: "switches per operation stay flat, or the blocked stacks wait for work or storage",
        next_step: next_step(blocked.is_some()),
    }
}

fn what(costs: LockCosts) -> String {
    let least = 0.1 * costs.whole();
    let costs = LockCosts { blocked: costs.blocked + costs.unseen, ..costs };
    let queued = match costs.queued {
        queued if queued < least => String::new(),
        queued => format!(", {} of it runnable where another CPU would not help", percent(queued)),
    };
    if costs.running < least {
        return format!("are blocked on locks that other threads hold{queued}");
    }
    if costs.blocked < least {
        return format!("contend for locks on a CPU (spinning, system calls, wake-ups){queued}");
    }
    format!(
        "go to lock contention, {} blocked and {} on a CPU (spinning, system calls, wake-ups){queued}",
        percent(costs.blocked),
        percent(costs.running)
    )
}

/// The function that takes the lock, and the one that it calls for that.
fn most(path: &LeadingPath) -> String {
    let lock = path.callee.as_ref().map_or(String::new(), |callee| format!(", by {}", name(callee)));
    format!(", most of it in {}{lock}", name(&path.function))
}

/// The path that has most of it.
fn leading_path<'a>(
    context: &'a WidthContext<'_>,
    costs: LockCosts,
) -> (Option<&'a LeadingPath>, Option<super::Place>) {
    let blocked = context.waits().ok().and_then(|waits| waits.leading_path(WaitReason::Lock));
    let running = context.cpu().ok().and_then(|cpu| cpu.leading_path(CodeClass::Lock));
    match (blocked, running) {
        (Some(blocked), _) if costs.blocked >= costs.running => (Some(blocked), Some(blocked_place(blocked))),
        (_, running) => (running, running.map(cpu_place)),
    }
}

fn next_step(recorded: bool) -> String {
    let first_step = if recorded {
        "Find the lock and the work done under it in the off-CPU flame graph of this width"
    } else {
        "Repeat the sweep without --no-off-cpu to see how long workers wait"
    };
    format!("{first_step}; hold it for less time, take it less often, or split it.")
}
