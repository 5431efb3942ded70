//! Reads the output of `perf record` as plain data: files and pipes, either byte order, compressed or not, intact or
//! damaged.
//!
//! The crate linux-perf-data reads only intact files: it refuses a file for one unknown event or a missing trailer,
//! allocates whatever a damaged header asks for, and skips branch records and counter values. Hence this module.

mod attr;
mod cursor;
mod features;
mod header;
mod order;
mod record;
mod records;
mod stream;

pub use attr::Attr;
#[cfg(test)]
pub use cursor::Words;
pub use features::Build;
pub use header::{Described, PerfData};
pub use record::{Birth, KernelCode, Mapping, Mode, Naming, Reads, Registers, Sample, What};
pub use records::{Record, Records};
