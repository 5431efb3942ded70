//! Checks what works on this machine, what does not, why, and which setting fixes it. [`gather`] runs trials and reads
//! settings, [`examine`] evaluates them; neither changes any setting.

mod capture;
mod check;
mod debug_info;
mod examine;
mod machine;
mod memory;
mod probe;

pub use check::{Check, Status};
pub use examine::{examine, profiling_works};
pub use probe::{Roots, gather};

#[cfg(test)]
mod tests;
