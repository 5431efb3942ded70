//! Resolves what the user typed to kernel objects: process and thread ids, control groups by any of their names, CPU
//! lists. Objects that cannot be profiled are rejected here, by name and with a remedy.

mod group;
mod tasks;

pub use group::cgroups;
pub use tasks::{processes, threads};
