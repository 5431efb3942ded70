//! The result of a comparison.

use super::change::Change;
use super::expectation::Expectation;
use super::functions::Functions;
use super::load::Load;
use super::mismatch::Mismatch;
use super::subgroups::SubgroupCheck;
use super::work_time::WorkTime;
use crate::analysis::{Law, Slowdown};
use crate::model::MetricId;
use serde::Serialize;

/// Which number for the primary quantity to trust first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerKind {
    /// The recordings as they are.
    Raw,
    /// At the same load.
    LoadAdjusted,
    /// With the base's mixture of groups.
    Standardised,
}

/// The law on both sides, and the parts of the difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Factors {
    /// The base's law.
    pub base: Law,
    /// The other side's law.
    pub new: Law,
    /// The parts of the change of the time per operation and thread; `None` without operations.
    pub slowdown: Option<Slowdown>,
    /// The time per operation of a program that sleeps on a side, which replaces the slowdown there.
    pub work: Option<WorkTime>,
}

/// The result of an expectation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It moved as expected, beyond chance.
    Confirmed,
    /// Neither that nor its opposite is shown.
    NotConfirmed,
    /// It was shown to do something else.
    Contradicted,
    /// The recordings cannot decide it.
    Undecided,
}

/// An expectation with its result.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectationResult {
    /// The expectation.
    pub expectation: Expectation,
    /// The change it was judged by; `None` if there is no such quantity.
    pub change: Option<Change>,
    /// Whether that change is at the same load.
    pub same_load: bool,
    /// Probability of a change so far from the limit if it were at the limit, corrected for the number of expectations.
    pub p: Option<f64>,
    /// The result.
    pub outcome: Outcome,
    /// Why it cannot be decided.
    pub reason: Option<&'static str>,
}

/// Two sides compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// The conditions in which the two differ.
    pub mismatches: Vec<Mismatch>,
    /// The quantity that decides whether it became slower.
    pub primary: MetricId,
    /// The number to lead with: the primary quantity's change by [`Comparison::answer_kind`].
    pub answer: Option<Change>,
    /// What the answer is based on.
    pub answer_kind: AnswerKind,
    /// The raw change of every quantity.
    pub changes: Vec<Change>,
    /// The load of both sides.
    pub load: Load,
    /// The costs at the same load; empty if no adjustment is needed or possible.
    pub adjusted: Vec<Change>,
    /// Groups whose mixture may hide or make a change.
    pub subgroup_checks: Vec<SubgroupCheck>,
    /// The factors of time per operation.
    pub factors: Factors,
    /// Which code became more expensive; `None` without samples, or without operations if costs are per operation.
    pub functions: Option<Functions>,
    /// The results of the expectations.
    pub expectations: Vec<ExpectationResult>,
}

impl Comparison {
    /// The change of a quantity to trust: at the same load if that was computed.
    #[must_use]
    pub fn change(&self, id: MetricId) -> Option<&Change> {
        let named = |change: &&Change| change.quantity.id == id;
        let answer = self.answer.iter().find(|change| named(change));
        answer.or_else(|| self.adjusted.iter().find(named)).or_else(|| self.changes.iter().find(named))
    }

    /// Whether that is its change at the same load.
    #[must_use]
    pub fn is_at_same_load(&self, id: MetricId) -> bool {
        self.adjusted.iter().any(|change| change.quantity.id == id)
    }
}
