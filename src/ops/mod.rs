//! Sources of operations that need no kernel event: a command's output, an HTTP endpoint, a file, a shared page, a
//! rate. Each reading becomes one total, which only grows.

mod file;
mod growth;
mod http;
mod latency;
mod latency_spec;
mod meter;
mod number;
mod output;
mod page;
mod prometheus;
mod spec;
mod total;

#[cfg(any(test, fuzzing))]
pub(crate) use http::receive;
pub use http::{Posted, post};
#[cfg(any(test, fuzzing))]
pub use latency::parse_anything;
pub use latency::{LatencyMeter, OutputLatencies};
pub use latency_spec::parse_latency;
pub use meter::Meter;
pub use output::{Matcher, Stream};
#[cfg(any(test, fuzzing))]
pub use prometheus::counters;
pub use spec::parse;

#[cfg(test)]
mod tests;
