//! Runs of programs alone and beside each other: their order, the runner, the neighbour, the controls that hold it, and
//! the folder with the results.

mod folder;
mod hold;
mod load;
mod neighbour;
mod run_plan;
mod runner;

pub use folder::Folder;
pub use load::load;
pub use run_plan::cell_runs;
pub use runner::{Colocation, RunSettings};
