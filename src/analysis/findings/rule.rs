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

/// One rule.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    pub id: &'static str,
    pub title: &'static str,
    pub kind: FindingKind,
    /// The code whose CPU time its findings explain.
    pub explains: &'static [CodeClass],
    /// Returns the finding, nothing, or why the rule cannot decide.
    pub evaluate: fn(&RuleContext<'_>) -> Result<Option<Finding>, Why>,
}

/// A rule for the time that other rules leave. It receives the code whose CPU time their findings explain.
#[derive(Debug, Clone, Copy)]
pub(super) struct RemainderRule {
    pub id: &'static str,
    pub title: &'static str,
    pub evaluate: fn(&RuleContext<'_>, &[CodeClass]) -> Result<Option<Finding>, Why>,
}

/// Applies every rule.
#[must_use]
pub fn evaluate(context: &RuleContext<'_>) -> RuleResults {
    let mut results = RuleResults::default();
    let mut found: Vec<(FindingKind, Finding)> = Vec::new();
    let mut explained: Vec<CodeClass> = Vec::new();
    for rule in RULES.iter().chain(CODE_RULES.iter().filter(|_| context.code.is_some())) {
        let finding = results.record(context.evaluate_rule(rule.evaluate).into(), rule.id, rule.title);
        explained.extend(finding.iter().flat_map(|_| rule.explains));
        found.extend(finding.map(|finding| (rule.kind, finding)));
    }
    for rule in REMAINDERS {
        let finding = results.record(
            context.evaluate_rule(|context| (rule.evaluate)(context, &explained)).into(),
            rule.id,
            rule.title,
        );
        found.extend(finding.map(|finding| (FindingKind::Hint, finding)));
    }
    // The sort is stable: findings of equal weight stay in decision order.
    found.sort_by(|(a_kind, a), (b_kind, b)| {
        let hint = |kind: &FindingKind| *kind == FindingKind::Hint;
        hint(a_kind).cmp(&hint(b_kind)).then(b.weight().total_cmp(&a.weight()))
    });
    results.found = found.into_iter().map(|(_, finding)| finding).collect();
    results
}
