//! A clock that slows down as more cores work. It is not inferred from time alone, nor from cycles alone in a virtual
//! machine, whose CPUs stop at times.

use super::context::WidthContext;
use super::values::Change;
use super::{Confidence, CostKind, Evidence, Finding, Rule, limits, lost_cores};
use crate::analysis::sweep::SliceKind;
use crate::analysis::text::{digits, percent};
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "frequency", title: "lower clock frequency", kind: CostKind::Clock, explains: &[], evaluate };

/// Growth of the time per cycle. [P]
const FREQUENCY: f64 = 1.05;

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    if !context.cpu_grew()? {
        return Ok(None);
    }
    let clock = context.number(|numbers| numbers.frequency)?;
    let part = context.clock()?;
    let slower = Change { base: clock.here, here: clock.base };
    // Stolen time may be counted as CPU time without cycles.
    let share = (context.share(&[SliceKind::Frequency]) * part - context.explained.clock).max(0.0);
    let ratio = slower.ratio().unwrap_or(1.0);
    if share < limits::FACTOR || ratio < FREQUENCY || !slower.grew() {
        return Ok(None);
    }
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: claim(&clock, part, share),
        evidence: vec![
            lost_cores(share),
            Evidence::of("time per cycle, growth", ratio, U::Ratio, FREQUENCY),
            Evidence::plain("frequency", clock.here.value, U::Hertz),
        ],
        confidence: Confidence::High,
        place: None,
        culprits: Vec::new(),
        refuted_by: "cycles per cycle of a constant clock (ref-cycles) stay the same: then the virtual CPU did \
                     not run",
        next_step: "Repeat the sweep with a fixed clock (turbo off) to see what the program itself loses; check the \
             power limit and heavy vector code."
            .to_string(),
    }))
}

/// Cycles per second of CPU time also fall where the virtual CPU stops: only `part` of the fall is the clock's.
fn claim(cycles: &Change, part: f64, share: f64) -> String {
    let (base, here) = (digits(cycles.base.value * 1e-9), digits(cycles.here.value * 1e-9));
    let share = percent(share);
    if part >= 1.0 {
        return format!("the clock falls from {base} to {here} GHz: {share} of the lost cores.");
    }
    let part = percent(part);
    format!(
        "cycles per CPU second fall from {base} to {here} billion, {part} of that due to the clock: {share} \
         of the lost cores."
    )
}
