//! What `perf record` writes, read as plain data: files and pipes, of either byte order, packed or not, whole or damaged.
//! It never opens a file, names an address or decides what a record means for a recording.
//!
//! The crate linux-perf-data reads only what is whole: it refuses a file for one unknown event or a missing trailer,
//! reserves whatever a damaged header asks for, and passes over branch records and counter values. So it is done here.

mod attr;
mod cursor;
mod features;
mod header;
mod order;
mod record;
mod records;
mod stream;

pub use attr::Attr;
pub use cursor::Words;
pub use features::{Build, Features};
pub use header::{Described, PerfData};
pub use record::{Birth, KernelCode, Mapping, Mode, Naming, Reads, Registers, Sample, Stamp, What};
pub use records::{LeftOut, Record, Records};
