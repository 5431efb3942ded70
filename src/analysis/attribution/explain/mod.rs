//! Explains a slowdown from the program outwards: path length, then what keeps it from running, then what makes its
//! cycles or its CPU time more expensive. `suspects` names neighbours, and only as correlated.

mod causes;
mod cycles;
mod no_pmu;
mod shares;
mod unknown;
mod waits;

pub(super) use causes::{explain, location};
pub(super) use unknown::unknown;
