//! View models of baselines: what one contains, and how a recording or session compares with it.

mod comparison;
mod contents;
mod difference;
#[cfg(test)]
#[path = "tests/support.rs"]
pub(crate) mod testing;
mod verdict;
pub(crate) mod words;

pub use crate::analysis::attribution::{Alarm, Evidence, QuantityDeviation, Suspect, WindowResult};
pub use crate::analysis::baseline::LoadAxis;
pub use comparison::BaselineComparisonView;
pub use contents::{BaselineView, ExpectedView, KeyView, LevelView, SourceView};
pub use difference::difference;
pub use verdict::BaselineSummary;

#[cfg(test)]
mod tests;
