//! Slower instructions, as far as no other rule explains them.

use super::context::WidthContext;
use super::places::{grown_function_place, grown_functions};
use super::slower::{evidence, slower};
use super::{Confidence, CostKind, Finding, Rule, limits};
use crate::analysis::sweep::SliceKind;
use crate::analysis::text::{digits, percent};
use crate::model::Why;

pub(super) const RULE: Rule =
    Rule { id: "cpi-growth", title: "slower instructions", kind: CostKind::Rest, explains: &[], evaluate };

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    if !context.cpu_grew()? {
        return Ok(None);
    }
    let cpi = context.number(|numbers| numbers.cpi)?;
    let share = context.share(&[SliceKind::Cpi]).min(context.unexplained());
    let Some(slower) = slower(context)?.filter(|_| share >= limits::FACTOR) else { return Ok(None) };
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "slower instructions take {} of the lost cores: {} cycles each, {} at n={}{}; only more counters can \
             separate shared lines, bandwidth, cache, other nodes and page walks.",
            percent(share),
            digits(cpi.here.value),
            digits(cpi.base.value),
            context.base.n,
            grown_functions(context)
        ),
        evidence: evidence(share, &slower),
        confidence: Confidence::Medium,
        place: grown_function_place(context),
        culprits: Vec::new(),
        refuted_by: "cycles per instruction stay the same at every width",
        next_step: "Count more events at both widths: last-level misses, lines modified by other cores (`perf c2c`), \
             reads from other nodes, page walks."
            .to_string(),
    }))
}
