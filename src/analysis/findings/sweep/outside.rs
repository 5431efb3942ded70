//! Workers that wait for something outside the program: events, sockets, pipes, or time to pass. That may be no fault
//! of the program: the load generator may be what does not scale.

use super::places::blocked_place;
use super::{Confidence, CostKind, Evidence, Finding, Rule, WidthContext, limits};
use crate::analysis::Cause;
use crate::analysis::findings::paths::WaitReason;
use crate::analysis::sweep::SliceKind;
use crate::analysis::text::{name, percent};
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "waits-outside", title: "waiting for others", kind: CostKind::Idle, explains: &[], evaluate };

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
    let at =
        leading_path.map_or(String::new(), |leading_path| format!(", most of it in {}", name(&leading_path.function)));
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
            Evidence::plain("by the leading cause", context.blocked(most), U::Share),
        ],
        confidence: Confidence::Medium,
        place: leading_path.map(blocked_place),
        refuted_by: "the load generator and the peers have CPUs and requests to spare at this width",
        next_step:
            "Profile who offers the load, or who answers, at this width; give it its own CPUs and more connections."
                .to_string(),
    }))
}
