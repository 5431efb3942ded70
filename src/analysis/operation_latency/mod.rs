//! The latency of operations: its distribution, quantiles with intervals, and how it varies.

mod bands;
mod distribution;
mod entropy;
mod over_time;
mod quantile_error;
mod quantiles;
mod variation;
mod windows;

pub use bands::Band;
pub use distribution::{Bin, LatencyCounts};
pub use over_time::{LatencyHistory, LatencyPart, OVER_TIME};
pub use quantile_error::{QuantileError, quantile_errors};
pub use quantiles::{Latencies, QUANTILES, Quantile, latencies};
#[cfg(test)]
pub(in crate::analysis) use windows::quantile;
pub use windows::{LatencyReader, LatencyWindows};
