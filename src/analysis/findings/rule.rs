//! What a rule over one window of a recording is, and how all of them are applied and ranked.

use super::code_path::CodeClass;
use super::{CODE_RULES, REMAINDERS, RULES, RuleContext};
use crate::analysis::finding::{Finding, RuleResults};
use crate::model::Why;

/// What a finding of a rule means to the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FindingKind {
    /// It limits the program.
    Limit,
    /// It shows where time goes, which may be as it should be.
    Hint,
}

/// What the share of a finding is a share of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whole {
    /// The time in which threads ran, queued for a CPU, or were blocked in the middle of their work.
    WorkingTime,
    /// The CPU time, which is a part of that.
    CpuTime,
    /// The working time and the waits for sockets and pipes that end soon, which may be for answers that the work needs.
    WithReplies,
}

/// One rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub id: &'static str,
    pub title: &'static str,
    pub kind: FindingKind,
    pub of: Whole,
    /// The code whose CPU time its findings explain.
    pub explains: &'static [CodeClass],
    /// Returns the finding, nothing, or why the rule cannot decide.
    pub evaluate: fn(&RuleContext<'_>) -> Result<Option<Finding>, Why>,
}

impl Rule {
    /// Whether it finds anything.
    pub fn finds(&self, context: &RuleContext<'_>) -> bool {
        (self.evaluate)(context).is_ok_and(|found| found.is_some())
    }
}

/// A rule for the CPU time that other rules leave. It receives the code whose CPU time their findings explain.
#[derive(Debug, Clone, Copy)]
pub(super) struct RemainderRule {
    pub id: &'static str,
    pub title: &'static str,
    pub evaluate: fn(&RuleContext<'_>, &[CodeClass]) -> Result<Option<Finding>, Why>,
}

/// Share of the working time below which nobody has to know where the CPU time goes that no finding explains. [P]
const LEAST_REMAINDER: f64 = 0.1;

/// Applies every rule.
#[must_use]
pub fn evaluate(context: &RuleContext<'_>) -> RuleResults {
    let mut results = RuleResults::default();
    let work = context.work();
    let working = work.as_ref().map_or(1.0, |work| work.part_beside(context.replies()));
    let cpu_part = work.map_or(1.0, |work| work.cpu_part());
    let mut found: Vec<(FindingKind, f64, Finding)> = Vec::new();
    let mut explained: Vec<CodeClass> = Vec::new();
    for rule in RULES.iter().chain(CODE_RULES.iter().filter(|_| context.code.is_some())) {
        let finding = results.record(context.evaluate_rule(rule.evaluate).into(), rule.id, rule.title);
        explained.extend(finding.iter().flat_map(|_| rule.explains));
        // All are ordered by shares of the same whole.
        let part = match rule.of {
            Whole::CpuTime => cpu_part * working,
            Whole::WorkingTime => working,
            Whole::WithReplies => 1.0,
        };
        found.extend(finding.map(|finding| (rule.kind, finding.weight() * part, finding)));
    }
    for rule in REMAINDERS {
        let judged = context.evaluate_rule(|context| (rule.evaluate)(context, &explained));
        let matters = |finding: &Finding| finding.share.is_none_or(|share| share * cpu_part >= LEAST_REMAINDER);
        let finding = results.record(judged.map(|found| found.filter(matters)).into(), rule.id, rule.title);
        found.extend(finding.map(|finding| (FindingKind::Hint, finding.weight() * cpu_part * working, finding)));
    }
    // The sort is stable: findings of equal weight stay in decision order.
    found.sort_by(|(a_kind, a, _), (b_kind, b, _)| {
        let hint = |kind: &FindingKind| *kind == FindingKind::Hint;
        hint(a_kind).cmp(&hint(b_kind)).then(b.total_cmp(a))
    });
    results.found = found.into_iter().map(|(.., finding)| finding).collect();
    results
}
