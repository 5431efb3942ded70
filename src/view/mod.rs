//! Plain, serialisable view models that screens and exports draw. It never draws.
//! Names in them are as the target gave them; whoever shows them passes them through [`escape`] first.

pub mod escape;
pub mod flame;
mod measured;
mod notes;
pub mod report;

pub use crate::analysis::{CodeKind, MetricUnit, Section, WindowMetrics};
pub use measured::Measured;
