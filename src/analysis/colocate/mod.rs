//! What programs do to each other: from runs alone and beside each other to the slowdown of each cell, its factors and
//! causes, and a profile of each program. Intervals and factors are those of comparisons.

mod causes;
mod cells;
mod profiles;
mod result;
#[cfg(test)]
#[path = "tests/support.rs"]
pub(crate) mod testing;
#[cfg(test)]
#[path = "tests/cells.rs"]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests;
mod types;

pub use cells::{cells, slow_cells};
pub use profiles::profiles;
pub use result::{RunResult, worker_count};
pub use types::{Cell, CellCause, CellVerdict, MeasureChange, ProfileValue, ProgramProfile};
