//! Processes that are started all the time and hardly live: to start and to end them takes the CPU time, in the kernel and in
//! the dynamic loader, more than what they are started for.

use super::code_path::CodeClass;
use super::waits::mostly_below;
use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, Whole};
use crate::analysis::text::{digits, name, percent, seconds};
use crate::model::{Unit as U, Why};
use rustc_hash::FxHashMap;

pub(super) const RULE: Rule = Rule {
    id: "process-starts",
    title: "starting processes",
    kind: FindingKind::Limit,
    of: Whole::CpuTime,
    explains: &[CodeClass::Process],
    evaluate,
};

/// Share of samples in what starts and ends processes. [P]
const STARTING: f64 = 0.1;

/// Processes per second that begin and end. [P]
const STARTS: f64 = 5.0;

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    context.require_cpu_time()?;
    let span = context.span()?;
    let lives = lives(context, span);
    let rate = lives.len() as f64 / span;
    if rate < STARTS {
        return Ok(None);
    }
    let stacks = context.kernel_samples()?;
    let share = stacks.part_of(&[CodeClass::Process]).share;
    if share < STARTING {
        return Ok(None);
    }
    // Those who start them live on.
    let by = stacks.part_of_rows(|row, kind| {
        (kind.class == CodeClass::Process && !lives.contains_key(&row.pid)).then_some(kind.at)
    });
    let place = by.place();
    let mean = lives.values().sum::<f64>() / lives.len() as f64;
    let at = mostly_below(place.as_ref()) + &by.callee().map_or(String::new(), |call| format!(", by {}", name(call)));
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "Starting and ending processes takes {} of the CPU time, in the kernel and the dynamic loader: {} a second, each of which \
             lives {}{at}.",
            percent(share),
            digits(rate),
            seconds(mean)
        ),
        evidence: vec![
            Evidence::of("starting and ending", share, U::Share, STARTING),
            Evidence::of("processes that begin and end", rate, U::PerSecond, STARTS),
            Evidence::plain("mean life", mean, U::Seconds),
        ],
        confidence: Confidence::High,
        place,
        culprits: Vec::new(),
        refuted_by: "the processes work for longer than they take to start: then others than these start and end",
        next_step: "Do in the program what they do, or start one that stays and send it the work; else give each more of it. A shell \
                    between (system, popen, backticks) is one process more."
            .to_string(),
    }))
}

/// How long the processes lived that began and ended in the selection, in seconds, without those that lived for most of it.
fn lives(context: &RuleContext<'_>, span: f64) -> FxHashMap<u32, f64> {
    let processes = context.tasks.iter().filter(|task| task.tid == task.pid && context.who.has(task.tid));
    let lived = processes.filter_map(|task| {
        let (born, ended) = (task.born?, task.ended?);
        let within = born >= context.selection.time.from && ended <= context.window.to;
        let life = (ended - born).seconds();
        (within && life < span / 2.0).then_some((task.pid, life))
    });
    lived.collect()
}
