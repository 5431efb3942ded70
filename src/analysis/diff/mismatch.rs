//! A condition in which two sides differ.

use serde::Serialize;
use std::borrow::Cow;

/// The severity of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// For information; often the very thing that is compared.
    Info,
    /// It may explain a change.
    Warning,
    /// The numbers cannot be compared.
    Incomparable,
}

/// One difference.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mismatch {
    /// What differs, in a word or two.
    pub what: Cow<'static, str>,
    /// Value on the base's side.
    pub base: String,
    /// Value on the other side.
    pub new: String,
    /// Its severity.
    pub severity: Severity,
    /// How it can change the speed of the same code; `None` if it cannot, or does not tell the sides apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<&'static str>,
}

impl Mismatch {
    pub(super) fn new(what: &'static str, [base, new]: [String; 2], severity: Severity) -> Mismatch {
        Mismatch { what: what.into(), base, new, severity, effect: None }
    }
}
