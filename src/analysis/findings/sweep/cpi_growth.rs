//! Slower instructions, as far as no other rule explains them.

use super::places::{grower_place, growers};
use super::slower::{evidence, slower};
use super::step::Step;
use super::{Confidence, Finding, Kind, Rule, limits};
use crate::analysis::sweep::SliceKind;
use crate::analysis::text::{digits, percent};
use crate::model::Why;

pub(super) const RULE: Rule =
    Rule { id: "cpi-growth", title: "slower instructions", kind: Kind::Rest, explains: &[], judge };

fn judge(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    if !step.cpu_grew()? {
        return Ok(None);
    }
    let cpi = step.number(|numbers| numbers.cpi)?;
    let share = step.share(&[SliceKind::Cpi]).min(step.unexplained());
    let Some(slower) = slower(step)?.filter(|_| share >= limits::FACTOR) else { return Ok(None) };
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores run slower instructions: {} cycles each, {} at n={}{}; shared lines, bandwidth, cache, \
             other nodes and page walks need further counters to be told apart.",
            percent(share),
            digits(cpi.here.value),
            digits(cpi.base.value),
            step.base.n,
            growers(step)
        ),
        evidence: evidence(share, &slower),
        confidence: Confidence::Medium,
        place: grower_place(step),
        refuted_by: "cycles per instruction stay as they are with n",
        next_step:
            "Count further events at both widths: last-level misses, modified lines of others (`perf c2c`), reads from \
                    other nodes, page walks."
                .to_string(),
    }))
}
