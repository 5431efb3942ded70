//! Sources of operations that need no kernel event: what a command prints, an HTTP endpoint, a file, a shared page, a rate.
//! It never keeps a history: each reading becomes one total, which only grows.

mod file;
mod http;
mod meter;
mod near;
mod number;
mod output;
mod page;
mod prometheus;
mod spec;
mod total;

pub use meter::Meter;
pub use output::{Matcher, Stream};
pub use spec::parse;
