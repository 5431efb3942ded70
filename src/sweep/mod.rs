//! The core-scaling sweep: the choice of runs, their CPUs and order, the runner, and the folder with the results.

mod cpu_confinement;
mod folder;
mod group_record;
mod journal;
mod load;
mod placement;
mod run_plan;
mod runner;
#[cfg(test)]
#[path = "tests/support.rs"]
mod testing;

pub use cpu_confinement::{CpuConfinement, Leftover, restore_killed};
pub use folder::{Folder, recording_name};
pub use group_record::GroupRecord;
pub use journal::Journals;
pub use load::{analyse, load, load_with};
pub use placement::{CpuOrder, per_core};
pub use run_plan::{check_command, run_order, varies};
pub use runner::{RunSettings, Sweep};
