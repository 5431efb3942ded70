//! One function with a large share of the CPU time: not a fault, but the place to begin. Kernel functions are excluded:
//! their time belongs to the call that led there.

use super::code_path::CodeClass;
use super::{Confidence, Evidence, Finding, RemainderRule, RuleContext};
use crate::analysis::names::{CodeKind, Function};
use crate::analysis::text::{name, percent};
use crate::model::{Unit as U, Why};

pub(super) const RULE: RemainderRule = RemainderRule { id: "hot-function", title: "one hot function", evaluate };

/// Share of samples in one function's own code. [P]
const HOT: f64 = 0.3;

fn evaluate(context: &RuleContext<'_>, explained: &[CodeClass]) -> Result<Option<Finding>, Why> {
    let stacks = context.samples()?;
    // `[unresolved]` and `[unknown]` stand for many functions.
    let mut named =
        context.functions.rows.iter().filter(|row| row.kind != CodeKind::Kernel && !row.name.starts_with('['));
    // At most three functions can have a third of the time each.
    let mut parts = named.by_ref().take(3).map(|row| {
        let same = |leaf: &Function| leaf.name == row.name && leaf.module == row.module;
        (row, stacks.part_at_leaf_of(same, |kind| !explained.contains(&kind.class)))
    });
    let Some((hottest, part)) = parts.find(|(_, part)| part.share >= HOT) else { return Ok(None) };
    let share = part.share;
    let error = context.functions.error(share).unwrap_or(0.0);
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the CPU time is spent in {} itself, callees excluded.",
            percent(share),
            name(&hottest.name)
        ),
        evidence: vec![
            Evidence::of("in its own code", share, U::Share, HOT),
            Evidence::plain("standard error", error, U::Share),
        ],
        confidence: Confidence::High,
        place: part.place(),
        culprits: Vec::new(),
        refuted_by: "the same share in a run that is fast enough",
        next_step: "Start here: look at its lines and callers, and check whether it is called too often.".to_string(),
    }))
}
