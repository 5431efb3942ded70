//! Every selected sample or wait, one by one, with its stack by name: the input of other tools' formats.
//! Rows are computed on demand, without a copy of the samples.

mod path;
mod rows;

pub use path::{Cell, Path, PathId, Paths};
pub use rows::{Row, Sampled, Share, ThreadSample, ThreadSamples};
