//! View model: the comparison of two or more recordings, for every format and screen.
//! Analysis computes the results; this module turns them into rows and sentences.

mod build;
#[cfg(test)]
#[path = "tests/support.rs"]
pub(crate) mod testing;
mod types;
pub(crate) mod words;

pub use crate::analysis::diff::{
    AnswerKind, Basis, CurveBasis, Exceeds, GateStatus, GroupKind, GroupRow, Load, LoadAdjustment, LoadMeasure,
    LoadRange, Mismatch, Outcome, Per, Scale, Severity, SubgroupCheck, Verdict,
};
pub use crate::model::{Better, Role};
pub use types::{
    CodeRow, CodeView, ComparisonView, DiffView, ExpectationRow, FactorsView, GateRow, MetricRow, PartRow,
    RecordingView, SCHEMA_VERSION, SettingsView, SideView, most,
};

#[cfg(test)]
mod tests;
