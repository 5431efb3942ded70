//! Many machines: the engines that answer questions in SQL, the questions of a fleet, and a simulated one.

mod answers;
mod engine;
mod engine_path;
mod engine_process;
mod queries;
mod recording_tables;
pub mod simulate;
mod spark;
mod sql_table;

#[cfg(test)]
#[path = "../tests/sql_fixture.rs"]
mod sql_fixture;

pub use engine::Engine;
pub use queries::{QUERIES, Query};
pub use recording_tables::recording_tables;
pub use sql_table::{Question, SqlTable, dataset_tables};
