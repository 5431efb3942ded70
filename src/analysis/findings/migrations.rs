//! Threads that move between CPUs so often that their caches stay cold. How far they move is unknown.

use super::{Confidence, Evidence, Finding, FindingKind, Rule, RuleContext, limits};
use crate::analysis::text::digits;
use crate::model::{Unit as U, Why};

pub(super) const RULE: Rule =
    Rule { id: "migrations", title: "moving between CPUs", kind: FindingKind::Limit, explains: &[], evaluate };

fn evaluate(context: &RuleContext<'_>) -> Result<Option<Finding>, Why> {
    context.wall()?;
    let moves = context.count("migrations")?;
    context.require_work()?;
    let cpu = context.cpu_time()?;
    let rate = if cpu > 0.0 { moves / cpu } else { 0.0 };
    if rate < limits::MIGRATIONS {
        return Ok(None);
    }
    Ok(Some(Finding {
        rule: RULE.id,
        title: RULE.title,
        share: None,
        claim: format!("Threads moved to another CPU {} times per second of CPU time.", digits(rate)),
        evidence: vec![Evidence::of("moves per CPU second", rate, U::PerSecond, limits::MIGRATIONS)],
        confidence: Confidence::Low,
        place: None,
        refuted_by: "bound to fixed CPUs (taskset) the program is no faster",
        next_step: "Try binding the threads (taskset, numactl): if that helps, fewer wake-ups or fewer threads do too."
            .to_string(),
    }))
}
