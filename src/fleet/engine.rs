//! What answers SQL: polars in this process, or Spark on a cluster.

#[cfg(feature = "fleet")]
use super::local;
use super::spark;
use super::sql_table::{Question, SqlRows, SqlTable};
use crate::error::{Error, ErrorKind, Result};
use crate::model::ResultTable;
use std::path::Path;

/// An engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Engine {
    /// polars, in this process, on all its CPUs.
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
            #[cfg(feature = "fleet")]
            Engine::Local => local::answer(tables, questions),
            #[cfg(not(feature = "fleet"))]
            Engine::Local => Err(Error::new(ErrorKind::Unsupported, "this ironlaw was built without an SQL engine").hint(
                "Build it with `cargo install --path . --features fleet`, use --engine spark, or paste the query into \
                 another engine: `ironlaw fleet sql NAME`.",
            )),
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
