//! The data set: a folder of Parquet files that many machines write and every engine reads, in Hive partitions:
//! `DIR/<table>/job=J/day=YYYY-MM-DD/host=H/<start>-<id>.parquet`, days in UTC, and `DIR/dataset.json` with its format.

mod columns;
mod files;
mod function_hours;
mod layout;
mod reading;
mod root;
mod writer;

pub use layout::TableKind;
pub use reading::checked;
pub use root::{Dataset, is_one, open};
pub use writer::{DatasetWriter, Origin};

pub(super) use columns::{alarms, functions, neighbours, windows};
pub(super) use files::write_file;
#[cfg(feature = "fleet")]
pub(super) use layout::job_of;
pub(super) use layout::{Partition, file_name};
#[cfg(feature = "fleet")]
pub(super) use reading::files;
pub(super) use root::create;
pub(super) use writer::parquet;

#[cfg(test)]
mod tests;
