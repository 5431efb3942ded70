//! Plain, serialisable view models, which screens and exports render.
//! Names are stored as the target reported them. Pass them through [`escape`] before showing them.

pub mod against;
pub mod baseline;
pub mod context;
pub mod counters;
pub mod diff;
pub mod difference;
pub mod escape;
pub mod findings;
pub mod fit;
pub mod flame;
pub mod flame_tree;
pub mod functions;
mod labels;
mod measured;
mod notes;
pub mod number;
pub mod overview;
pub mod picker;
pub mod query;
pub mod report;
pub mod sampled;
pub mod snapshot;
pub mod sweep;
pub mod threads;
pub mod watch;

pub use crate::analysis::{Axis, Cause, CodeKind, Coverage, GroupBy, Section, TimeRange, WindowMetrics};
pub use measured::Measured;
