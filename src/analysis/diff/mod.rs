//! Compares two recordings, or repeats of them: what changed, in which factor, in which code, and whether chance or
//! load could have caused it.

mod adjust;
#[cfg(test)]
#[path = "tests/calibration.rs"]
mod calibration;
mod change;
mod compare;
mod comparison;
mod conditions;
mod curve;
mod digest;
mod effect;
mod expect;
mod expectation;
mod functions;
mod gate;
#[cfg(test)]
#[path = "tests/latency.rs"]
mod latency;
mod load;
mod mismatch;
mod mismatches;
mod module_renames;
mod process_mismatch;
mod quantity;
mod settings;
mod subgroups;
#[cfg(test)]
#[path = "tests/support.rs"]
pub(crate) mod testing;
mod work_time;

pub use change::{Change, Verdict};
pub use comparison::{AnswerKind, Comparison, ExpectationResult, Factors, Outcome};
pub use conditions::{Conditions, Program};
pub use digest::{Digest, RecordingPart, Side, WindowCells};
pub use effect::{Basis, Effect, Scale, Uncertainty};
pub use expectation::Expectation;
pub use functions::{FunctionChange, Functions};
pub(in crate::analysis) use functions::{run_noise, with_noise};
pub use gate::{Exceeds, Gate, GateResult, GateStatus};
pub use load::{CurveBasis, Load, LoadAdjustment, LoadMeasure, LoadRange};
pub(super) use load::{LoadSeries, least_dependent};
pub use mismatch::{Mismatch, Severity};
pub use mismatches::mismatches;
pub use module_renames::ModuleRenames;
pub use quantity::{PRIMARY, Quantity, RATE, RatioCell, Reading, WITHOUT_OPERATIONS, quantities, readings};
pub use settings::{LoadBy, Per, Settings};
pub use subgroups::{GroupKind, GroupRow, SubgroupCheck};
pub use work_time::{PartTime, TimePart, WorkTime};
