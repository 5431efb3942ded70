//! Locks that sleep: workers blocked longer per operation because others hold what they need.
//! It never takes a wait for a signal for one: threads without work sleep in the same system call.

use super::paths::Wait;
use super::places::blocked_place;
use super::step::Step;
use super::words::{name, percent, seconds};
use super::{Confidence, Evidence, Finding, Kind, Rule, limits};
use crate::analysis::scaling::SliceKind;
use crate::analysis::{Cause, MetricUnit as U};
use crate::model::Why;

pub(super) const RULE: Rule = Rule { id: "lock-wait", title: "waiting for locks", kind: Kind::Wait, judge };

fn judge(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    let waits = match step.waits() {
        Err(_) if step.share(&[SliceKind::Unseen]) + step.blocked(Cause::Lock) < limits::FACTOR => return Ok(None),
        waits => waits?,
    };
    let (share, held) = (step.wait_share(Wait::Held), waits.get(Wait::Held));
    let blocked = step.blocked_per_op(Cause::Lock)?;
    if share < limits::FACTOR || !held.grew() || !blocked.grew() {
        return Ok(None);
    }
    let of_time = share * step.lost() / f64::from(step.here.n);
    let switches = step.per_op("voluntary_switches").ok();
    let more = switches.is_none_or(|change| change.by(limits::SWITCHES));
    let mut evidence = vec![
        Evidence::of("of the lost cores", share, U::Share, limits::FACTOR),
        Evidence::of("of the workers' time", of_time, U::Share, limits::LOCKED),
        Evidence::plain("blocked by locks, per operation", blocked.here.value, U::Seconds),
        Evidence::plain("the same at the base", blocked.base.value, U::Seconds),
    ];
    if let Some(change) = switches {
        evidence.push(Evidence::plain("switches, blocked, per operation", change.here.value, U::Count));
        evidence.extend(change.ratio().map(|ratio| Evidence::of("growth of these", ratio, U::Ratio, limits::SWITCHES)));
    }
    let lead = waits.lead(Wait::Held);
    let at = lead.map_or(String::new(), |lead| format!(", most of it in {}", name(&lead.function)));
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores wait for locks that others hold{at}; each operation is blocked {} by locks, {} at n={}.",
            percent(share),
            seconds(blocked.here.value),
            seconds(blocked.base.value),
            step.base.n
        ),
        evidence,
        confidence: match (of_time >= limits::LOCKED, more) {
            (true, true) => Confidence::High,
            (false, false) => Confidence::Low,
            _ => Confidence::Medium,
        },
        place: lead.map(blocked_place),
        refuted_by: "switches per operation stay flat, or the blocked stacks wait for work or storage",
        next_step: "See in the off-CPU flame graph of this width which lock it is and what is done while it is held; \
                    hold it for less time, or split it."
            .to_string(),
    }))
}
