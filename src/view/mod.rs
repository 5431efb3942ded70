//! Plain, serialisable view models that screens and exports draw. It never draws.
//! Names in them are as the target gave them; whoever shows them passes them through [`escape`] first.

pub mod against;
pub mod baseline;
pub mod compare;
pub mod counters;
pub mod escape;
pub mod findings;
pub mod flame;
pub mod functions;
pub mod icicle;
pub mod look;
mod measured;
mod notes;
pub mod number;
pub mod overview;
pub mod picker;
pub mod report;
pub mod sampled;
pub mod scaling;
pub mod threads;
pub mod watch;

pub use crate::analysis::{Axis, Cause, CodeKind, Coverage, GroupBy, MetricUnit, Section, TimeRange, WindowMetrics};
pub use measured::Measured;
