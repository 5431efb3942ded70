//! The target's hardware counters: groups of events opened at each of its places and read once per interval, with one
//! system call per group. Readings are not scaled; each carries its enabled and running times and keeps its group.

mod budget;
mod core_plan;
mod counters;
mod load;
mod requests;
mod switch_budget;
mod switch_cost;
mod totals;
mod trial;

pub use core_plan::hardware_plan;
pub use counters::{AttachOptions, Hardware, HardwareTrial, switches_in, try_hardware};
pub(super) use switch_budget::Activity as SwitchActivity;
pub(super) use switch_cost::time_added_to_switches;
