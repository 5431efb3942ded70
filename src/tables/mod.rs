//! Columns and Parquet files. The only module that uses polars; it treats rows as plain data.

mod checksum;
mod encode;
mod pages;
mod parquet;
mod stream;
mod table;

pub use parquet::{from_parquet, to_parquet};
pub use stream::Stream;
pub use table::Table;

#[cfg(test)]
mod tests;
