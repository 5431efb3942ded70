//! Reads the output of `perf record` as plain data: files and pipes, either byte order, compressed or not, intact or
//! damaged.
//!
//! The crate linux-perf-data reads only intact files: it refuses a file for one unknown event or a missing trailer,
//! allocates whatever a damaged header asks for, and skips branch records and counter values. Hence this module.

mod attr;
mod directory;
mod features;
mod header;
mod order;
mod record;
mod records;
mod simpleperf;
mod stream;
mod tracing;

pub use attr::Attr;
pub use directory::joined;
pub use features::Build;
pub use header::{PerfData, PerfEvent};
pub use record::{KernelSymbol, ReadValues, RecordBody, Sample};
pub use records::{Record, Records};
pub use simpleperf::RecordedSymbols;

#[cfg(test)]
mod tests;
