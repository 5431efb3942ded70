//! What answers SQL: a process on this machine, or Spark on a cluster.

use super::sql_table::{Question, SqlRows, SqlTable};
use super::{engine_process, spark};
use crate::error::{Error, ErrorKind, Result};
use crate::model::ResultTable;
use std::path::Path;

/// An engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Engine {
    /// polars, in the process `ironlaw-fleet`, on all CPUs of this machine.
    Local,
    /// Spark, by `spark-submit`.
    Spark {
        /// The URL of its master, e.g. `spark://HOST:7077`, `yarn`, `local[4]`.
        master: String,
    },
}

impl Engine {
    /// Answers each question, in order.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] for wrong SQL, [`ErrorKind::Unsupported`] if the engine is not there; otherwise what it met.
    pub fn answer(&self, tables: &[SqlTable], questions: &[Question<'_>]) -> Result<Vec<ResultTable>> {
        match self {
            Engine::Local => engine_process::answer(tables, questions),
            Engine::Spark { master } => spark::answer(master, &folders(tables)?, questions),
        }
    }
}

fn folders(tables: &[SqlTable]) -> Result<Vec<(&str, &Path)>> {
    tables
        .iter()
        .map(|table| match &table.rows {
            SqlRows::Folder(path) => Ok((table.name.as_str(), path.as_path())),
            SqlRows::Memory(_) => {
                Err(Error::new(ErrorKind::Unsupported, "Spark answers questions of data sets, not of recordings"))
            }
        })
        .collect()
}
