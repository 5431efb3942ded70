//! More instructions for the same operation: retries, scans over threads, polling. This needs an instruction count:
//! time does not distinguish work from waiting for memory.

use super::places::{grower_place, growers};
use super::step::Step;
use super::{Confidence, Evidence, Finding, Kind, Rule, limits};
use crate::analysis::sweep::SliceKind;
use crate::analysis::text::{digits, percent};
use crate::model::Unit as U;
use crate::model::Why;

pub(super) const RULE: Rule =
    Rule { id: "more-work", title: "more work per operation", kind: Kind::Rest, explains: &[], judge };

fn judge(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    if !step.cpu_grew()? {
        return Ok(None);
    }
    let path = step.number(|numbers| numbers.path_length)?;
    let share = step.share(&[SliceKind::MoreWork]).min(step.unexplained());
    if share < limits::FACTOR || !path.by(limits::PATH) || !path.shown()? {
        return Ok(None);
    }
    let mut evidence = vec![Evidence::of("of the lost cores", share, U::Share, limits::FACTOR)];
    evidence.extend(
        path.ratio().map(|ratio| Evidence::of("instructions per operation, growth", ratio, U::Ratio, limits::PATH)),
    );
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores do more work: {} instructions per operation, {} at n={}{}.",
            percent(share),
            digits(path.here.value),
            digits(path.base.value),
            step.base.n,
            growers(step)
        ),
        evidence,
        confidence: Confidence::High,
        place: grower_place(step),
        refuted_by: "instructions per operation stay as they are with n",
        next_step: "See in these functions what grows with the number of threads: retries, lists of threads, polling."
            .to_string(),
    }))
}
