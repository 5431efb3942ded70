//! One function with a large part of the CPU time: not wrong, but the place to begin.
//! It never names a function of the kernel: those belong to the call that led there.

use super::stacks::At;
use super::words::{name, percent};
use super::{Confidence, Evidence, Finding, Kind, Rule, Sight, limits};
use crate::analysis::MetricUnit as U;
use crate::analysis::names::CodeKind;
use crate::model::Why;

pub(super) const RULE: Rule = Rule { id: "hot-function", title: "one hot function", kind: Kind::Hint, judge };

fn judge(sight: &Sight<'_>) -> Result<Option<Finding>, Why> {
    let stacks = sight.samples()?;
    // `[unresolved]`, `[unknown]` are many functions.
    let mut named =
        sight.functions.rows.iter().filter(|row| row.kind != CodeKind::Kernel && !row.name.starts_with('['));
    let Some(hottest) = named.next() else { return Ok(None) };
    let share = sight.functions.share(hottest.self_weight);
    if share < limits::HOT {
        return Ok(None);
    }
    let part = stacks.part(At::Leaf, |function| function.name == hottest.name && function.module == hottest.module);
    let error = sight.functions.error(share).unwrap_or(0.0);
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the CPU time is spent in {} itself, without what it calls.",
            percent(share),
            name(&hottest.name)
        ),
        evidence: vec![
            Evidence::of("in its own code", share, U::Share, limits::HOT),
            Evidence::plain("standard error", error, U::Share),
        ],
        confidence: Confidence::High,
        place: part.place,
        refuted_by: "the same share in a run that is fast enough",
        next_step: "Begin here: see its lines and callers, and whether it is called too often.".to_string(),
    }))
}
