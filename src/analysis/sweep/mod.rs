//! How a program scales: runs at several widths, the law they follow, where each lost core went and which code lost it.
//! `sweep` supplies the runs.

mod analyze;
mod cost;
mod estimate;
mod hot_path;
mod latency;
mod loss;
mod owner;
mod parts;
mod point;
mod regions;
mod run;
mod speedup;
mod split;
mod stack;
#[cfg(test)]
#[path = "tests/support.rs"]
mod testing;
mod types;
mod usl;

pub(in crate::analysis) use cost::Sums;
pub use hot_path::hot_path;
pub use latency::{PointLatency, PointQuantile, Scatter};
pub(in crate::analysis) use loss::share_variance;
pub use types::{
    Coefficient, Cost, Estimate, FunctionId, Loss, LossRow, NoFit, PathCost, Peak, Point, PointMetrics, RegionFit, Run,
    RunLatency, Slice, SliceKind, Split, Stack, SweepAnalysis, Usl,
};
