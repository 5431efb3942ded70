//! More instructions for the same operation: retries, scans over threads, polling. This needs an instruction count:
//! time does not distinguish work from waiting for memory.

use super::context::WidthContext;
use super::places::{grown_function_place, grown_functions};
use super::{Confidence, CostKind, Evidence, Finding, Rule, limits, lost_cores};
use crate::analysis::sweep::SliceKind;
use crate::analysis::text::{digits, percent};
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "more-work", title: "more work per operation", kind: CostKind::Rest, explains: &[], evaluate };

/// Growth of instructions per operation that means more work. [P]
const PATH: f64 = 1.05;

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    if !context.cpu_grew()? {
        return Ok(None);
    }
    let path = context.number(|numbers| numbers.path_length)?;
    let share = context.share(&[SliceKind::MoreWork]).min(context.unexplained());
    if share < limits::FACTOR || !path.grew_by_factor(PATH) || !path.grew_beyond_scatter()? {
        return Ok(None);
    }
    let mut evidence = vec![lost_cores(share)];
    evidence
        .extend(path.ratio().map(|ratio| Evidence::of("instructions per operation, growth", ratio, U::Ratio, PATH)));
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores do more work: {} instructions per operation, {} at n={}{}.",
            percent(share),
            digits(path.here.value),
            digits(path.base.value),
            context.base.n,
            grown_functions(context)
        ),
        evidence,
        confidence: Confidence::High,
        place: grown_function_place(context),
        culprits: Vec::new(),
        refuted_by: "instructions per operation stay the same at every width",
        next_step: "Look in these functions for work that grows with the number of threads: retries, lists of \
                    threads, polling."
            .to_string(),
    }))
}
