//! Compares two recordings, or repeats of them: what changed, in which factor, in which code, and whether chance or
//! load could have caused it.

mod adjust;
#[cfg(test)]
mod calibration;
mod change;
mod compare;
mod comparison;
mod curve;
mod digest;
mod effect;
mod expect;
mod expectation;
mod facts;
mod functions;
mod gate;
mod load;
mod mismatch;
mod pairing;
mod quantity;
mod settings;
mod subgroups;
#[cfg(test)]
pub(crate) mod testing;

pub use change::{Change, Verdict};
pub use comparison::{Comparison, Expected, Factors, Lead, Outcome};
pub use digest::{Digest, Part, Side, Slot};
pub use effect::{Basis, Effect, Scale, Uncertainty};
pub use expectation::Expectation;
pub use facts::{Facts, Program};
pub use functions::{FunctionChange, Functions};
pub(in crate::analysis) use functions::{run_noise, with_noise};
pub use gate::{Exceeds, Gate, Judged, Standing};
pub use load::{Adjustment, Driver, Load, Spread, Through};
pub(super) use load::{Dependence, depends_less};
pub use mismatch::{Severity, Unlike, unlike};
pub use pairing::Pairing;
pub use quantity::{
    Better, Cell, PRIMARY, Quantity, RATE, Reading, Role, WITHOUT_OPERATIONS, quantities, readings,
};
pub use settings::{LoadBy, Per, Settings};
pub use subgroups::{GroupKind, GroupRow, SubgroupCheck};
