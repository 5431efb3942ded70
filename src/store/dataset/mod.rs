//! The data set: a folder of Parquet files that many machines write and every engine reads, in Hive partitions:
//! `DIR/<table>/job=J/day=YYYY-MM-DD/host=H/<start>-<id>.parquet`, days in UTC, and `DIR/dataset.json` with its format.

mod columns;
mod files;
mod function_hours;
mod layout;
mod reading;
mod root;
mod writer;

pub use columns::{alarms, functions, neighbours, windows};
pub use files::write_file;
pub use layout::{Partition, TableKind, file_name};
pub use reading::checked;
pub use root::{Dataset, create, is_one, open};
pub use writer::{DatasetWriter, Origin, parquet};

#[cfg(test)]
mod tests;
