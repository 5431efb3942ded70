//! Sleeping locks: workers are blocked longer per operation because others hold what they need, and everything such a
//! lock costs on the CPU: spinning, system calls, waking waiters. Waits for a signal do not count: idle threads sleep
//! in the same system call.

use super::growth::Lead;
use super::places::{blocked_place, cpu_place};
use super::step::Step;
use super::{Confidence, Evidence, Finding, Kind, Rule, limits};
use crate::analysis::Cause;
use crate::analysis::findings::paths::{Code, Wait};
use crate::analysis::sweep::SliceKind;
use crate::analysis::text::{name, percent, seconds};
use crate::model::Unit as U;
use crate::model::Why;

pub(super) const RULE: Rule =
    Rule { id: "lock-wait", title: "waiting for locks", kind: Kind::Wait, explains: &[Code::Lock], judge };

/// Shares of the lost cores.
#[derive(Clone, Copy)]
struct Costs {
    blocked: f64,
    running: f64,
}

impl Costs {
    fn whole(self) -> f64 {
        (self.blocked + self.running).min(1.0)
    }
}

fn judge(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    let costs = costs(step);
    if costs.whole() >= limits::FACTOR {
        return Ok(Some(finding(step, costs)));
    }
    match step.waits() {
        Err(why) if step.share(&[SliceKind::Unseen]) + step.blocked(Cause::Lock) >= limits::FACTOR => Err(why),
        _ => {
            // Both of its costs may have grown within the scatter of the runs.
            if step.blocked(Cause::Lock) >= limits::FACTOR {
                step.blocked_per_op(Cause::Lock)?.shown()?;
            }
            step.cpu_grew()?;
            Ok(None)
        }
    }
}

fn costs(step: &Step<'_>) -> Costs {
    let longer = step.waits().is_ok_and(|waits| waits.get(Wait::Held).grew());
    let grew = longer && step.blocked_per_op(Cause::Lock).is_ok_and(|change| change.grew());
    let blocked = if grew { step.wait_share(Wait::Held) } else { 0.0 };
    // A slowdown of all code also affects uncontended locks.
    let real = blocked >= limits::FACTOR || step.stands_out(Code::Lock);
    Costs { blocked, running: if real { step.code_share(Code::Lock) } else { 0.0 } }
}

fn finding(step: &Step<'_>, costs: Costs) -> Finding {
    let share = costs.whole();
    let of_time = share * step.lost() / f64::from(step.here.n);
    let switches = step.per_op("voluntary_switches").ok();
    let mut evidence = vec![
        Evidence::of("of the lost cores", share, U::Share, limits::FACTOR),
        Evidence::of("of the workers' time", of_time, U::Share, limits::LOCKED),
        Evidence::plain("blocked", costs.blocked, U::Share),
        Evidence::plain("on a CPU: spinning, system calls, wake-ups", costs.running, U::Share),
    ];
    let blocked = step.waits().and_then(|_| step.blocked_per_op(Cause::Lock)).ok();
    if let Some(change) = blocked {
        evidence.push(Evidence::plain("blocked by locks, per operation", change.here.value, U::Seconds));
        evidence.push(Evidence::plain("the same at the base", change.base.value, U::Seconds));
    }
    if let Some(change) = switches {
        evidence.push(Evidence::plain("switches, blocked, per operation", change.here.value, U::Count));
        evidence.extend(change.ratio().map(|ratio| Evidence::of("growth of these", ratio, U::Ratio, limits::SWITCHES)));
    }
    let more = switches.is_none_or(|change| change.by(limits::SWITCHES));
    let sure = match (of_time >= limits::LOCKED, more) {
        (true, true) => Confidence::High,
        (false, false) => Confidence::Low,
        _ => Confidence::Medium,
    };
    let (lead, place) = lead(step, costs);
    let length = blocked.map_or("; how long they are blocked was not recorded".to_string(), |change| {
        let (here, base) = (seconds(change.here.value), seconds(change.base.value));
        format!("; each operation is blocked {here} by locks, {base} at n={}", step.base.n)
    });
    Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores {}{}{length}.",
            percent(share),
            what(costs),
            lead.map_or(String::new(), |lead| format!(", most of it in {}", name(&lead.function)))
        ),
        evidence,
        confidence: if blocked.is_some() { sure } else { sure.min(Confidence::Medium) },
        place,
        refuted_by: "switches per operation stay flat, or the blocked stacks wait for work or storage",
        next_step: next_step(blocked.is_some()),
    }
}

fn what(costs: Costs) -> String {
    let least = 0.1 * costs.whole();
    if costs.running < least {
        return "wait for locks that others hold".to_string();
    }
    if costs.blocked < least {
        return "spin for locks that others hold, sleep and wake each other".to_string();
    }
    format!(
        "go to locks that others hold, {} blocked and {} on a CPU (spinning, system calls, wake-ups)",
        percent(costs.blocked),
        percent(costs.running)
    )
}

/// The path that has most of it.
fn lead<'a>(step: &'a Step<'_>, costs: Costs) -> (Option<&'a Lead>, Option<super::Place>) {
    let blocked = step.waits().ok().and_then(|waits| waits.lead(Wait::Held));
    let running = step.cpu().ok().and_then(|cpu| cpu.lead(Code::Lock));
    match (blocked, running) {
        (Some(blocked), _) if costs.blocked >= costs.running => (Some(blocked), Some(blocked_place(blocked))),
        (_, running) => (running, running.map(cpu_place)),
    }
}

fn next_step(recorded: bool) -> String {
    let look = if recorded {
        "See in the off-CPU flame graph of this width which lock it is and what is done while it is held"
    } else {
        "Repeat the sweep with time off the CPU recorded (--off-cpu) to see how long they wait"
    };
    format!("{look}; hold it for less time, take it less often, or split it.")
}
