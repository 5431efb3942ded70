//! The core-scaling sweep: which runs, on which CPUs, in which order; the runner; and the folder they end in.
//! It never prints and never judges: analysis does.

mod folder;
mod journal;
mod load;
mod narrow;
mod order;
mod placement;
mod runner;
pub mod template;
#[cfg(test)]
mod testing;

pub use folder::{EXTENSION, FORMAT, Folder};
pub use journal::{Journal, folder as journal_folder};
pub use load::{load, scaling};
pub use narrow::{Narrowed, put_back, sweeper_runs};
pub use order::order;
pub use placement::{Place, Places, per_core};
pub use runner::{Recipe, Sweep};
