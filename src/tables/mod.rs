//! Columns and Parquet files; the only place that names polars. It never knows what a sample is.

mod encode;
mod parquet;
mod quiet;
mod seal;
mod stream;
mod table;

pub use parquet::{from_parquet, to_parquet};
pub use stream::Stream;
pub use table::{Builder, Table};
