//! What a target usually does at each level of load, worked out of a baseline's windows.
//! It never reads a file and never judges a session: [`super::attribution`] does.

mod types;

pub use types::{Expected, Level, Levels, LoadAxis, Place, Strength};
