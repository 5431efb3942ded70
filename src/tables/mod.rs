//! Columns and Parquet files. The only module that uses crates of polars; it treats rows as plain data.

mod checksum;
mod encode;
#[cfg(any(test, fuzzing))]
mod filled;
mod pages;
mod parquet;
mod stream;
mod table;

#[cfg(any(test, fuzzing))]
pub(crate) use checksum::reseal;
#[cfg(any(test, fuzzing))]
pub(crate) use filled::{Values, filled};
#[cfg(test)]
pub(crate) use parquet::from_foreign_parquet;
pub use parquet::{from_parquet, to_parquet};
pub use stream::Stream;
pub use table::{Builder, Table};

#[cfg(test)]
mod tests;
