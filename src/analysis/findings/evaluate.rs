//! Applies every rule to one window and ranks what they find.

use super::paths::CodeClass;
use super::rule::FindingKind;
use super::{REMAINDERS, RULES, RuleContext, hardware};
use crate::analysis::finding::{Finding, RuleResults};

/// Applies every rule.
#[must_use]
pub fn evaluate(context: &RuleContext<'_>) -> RuleResults {
    let mut results = RuleResults::default();
    let mut found: Vec<(FindingKind, Finding)> = Vec::new();
    let mut explained: Vec<CodeClass> = Vec::new();
    for rule in RULES.iter().chain(&hardware::RULES) {
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
