//! Control groups: where the hierarchies are mounted, what a group contains, what it reports.
//! `collect` resolves the names of groups.

mod groups;
mod limits;
mod mounts;
mod own_group;
mod usage;

pub use groups::{CgroupFs, directories, directories_within, group_pressure, processes, threads};
pub use mounts::{Hierarchy, membership};
pub use own_group::{OwnGroup, remove_own};
pub use usage::CpuUsage;
#[cfg(any(test, fuzzing))]
pub use {
    mounts::hierarchies,
    usage::{cpu_stat_v2, io_stat_v1, io_stat_v2},
};
