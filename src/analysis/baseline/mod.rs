//! The usual behaviour of a target at each level of load, computed from a baseline's windows. [`super::attribution`]
//! judges sessions by it.

mod bins;
mod call_paths;
mod code;
mod expect;
mod extend;
mod key;
mod learn;
mod levels;
mod strength;
#[cfg(test)]
#[path = "tests/support.rs"]
pub(crate) mod testing;
mod types;

pub use code::{CodeComparison, PathChange, SelectionTotals};
pub use extend::extend;
pub use key::{KeyChange, key_changes, key_of};
pub use learn::{BaselineBuilder, BuildResult, SkippedWindows, Source};
pub use levels::{load_of, outliers};
pub use types::{Expected, Level, LevelMatch, Levels, LoadAxis, Strength};

/// Windows that a level needs to represent its load.
pub const LEAST_WINDOWS: usize = 20;
/// A target that keeps fewer CPUs busy than this is idle: its costs are those of waking up.
pub const LEAST_CORES: f64 = 0.25;
/// A value is unusual this many standard deviations of windows beyond the run-to-run range.
pub const UNUSUAL: f64 = 1.5;
/// Growth of cost per operation that matters, whatever its significance.
pub const LEAST_COST: f64 = 0.05;
/// Recordings that the promise about false alarms needs: with fewer, it is not known how far runs differ.
pub const LEAST_RECORDINGS: usize = 3;
/// That promise: the fraction of unchanged runs, each watched for an hour, that raise an alarm. Simulated with runs
/// that differ by up to 4% and windows that vary by up to 10%, autocorrelated or not.
pub const HOURLY_FALSE_ALARMS: f64 = 0.02;
