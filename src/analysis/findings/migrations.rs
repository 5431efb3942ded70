//! Threads that move between CPUs so often that their caches stay cold. How far they move is unknown.

use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, Whole};
use crate::analysis::text::digits;
use crate::model::{MetricId, Unit as U, Why};

pub(super) const RULE: Rule = Rule {
    id: "migrations",
    title: "moving between CPUs",
    kind: FindingKind::Hint,
    of: Whole::CpuTime,
    explains: &[],
    evaluate,
};

/// Migrations per second of CPU time: at 10 to 50 us of cold caches each, 1 to 5% of it. [P]
const MIGRATIONS: f64 = 1_000.0;

/// Part of the working time that threads must run: where they mostly wait, cold caches cost next to none of it. [P]
const RUNNING: f64 = 0.5;

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    context.wall()?;
    let moves = context.count("migrations")?;
    let work = context.require_work()?;
    let cpu = context.cpu_time()?;
    let rate = if cpu > 0.0 { moves / cpu } else { 0.0 };
    if rate < MIGRATIONS || work.cpu_part() < RUNNING {
        return Ok(None);
    }
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: None,
        claim: format!("Threads migrate to another CPU {} times per CPU second.", digits(rate)),
        evidence: vec![
            Evidence::of("migrations per CPU second", rate, U::PerSecond, MIGRATIONS).read_from(MetricId::Migrations),
        ],
        confidence: Confidence::Low,
        place: None,
        culprits: Vec::new(),
        refuted_by: "binding the program to fixed CPUs (taskset) does not make it faster",
        next_step: "Try binding the threads (taskset, numactl): if that helps, fewer wake-ups or fewer threads do too."
            .to_string(),
    }))
}
