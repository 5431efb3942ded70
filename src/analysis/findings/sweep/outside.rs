//! Workers that wait for something outside the program: events, sockets, pipes, or time to pass. That may be no fault
//! of the program: the load generator may be what does not scale.

use super::places::{blocked_place, mostly_in};
use super::{Confidence, CostKind, Evidence, Finding, Rule, WidthContext, limits, lost_cores};
use crate::analysis::Cause;
use crate::analysis::findings::paths::WaitReason;
use crate::analysis::sweep::SliceKind;
use crate::analysis::text::percent;
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "waits-outside", title: "waiting for something outside", kind: CostKind::Idle, explains: &[], evaluate };

const CAUSES: [Cause; 5] = [Cause::Network, Cause::Events, Cause::Pipe, Cause::Sleep, Cause::Other];

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let waits = match context.waits() {
        Err(_) if context.share(&[SliceKind::Unseen]) < limits::FACTOR => return Ok(None),
        waits => waits?,
    };
    let share = context.left_idle(context.share(&CAUSES.map(SliceKind::Blocked)));
    let most = CAUSES.into_iter().max_by(|a, b| context.blocked(*a).total_cmp(&context.blocked(*b)));
    let Some(most) = most.filter(|_| share >= limits::FACTOR) else { return Ok(None) };
    if !context.blocked_per_op(most)?.grew_beyond_scatter()? {
        return Ok(None);
    }
    let leading_path = waits.leading_path(WaitReason::Other);
    let at = mostly_in(leading_path);
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores wait for something outside the program ({}){at}: more load or faster answers \
             would use them.",
            percent(share),
            most.label()
        ),
        evidence: vec![lost_cores(share), Evidence::plain("by the leading cause", context.blocked(most), U::Share)],
        confidence: Confidence::Medium,
        place: leading_path.map(blocked_place),
        culprits: Vec::new(),
        refuted_by: "the load generator and the peers have spare CPUs and requests at this width",
        next_step: "Profile the load generator or the peer at this width; give it its own CPUs and more connections."
            .to_string(),
    }))
}
