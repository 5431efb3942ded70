//! Time at locked instructions of the program: atomic changes and exchanges. A sample names the instruction that comes next
//! when the interrupt is taken, so one right behind a locked instruction counts for it. Kernel code is left out.

use super::code_path::CodeClass;
use super::stacks::StackKind;
use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, Whole};
use crate::analysis::names::CodeKind;
use crate::analysis::text::{name, percent, threads};
use crate::model::{Unit as U, Why};
use std::collections::BTreeMap;

/// Applied only where code was read.
pub(super) const RULE: Rule = Rule {
    id: "locked-instructions",
    title: "atomic changes of shared data",
    kind: FindingKind::Limit,
    of: Whole::CpuTime,
    explains: &[],
    evaluate,
};

/// Share of samples at or right behind locked instructions. [P] With two threads on two CPUs, the workloads `atomic` and
/// `false-sharing` have more, and `hotspot`, `mutex` and `spin` less.
const LOCKED: f64 = 0.1;

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    let code = context.code.ok_or(Why::NotRecorded)?;
    context.require_cpu_time()?;
    let stacks = context.samples()?;
    let (mut by_function, mut all, mut unread) = (BTreeMap::<(&str, &str), u64>::new(), 0_u64, 0_u64);
    // Locks have a rule of their own.
    let counts = |kind: &StackKind| stacks.leaf(kind).kind != CodeKind::Kernel && kind.class != CodeClass::Lock;
    for (row, kind) in stacks.rows().filter(|(_, kind)| counts(kind)) {
        match context.profile.walk(row.stack).next().and_then(|frame| code.get(&frame)) {
            Some(code) if code.locked => {
                let leaf = stacks.leaf(kind);
                let sum = by_function.entry((&leaf.name, &leaf.module)).or_default();
                (all, *sum) = (all.saturating_add(row.weight), sum.saturating_add(row.weight));
            }
            Some(_) => {}
            None => unread = unread.saturating_add(row.weight),
        }
    }
    let share = stacks.share(all);
    if share < LOCKED {
        return if stacks.share(unread) >= LOCKED { Err(Why::NotRecorded) } else { Ok(None) };
    }
    let Some((hottest, _)) = by_function.into_iter().max_by_key(|(function, weight)| (*weight, *function)) else {
        return Ok(None);
    };
    let part = stacks.part_at_leaf(|function| (function.name.as_str(), function.module.as_str()) == hottest);
    // Nobody contends with itself: the instruction costs what it costs.
    if part.threads() < 2 {
        return Ok(None);
    }
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: Some(share),
        claim: format!(
            "{} of the CPU time is spent at locked instructions, most of it in {}, in {}.",
            percent(share),
            name(part.function()),
            threads(part.threads())
        ),
        evidence: vec![Evidence::of("at or right behind locked instructions", share, U::Share, LOCKED)],
        confidence: Confidence::Low,
        place: part.place(),
        culprits: Vec::new(),
        refuted_by: "a single thread has the same share: the instructions cost it, not other threads",
        next_step: "See which data it changes (`ironlaw annotate`): give each thread its own and add them up, keep \
                    unrelated data on other cache lines, or change it less often."
            .to_string(),
    }))
}
