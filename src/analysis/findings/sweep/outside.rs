//! Workers that wait for something outside the program: events, sockets, pipes, or time to pass. That may be no fault
//! of the program: the load generator may be what does not scale.

use super::places::blocked_place;
use super::{Confidence, Evidence, Finding, Kind, Rule, Step, limits};
use crate::analysis::Cause;
use crate::analysis::findings::paths::Wait;
use crate::analysis::sweep::SliceKind;
use crate::analysis::text::{name, percent};
use crate::model::Unit as U;
use crate::model::Why;

pub(super) const RULE: Rule =
    Rule { id: "waits-outside", title: "waiting for others", kind: Kind::Idle, explains: &[], judge };

const CAUSES: [Cause; 5] = [Cause::Network, Cause::Events, Cause::Pipe, Cause::Sleep, Cause::Other];

fn judge(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    let waits = match step.waits() {
        Err(_) if step.share(&[SliceKind::Unseen]) < limits::FACTOR => return Ok(None),
        waits => waits?,
    };
    let share = step.left_idle(step.share(&CAUSES.map(SliceKind::Blocked)));
    let most = CAUSES.into_iter().max_by(|a, b| step.blocked(*a).total_cmp(&step.blocked(*b)));
    let Some(most) = most.filter(|_| share >= limits::FACTOR) else { return Ok(None) };
    if !step.blocked_per_op(most)?.shown()? {
        return Ok(None);
    }
    let lead = waits.lead(Wait::Else);
    let at = lead.map_or(String::new(), |lead| format!(", most of it in {}", name(&lead.function)));
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores wait for others ({}){at}: they would do more if more were asked of them, or \
             answered sooner.",
            percent(share),
            most.label()
        ),
        evidence: vec![
            Evidence::of("of the lost cores", share, U::Share, limits::FACTOR),
            Evidence::plain("by the leading cause", step.blocked(most), U::Share),
        ],
        confidence: Confidence::Medium,
        place: lead.map(blocked_place),
        refuted_by: "the load generator and the peers have CPUs and requests to spare at this width",
        next_step:
            "Profile who offers the load, or who answers, at this width; give it its own CPUs and more connections."
                .to_string(),
    }))
}
