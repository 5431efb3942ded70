//! Many machines: the data set that each of them writes, and the engines that answer questions of it in SQL.
//! Besides [`crate::tables`] the only place that names polars.

pub mod dataset;
mod engine;
#[cfg(feature = "fleet")]
mod job_batches;
#[cfg(feature = "fleet")]
mod local;
mod queries;
mod recording_tables;
pub mod simulate;
mod spark;
mod sql_table;

pub use engine::Engine;
pub use queries::{QUERIES, Query};
pub use recording_tables::recording_tables;
pub use sql_table::{Question, SqlTable, dataset_tables};
