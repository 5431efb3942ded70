//! A part of the work that one thread does while all others wait: Amdahl's serial section. It differs from uneven load
//! in that it costs the same fraction at every width.

use super::imbalance::{busiest, evidence};
use super::places::blocked_place;
use super::{Confidence, CostKind, Evidence, Finding, Rule, WidthContext};
use crate::analysis::findings::code_path::CodeClass;
use crate::analysis::findings::paths::WaitReason;
use crate::analysis::text::{digits, name, percent};
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "serial-section",
    title: "serial section",
    kind: CostKind::Idle,
    explains: &[CodeClass::Signal],
    evaluate,
};

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let Some(busiest) = busiest(context)?.filter(|busiest| busiest.constant == Some(true)) else { return Ok(None) };
    let Some(fraction) = busiest.fraction else { return Ok(None) };
    let mut evidence = evidence(&busiest);
    evidence.push(Evidence::plain("serial fraction (Karp-Flatt)", fraction, U::Share));
    let law = context.fits.iter().find(|fit| fit.region == context.here.region).and_then(|fit| fit.law.ok());
    evidence.extend(law.map(|law| Evidence::plain("contention by the scalability law", law.alpha.value, U::Share)));
    let leading_path = context.waits().ok().and_then(|waits| waits.leading_path(WaitReason::Signal));
    let at = leading_path
        .map_or(String::new(), |leading_path| format!(", the others wait in {}", name(&leading_path.function)));
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(busiest.share),
        claim: format!(
            "{} of the lost cores are idle workers while one thread works {} of the time{at}; {} of the work is \
             serial at every width, which limits the speedup to {}.",
            percent(busiest.share),
            percent(busiest.at_work),
            percent(fraction),
            digits(1.0 / fraction)
        ),
        evidence,
        confidence: Confidence::High,
        place: leading_path.map(blocked_place),
        culprits: Vec::new(),
        refuted_by: "the serial fraction of Karp and Flatt rises or falls with n",
        next_step: format!(
            "Profile the busiest thread alone in the run at n={} (`ironlaw report --thread`): make its work \
             cheaper, or distribute it.",
            context.here.n
        ),
    }))
}
