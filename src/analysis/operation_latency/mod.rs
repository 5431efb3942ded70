//! The latency of operations: its distribution, quantiles with intervals.

mod distribution;
mod quantiles;

pub use quantiles::{Latencies, Quantile, latencies};
