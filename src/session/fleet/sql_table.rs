//! The tables that queries can name, and the queries themselves, as every engine takes them.

use crate::store::dataset::{Dataset, TableKind};
use crate::tables::Table;
use std::path::PathBuf;

/// A table that queries can name.
#[derive(Debug, Clone)]
pub struct SqlTable {
    /// Its name.
    pub name: String,
    /// Its rows.
    pub rows: SqlRows,
}

/// Where rows are.
#[derive(Debug, Clone)]
pub enum SqlRows {
    /// A folder of Parquet files in Hive partitions, whose keys become columns of text.
    Folder(PathBuf),
    /// In memory; parts may lack columns that others have. Each with its value of an added column `recording`.
    Memory(Vec<(String, Table)>),
}

/// A query with a name for messages.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its text.
    pub sql: &'a str,
    /// Whether every step of it is within a job: the answers about some jobs at a time, one after the other in the order
    /// of the jobs, are the whole answer.
    pub by_job: bool,
}

/// The tables of a data set.
#[must_use]
pub fn dataset_tables(dataset: &Dataset) -> Vec<SqlTable> {
    let folder = |table: &TableKind| SqlRows::Folder(dataset.dir.join(table.name()));
    dataset.tables.iter().map(|table| SqlTable { name: table.name().to_string(), rows: folder(table) }).collect()
}
