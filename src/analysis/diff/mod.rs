//! Compares two recordings, or repeats of them: what changed, in which factor, in which code, and whether chance or
//! load could have caused it.

mod adjust;
#[cfg(test)]
mod calibration;
mod change;
mod comparison;
mod curve;
mod digest;
mod effect;
mod expect;
mod facts;
mod functions;
mod gate;
mod load;
mod pairing;
mod quantity;
mod simpson;
#[cfg(test)]
pub(crate) mod testing;
mod types;
mod unlike;

pub use digest::{Digest, Part, Slot};
pub use effect::{Basis, Effect, Scale, Uncertainty};
pub use expect::{Expectation, Expected, Outcome};
pub use facts::{Facts, Program};
pub use functions::{FunctionChange, Functions};
pub(in crate::analysis) use functions::{run_noise, with_noise};
pub use gate::{Exceeds, Gate, Judged, Standing};
pub use load::{Adjustment, Driver, Load, Spread, Through};
pub(super) use load::{Dependence, depends_less};
pub use pairing::Pairing;
pub use quantity::{Better, Cell, PRIMARY, Quantity, RATE, Reading, Role, WITHOUT_OPERATIONS, quantities, readings};
pub use simpson::{GroupKind, GroupRow, SubgroupCheck};
pub use types::{Change, Comparison, Factors, Lead, LoadBy, Per, Settings, Side, Verdict};
pub use unlike::{Severity, Unlike, unlike};
