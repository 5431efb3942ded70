//! Unevenly distributed work: the busiest worker is saturated while others are done. Threads that are all idle do not
//! count: then the busiest does not limit them.

use super::context::WidthContext;
use super::values::{self, known};
use super::{Confidence, CostKind, Evidence, Finding, Rule, limits, lost_cores};
use crate::analysis::findings::code_path::CodeClass;
use crate::analysis::text::percent;
use crate::model::{Measure, Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "load-imbalance", title: "uneven load", kind: CostKind::Idle, explains: &[CodeClass::Signal], evaluate };

/// Largest over smallest serial fraction of Karp and Flatt up to which it is constant over the widths. A worker with
/// twice the work of others lets it fall as 1 / (n + 1), by 1.67 from two threads to four. [P]
const CONSTANT: f64 = 1.5;

/// How the busiest worker limits the others.
pub(super) struct BusiestWorker {
    /// Mean CPU time of the workers over the maximum.
    pub balance: f64,
    /// Share of the time in which the busiest worker ran or waited for a CPU.
    pub at_work: f64,
    /// The share of the lost cores that belongs to workers without work meanwhile.
    pub share: f64,
    /// Whether the serial fraction of Karp and Flatt is constant over the widths that lost: then it is one piece of
    /// work that cannot be divided. `None` if only one width lost.
    pub constant: Option<bool>,
    /// The serial fraction at the widest of them.
    pub fraction: Option<f64>,
}

/// The busiest worker, if it is saturated while others are not.
pub(super) fn busiest(context: &WidthContext<'_>) -> Result<Option<BusiestWorker>, Why> {
    if context.left_idle(context.idle()) < limits::FACTOR {
        return Ok(None);
    }
    let balance = context.change(|run| known(run.balance))?;
    let worked = context.state(|run| Ok(known(run.split.running)? + known(run.split.queued).unwrap_or(0.0)))?;
    let even = balance.here.value;
    if even <= 0.0 || even >= limits::BALANCE || balance.amount() >= 0.0 {
        return Ok(None);
    }
    // Those that hardly ran do not count.
    let parked = context.change(|run| Ok(f64::from(run.parked)))?.here.value;
    let n = f64::from(context.here.n);
    let workers = (n - parked).max(1.0);
    let at_work = (worked.here.value * n / workers / even).min(1.0);
    let cores = workers * at_work * (1.0 - even);
    let share = (cores / context.lost()).min(context.left_idle(context.idle()));
    if at_work < limits::SATURATED || share < limits::FACTOR {
        return Ok(None);
    }
    let fractions = fractions(context);
    Ok(Some(BusiestWorker {
        balance: even,
        at_work,
        // Synchronising with each other is part of it.
        share: (share + context.code_share(CodeClass::Signal)).min(1.0),
        constant: constant(&fractions),
        fraction: fractions.last().copied(),
    }))
}

/// Serial fractions of the widths that lost.
fn fractions(context: &WidthContext<'_>) -> Vec<f64> {
    let lost = context.points.iter().skip(1).filter(|point| values::lost(point));
    let known = lost.filter_map(|point| match point.numbers.karp_flatt {
        Measure::Known { value, .. } => Some(value.mean),
        Measure::Missing(_) => None,
    });
    known.collect()
}

fn constant(fractions: &[f64]) -> Option<bool> {
    let most = fractions.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let least = fractions.iter().copied().fold(f64::INFINITY, f64::min);
    (fractions.len() > 1).then_some(least > 0.0 && most <= least * CONSTANT)
}

fn evaluate(context: &WidthContext<'_>) -> Result<Option<Finding>, Why> {
    let Some(busiest) = busiest(context)?.filter(|busiest| busiest.constant != Some(true)) else { return Ok(None) };
    let unsure = if busiest.constant.is_none() { "; a serial section looks the same at one width" } else { "" };
    let mut evidence = evidence(&busiest);
    evidence.extend(busiest.fraction.map(|part| Evidence::plain("serial fraction (Karp-Flatt)", part, U::Share)));
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(busiest.share),
        claim: format!(
            "{} of the lost cores are idle workers while the busiest works {} of the time: the mean worker does \
             {} of its work{unsure}.",
            percent(busiest.share),
            percent(busiest.at_work),
            percent(busiest.balance)
        ),
        evidence,
        confidence: if busiest.constant.is_none() { Confidence::Low } else { Confidence::Medium },
        place: None,
        culprits: Vec::new(),
        refuted_by: "over a longer time all workers work equally",
        next_step: format!(
            "Compare the busiest thread with the others in the run at n={} (`ironlaw report --thread`); \
             distribute the work in smaller pieces, or let idle workers steal from the busiest.",
            context.here.n
        ),
    }))
}

/// The evidence that uneven load and a serial section have in common.
pub(super) fn evidence(busiest: &BusiestWorker) -> Vec<Evidence> {
    vec![
        lost_cores(busiest.share),
        Evidence::up_to("CPU time, mean over maximum (below)", busiest.balance, U::Share, limits::BALANCE),
        Evidence::of("busiest worker working", busiest.at_work, U::Share, limits::SATURATED),
    ]
}
