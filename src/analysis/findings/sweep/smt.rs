//! Threads that share a core with a sibling: each gets part of it, and both together little more than one alone. Only
//! widths with siblings count, and only as much slowdown as sharing a core can explain.

use super::context::WidthContext;
use super::hot_function::hot_function;
use super::{Confidence, CostKind, Evidence, Finding, Rule, limits, lost_cores};
use crate::analysis::sweep::{Point, SliceKind};
use crate::analysis::text::{digits, percent};
use crate::model::{Measure, Region, Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "smt-sharing",
    title: "core shared with a sibling thread",
    kind: CostKind::Cpu,
    explains: &[],
    evaluate,
};

/// Growth of CPU cost per operation where siblings join, from which it is a kink. [P]
const KINK: f64 = 1.1;

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    if context.here.region != Region::Smt || !context.cpu_grew()? {
        return Ok(None);
    }
    let share = context.share(&[SliceKind::Smt]);
    if share >= limits::FACTOR {
        return Ok(Some(finding(context, share, Confidence::Medium, None)));
    }
    if context.number(|numbers| numbers.cpi).is_err() {
        return by_kink(context);
    }
    // The cost of siblings is measured against the same cores without them.
    let measured = context.stack.slices.iter().any(|slice| slice.kind == SliceKind::Smt);
    if measured { Ok(None) } else { Err(Why::NotRecorded) }
}

/// Without counters: CPU time per operation that rises where siblings join, in all code alike.
fn by_kink(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let Some(before) = context.before_siblings() else { return Ok(None) };
    let cost = |point: &Point| match point.numbers.cpu_ns_per_op {
        Measure::Known { value, .. } => Ok(value.mean),
        Measure::Missing(why) => Err(why),
    };
    let (base, whole, here) = (cost(context.base)?, cost(before)?, cost(context.here)?);
    let kink = if whole > 0.0 { here / whole } else { 0.0 };
    let one_function = hot_function(context)
        .is_ok_and(|hot_function| hot_function.is_some_and(|hot_function| hot_function.stands_out()));
    if kink < KINK || one_function || here <= base {
        return Ok(None);
    }
    let explained = (here.min(whole * limits::SIBLINGS) - whole) / (here - base);
    let share = context.left().min(context.work() * explained);
    let found = || finding(context, share, Confidence::Low, Some((kink, before.n)));
    Ok((share >= limits::FACTOR).then(found))
}

fn finding(context: &WidthContext<'_>, share: f64, confidence: Confidence, kink: Option<(f64, u32)>) -> Finding {
    let mut evidence = vec![lost_cores(share)];
    evidence
        .extend(kink.map(|(kink, _)| Evidence::of("CPU time per operation where siblings join", kink, U::Ratio, KINK)));
    let how = match kink {
        Some((kink, n)) => {
            format!(
                "an operation takes {} times the CPU time it took at n={n}, before siblings joined; without hardware \
                 counters other shortages that begin there look the same",
                digits(kink)
            )
        }
        None => "since siblings joined each instruction takes more cycles".to_string(),
    };
    Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the lost cores are sibling threads that share {} cores: {how}.",
            percent(share),
            cores(context)
        ),
        evidence,
        confidence,
        place: None,
        culprits: Vec::new(),
        refuted_by: "the same number of threads, each on a separate core, loses as much",
        next_step: "Count cores, not threads, as the machine's capacity; beyond the cores a \
                    sweep shows the machine, not the program."
            .to_string(),
    }
}

fn cores(context: &WidthContext<'_>) -> String {
    context.before_siblings().map_or_else(|| "their".to_string(), |point| point.n.to_string())
}
