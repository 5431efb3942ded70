//! What a target usually does at each level of load, worked out of a baseline's windows.
//! It never reads a file and never judges a session: [`super::attribution`] does.

mod bins;
mod code;
mod expect;
mod extend;
mod key;
mod learn;
mod levels;
mod sides;
mod strength;
#[cfg(test)]
pub(crate) mod testing;
mod types;

pub use code::{Code, CodeNode, Spent};
pub use extend::extend;
pub use key::{Stale, key_of, stale};
pub use learn::{Added, Learner, LeftOut, Source, learn};
pub use levels::{load_of, outliers};
pub use types::{Expected, Level, Levels, LoadAxis, Place, Strength};

/// Windows that a level needs before it speaks for its load.
pub const LEAST_WINDOWS: usize = 20;
/// A target that keeps fewer CPUs busy than this is idle: its costs are those of waking up.
pub const LEAST_CORES: f64 = 0.25;
/// This many usual distances of windows beyond where a run as a whole may lie a value is unusual.
pub const UNUSUAL: f64 = 1.5;
/// Growth of what an operation costs that matters, whatever its significance.
pub const LEAST_COST: f64 = 0.05;
/// Recordings that the promise about false alarms needs: with fewer it is not known how far runs differ.
pub const LEAST_RECORDINGS: usize = 3;
/// That promise: of other runs of the program, each watched for an hour, this part raises an alarm of nothing. Simulated with
/// runs that differ by up to 4% and windows that stray by up to 10%, remembered or not.
pub const FALSE_HOURS: f64 = 0.02;
