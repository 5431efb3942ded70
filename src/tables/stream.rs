//! Writes a Parquet file group by group, for tables that do not fit into memory.
//! The output is not part of a recording and carries no checksum.

use super::encode;
use super::table::{Table, corrupt};
use crate::error::{Error, ErrorKind, Result};
use polars::io::parquet::write::{BatchedWriter, ParquetWriter, StatisticsOptions};
use std::fmt;
use std::io::Write;

/// A file being written.
pub struct Stream<W: Write> {
    file: BatchedWriter<W>,
}

impl<W: Write> fmt::Debug for Stream<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stream")
    }
}

impl<W: Write> Stream<W> {
    /// Starts a file whose tables have the columns of this one. Its rows are not written.
    ///
    /// # Errors
    /// If the encoder rejects the columns or the writer fails.
    pub fn start(out: W, columns: &Table) -> Result<Stream<W>> {
        let writer = ParquetWriter::new(out).with_statistics(StatisticsOptions::empty());
        let file = writer.batched(columns.frame().schema()).map_err(|error| failed(&error.to_string()))?;
        Ok(Stream { file })
    }

    /// Writes the table's rows as one row group.
    ///
    /// # Errors
    /// If the columns differ or the writer fails.
    pub fn add(&mut self, table: &Table) -> Result<()> {
        if table.rows() == 0 {
            return Ok(());
        }
        let mut frame = table.frame().clone();
        frame.rechunk_mut();
        let types = self.file.parquet_schema().fields().to_vec();
        if types.len() != frame.width() {
            return Err(Error::new(ErrorKind::Corrupt, "the table has other columns than the file"));
        }
        let columns = frame.columns().iter().zip(types).map(|(column, kind)| encode::column(column, kind));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let rows = table.rows() as u64;
        self.file.write_row_group(rows, &columns).map_err(|error| failed(&error.to_string()))
    }

    /// Finishes the file.
    ///
    /// # Errors
    /// Any error of the writer.
    pub fn finish(self) -> Result<()> {
        self.file.finish().map_err(|error| corrupt(&error))?;
        Ok(())
    }
}

fn failed(message: &str) -> Error {
    Error::new(ErrorKind::Io, message).context("cannot write the table")
}
