//! What a rule over one window of a recording is.

use super::RuleContext;
use super::paths::CodeClass;
use crate::analysis::finding::Finding;
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
