//! The core-scaling sweep: the choice of runs, their CPUs and order, the runner, and the folder with the results.

mod cpu_confinement;
mod folder;
mod journal;
mod load;
mod order;
mod placement;
mod runner;
pub(crate) mod template;
#[cfg(test)]
mod testing;

pub use cpu_confinement::{CpuConfinement, put_back, sweeper_runs};
pub use folder::{EXTENSION, FORMAT, Folder};
pub use journal::{Journal, folder as journal_folder};
pub use load::{load, scaling};
pub use order::order;
pub use placement::{Places, per_core};
pub use runner::{Recipe, Sweep};
