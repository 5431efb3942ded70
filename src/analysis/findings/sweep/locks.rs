//! Sleeping locks: workers are blocked longer per operation because others hold what they need, and everything such a
//! lock costs on the CPU: spinning, system calls, waking waiters. Waits for a signal do not count: idle threads sleep
//! in the same system call.

use super::context::WidthContext;
use super::growth::LeadingPath;
use super::places::{blocked_place, cpu_place};
use super::{Confidence, CostKind, Evidence, Finding, Rule, limits, lost_cores};
use crate::analysis::Cause;
use crate::analysis::findings::code_path::CodeClass;
use crate::analysis::findings::paths::WaitReason;
use crate::analysis::sweep::SliceKind;
use crate::analysis::text::{name, percent, seconds};
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "lock-wait", title: "waiting for locks", kind: CostKind::Wait, explains: &[CodeClass::Lock], evaluate };

/// Shares of the lost cores.
#[derive(Clone, Copy)]
struct AddressSpaceCosts {
    blocked: f64,
    running: f64,
}

impl AddressSpaceCosts {
    fn whole(self) -> f64 {
        (self.blocked + self.running).min(1.0)
    }
}

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let costs = costs(context);
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

fn costs(context: &WidthContext<'_>) -> AddressSpaceCosts {
    let longer = context.waits().is_ok_and(|waits| waits.get(WaitReason::Lock).grew());
    let grew = longer && context.blocked_per_op(Cause::Lock).is_ok_and(|change| change.grew());
    let blocked = if grew { context.wait_share(WaitReason::Lock) } else { 0.0 };
    // A slowdown of all code also affects uncontended locks.
    let real = blocked >= limits::FACTOR || context.stands_out(CodeClass::Lock);
    AddressSpaceCosts { blocked, running: if real { context.code_share(CodeClass::Lock) } else { 0.0 } }
}

fn finding(context: &WidthContext<'_>, costs: AddressSpaceCosts) -> Finding {
    let share = costs.whole();
    let of_time = share * context.lost() / f64::from(context.here.n);
    let switches = context.per_op(MetricId::VoluntarySwitches).ok();
    let mut evidence = vec![
        lost_cores(share),
        Evidence::of("of the workers' time", of_time, U::Share, limits::LOCKED),
        Evidence::plain("blocked", costs.blocked, U::Share),
        Evidence::plain("on a CPU: spinning, system calls, wake-ups", costs.running, U::Share),
    ];
    let blocked = context.waits().and_then(|_| context.blocked_per_op(Cause::Lock)).ok();
    if let Some(change) = blocked {
        evidence.push(Evidence::plain("blocked by locks, per operation", change.here.value, U::Seconds));
        evidence.push(Evidence::plain("the same at the base", change.base.value, U::Seconds));
    }
    if let Some(change) = switches {
        evidence.push(Evidence::plain("switches, blocked, per operation", change.here.value, U::Count));
        evidence.extend(change.ratio().map(|ratio| Evidence::of("their growth", ratio, U::Ratio, limits::SWITCHES)));
    }
    let more = switches.is_none_or(|change| change.grew_by_factor(limits::SWITCHES));
    let sure = match (of_time >= limits::LOCKED, more) {
        (true, true) => Confidence::High,
        (false, false) => Confidence::Low,
        _ => Confidence::Medium,
    };
    let (leading_path, place) = leading_path(context, costs);
    let length = blocked.map_or("; blocked time was not recorded".to_string(), |change| {
        let (here, base) = (seconds(change.here.value), seconds(change.base.value));
        format!("; locks block each operation for {here}, {base} at n={}", context.base.n)
    });
    Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores {}{}{length}.",
            percent(share),
            what(costs),
            leading_path
                .map_or(String::new(), |leading_path| format!(", most of it in {}", name(&leading_path.function)))
        ),
        evidence,
        confidence: if blocked.is_some() { sure } else { sure.min(Confidence::Medium) },
        place,
        refuted_by: "switches per operation stay flat, or the blocked stacks wait for work or storage",
        next_step: next_step(blocked.is_some()),
    }
}

fn what(costs: AddressSpaceCosts) -> String {
    let least = 0.1 * costs.whole();
    if costs.running < least {
        return "are blocked on locks that other threads hold".to_string();
    }
    if costs.blocked < least {
        return "contend for locks on a CPU (spinning, system calls, wake-ups)".to_string();
    }
    format!(
        "go to lock contention, {} blocked and {} on a CPU (spinning, system calls, wake-ups)",
        percent(costs.blocked),
        percent(costs.running)
    )
}

/// The path that has most of it.
fn leading_path<'a>(
    context: &'a WidthContext<'_>,
    costs: AddressSpaceCosts,
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
