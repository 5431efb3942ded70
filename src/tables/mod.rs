//! Columns and Parquet files. The only module that uses polars; it treats rows as plain data.

mod bits;
mod checksum;
mod decode;
mod delta;
mod encode;
mod format;
mod parquet;
mod runs;
mod stream;
mod table;
mod thrift;
mod values;

pub use parquet::{from_parquet, to_parquet};
pub use stream::Stream;
pub use table::Table;

#[cfg(test)]
mod tests;
