//! Plain, serialisable view models, which screens and exports render.
//! Names are stored as the target reported them. Pass them through [`escape`] before showing them.

pub mod annotate;
pub(crate) mod baseline;
mod cgroup_tree;
pub(crate) mod code_ipc;
pub(crate) mod colocate;
pub(crate) mod context;
pub(crate) mod counters;
mod cpu_shares;
pub(crate) mod diff;
pub(crate) mod diff_flamegraph;
pub mod escape;
pub(crate) mod findings;
pub(crate) mod fit;
pub mod flame;
pub(crate) mod flame_tree;
pub(crate) mod fleet;
pub(crate) mod functions;
pub(crate) mod labels;
pub(crate) mod latency;
pub(crate) mod latency_history;
mod line_counters;
mod measured;
pub(crate) mod memory;
pub(crate) mod notes;
pub(crate) mod numa;
pub(crate) mod number;
pub(crate) mod overview;
pub(crate) mod picker;
pub(crate) mod places;
pub mod query;
pub mod report;
pub mod sampled;
pub mod slow_operations;
pub mod snapshot;
pub(crate) mod sockets;
pub(crate) mod stat;
pub mod sweep;
mod thread_groups;
mod thread_lines;
pub(crate) mod threads;
pub(crate) mod watch;

#[cfg(test)]
pub(crate) mod tests;

pub use crate::analysis::{Axis, Cause, CodeKind, CodeRate, Coverage, GroupBy, Label, TimeRange};
pub use measured::Measured;
