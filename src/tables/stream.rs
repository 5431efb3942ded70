//! Writes a Parquet file group by group, for tables that do not fit into memory.
//! The output is not part of a recording and carries no checksum.

use super::encode;
use super::table::Table;
use crate::error::{Error, ErrorKind, Result};
use polars_arrow::datatypes::ArrowSchema;
use polars_error::PolarsError;
use polars_parquet::write::{DynIter, DynStreamingIterator, FileWriter, KeyValue, fallible_streaming_iterator};
use std::fmt;
use std::io::Write;

/// A file being written.
pub struct Stream<W: Write> {
    file: FileWriter<W>,
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
        let fields = columns.columns().iter().map(|column| (column.name.as_str().into(), column.field()));
        let schema = fields.collect::<ArrowSchema>();
        let file = FileWriter::try_new(out, schema, encode::options()?).map_err(|error| failed(&error))?;
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
        let types = self.file.parquet_schema().fields().to_vec();
        if types.len() != table.columns().len() {
            return Err(Error::new(ErrorKind::Corrupt, "the table has other columns than the file"));
        }
        let columns = table.columns().iter().zip(types).map(|(column, kind)| encode::column(&*column.values, kind));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let pages = DynIter::new(columns.iter().map(|pages| {
            let pages = pages.iter().map(Ok::<_, PolarsError>);
            Ok(DynStreamingIterator::new(fallible_streaming_iterator::convert(pages)))
        }));
        self.file.write(table.rows() as u64, pages).map_err(|error| failed(&error))
    }

    /// Writes the end of the file.
    ///
    /// # Errors
    /// If the writer fails.
    pub fn finish(mut self) -> Result<()> {
        self.file.end(None).map(drop).map_err(|error| failed(&error))
    }

    /// Writes the end of the file with this entry in its metadata.
    pub(super) fn finish_with(mut self, entry: KeyValue) -> Result<()> {
        // Without the Arrow schema, a kilobyte in each part that says what Parquet's types say.
        self.file.end(Some(vec![entry])).map(drop).map_err(|error| failed(&error))
    }
}

fn failed(error: &PolarsError) -> Error {
    Error::new(ErrorKind::Io, error.to_string()).context("cannot write the table")
}
