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
/// This many usual deviations from the centre a value is unusual.
pub const UNUSUAL: f64 = 3.0;
