//! View model: what programs do to each other, for every format.

mod build;
mod types;
pub(crate) mod words;

pub use crate::analysis::colocate::CellVerdict as Verdict;
pub use types::{CellView, ColocateView, ProfileView, ProgramView};
