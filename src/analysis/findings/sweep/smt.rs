//! Threads that share a core with a sibling: each gets part of it, and both together little more than one alone. Only
//! widths with siblings count, and only as much slowdown as sharing a core can explain.

use super::hot::hot;
use super::step::Step;
use super::{Confidence, Evidence, Finding, Kind, Rule, limits};
use crate::analysis::sweep::{Point, SliceKind};
use crate::analysis::text::{digits, percent};
use crate::model::Unit as U;
use crate::model::{Measure, Region, Why};

pub(super) const RULE: Rule =
    Rule { id: "smt-sharing", title: "core shared with a sibling thread", kind: Kind::Cpu, explains: &[], judge };

fn judge(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    if step.here.region != Region::Smt || !step.cpu_grew()? {
        return Ok(None);
    }
    let share = step.share(&[SliceKind::Smt]);
    if share >= limits::FACTOR {
        return Ok(Some(finding(step, share, Confidence::Medium, None)));
    }
    if step.number(|numbers| numbers.cpi).is_err() {
        return by_kink(step);
    }
    // The cost of siblings is measured against the same cores without them.
    let measured = step.stack.slices.iter().any(|slice| slice.kind == SliceKind::Smt);
    if measured { Ok(None) } else { Err(Why::NotRecorded) }
}

/// Without counters: CPU time per operation that rises where siblings join, in all code alike.
fn by_kink(step: &Step<'_>) -> Result<Option<Finding>, Why> {
    let Some(before) = step.before_siblings() else { return Ok(None) };
    let cost = |point: &Point| match point.numbers.cpu_ns_per_op {
        Measure::Known { value, .. } => Ok(value.mean),
        Measure::Missing(why) => Err(why),
    };
    let (base, whole, here) = (cost(step.base)?, cost(before)?, cost(step.here)?);
    let kink = if whole > 0.0 { here / whole } else { 0.0 };
    let one_function = hot(step).is_ok_and(|hot| hot.is_some_and(|hot| hot.stands_out()));
    if kink < limits::KINK || one_function || here <= base {
        return Ok(None);
    }
    let explained = (here.min(whole * limits::SIBLINGS) - whole) / (here - base);
    let share = step.left().min(step.work() * explained);
    let found = || finding(step, share, Confidence::Low, Some((kink, before.n)));
    Ok((share >= limits::FACTOR).then(found))
}

fn finding(step: &Step<'_>, share: f64, confidence: Confidence, kink: Option<(f64, u32)>) -> Finding {
    let mut evidence = vec![Evidence::of("of the lost cores", share, U::Share, limits::FACTOR)];
    evidence.extend(
        kink.map(|(kink, _)| Evidence::of("CPU time per operation where siblings join", kink, U::Ratio, limits::KINK)),
    );
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
        claim: format!("{} of the lost cores are siblings that share {} cores: {how}.", percent(share), cores(step)),
        evidence,
        confidence,
        place: None,
        refuted_by: "the same number of threads on as many cores of their own loses as much",
        next_step: "Count cores, not threads, as the machine's capacity; beyond the cores a \
                    sweep shows the machine, not the program."
            .to_string(),
    }
}

fn cores(step: &Step<'_>) -> String {
    step.before_siblings().map_or_else(|| "their".to_string(), |point| point.n.to_string())
}
