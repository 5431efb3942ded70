//! Sources of latencies that need no kernel event: a command's output, files, an HTTP endpoint, a shared page. Each gives
//! operations by the interval in which their latency lies.

mod bins;
mod db_bench;
mod file;
mod fio;
mod generators;
mod hdr_text;
mod histogram;
mod log_line;
mod meter;
mod output;
mod page;
mod pgbench;
mod printed;
mod ranks;
mod redis_benchmark;
mod summary;
mod sysbench;
mod wrk;

pub use meter::LatencyMeter;
pub use output::OutputLatencies;

#[cfg(any(test, fuzzing))]
mod hostile;
#[cfg(any(test, fuzzing))]
pub use hostile::parse_anything;

#[cfg(test)]
mod tests;
