//! Named, typed columns of equal length, so that no other module depends on the data frame library.

use crate::error::{Error, ErrorKind, Result};
use polars::prelude::*;

/// A table in memory. Columns are read by name and type. A required column that is missing, has another type or
/// contains nulls is [`ErrorKind::Corrupt`].
#[derive(Debug, Clone)]
pub struct Table {
    /// Always one chunk per column.
    frame: DataFrame,
}

/// Collects columns. Every column must have the announced number of rows.
#[derive(Debug)]
pub struct Builder {
    rows: usize,
    columns: Vec<Column>,
}

impl Builder {
    /// A required column of unsigned 64-bit numbers.
    #[must_use]
    pub fn u64(self, name: &str, values: impl Iterator<Item = u64>) -> Self {
        self.push(UInt64Chunked::from_vec(name.into(), values.collect()).into_series())
    }

    /// A required column of unsigned 32-bit numbers. The file format stores narrow numbers in as few bits as they need.
    #[must_use]
    pub fn u32(self, name: &str, values: impl Iterator<Item = u32>) -> Self {
        self.push(UInt32Chunked::from_vec(name.into(), values.collect()).into_series())
    }

    /// A required column of booleans.
    #[must_use]
    pub fn bool(self, name: &str, values: impl Iterator<Item = bool>) -> Self {
        self.push(BooleanChunked::from_iter_values(name.into(), values).into_series())
    }

    /// A required column of text.
    #[must_use]
    pub fn text(self, name: &str, values: impl Iterator<Item = impl AsRef<str>>) -> Self {
        self.push(StringChunked::from_iter_values(name.into(), values).into_series())
    }

    /// An optional column of unsigned 64-bit numbers.
    #[must_use]
    pub fn opt_u64(self, name: &str, values: impl Iterator<Item = Option<u64>>) -> Self {
        self.push(UInt64Chunked::from_iter_options(name.into(), values).into_series())
    }

    /// An optional column of unsigned 32-bit numbers.
    #[must_use]
    pub fn opt_u32(self, name: &str, values: impl Iterator<Item = Option<u32>>) -> Self {
        self.push(UInt32Chunked::from_iter_options(name.into(), values).into_series())
    }

    /// An optional column of text.
    #[must_use]
    pub fn opt_text(self, name: &str, values: impl Iterator<Item = Option<impl AsRef<str>>>) -> Self {
        self.push(StringChunked::from_iter_options(name.into(), values).into_series())
    }

    /// Builds the table.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] if two columns have the same name or a column has a different length than announced.
    pub fn build(self) -> Result<Table> {
        let frame = DataFrame::new(self.rows, self.columns).map_err(|error| corrupt(&error))?;
        Ok(Table { frame })
    }

    fn push(mut self, series: Series) -> Self {
        self.columns.push(series.into_column());
        self
    }
}

impl Table {
    /// Starts a table with `rows` rows.
    #[must_use]
    pub fn builder(rows: usize) -> Builder {
        Builder { rows, columns: Vec::new() }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.frame.height()
    }

    /// Appends the rows of a table with the same columns.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] if the columns differ.
    pub fn append(&mut self, other: &Table) -> Result<()> {
        self.frame.vstack_mut(&other.frame).map_err(|error| corrupt(&error))?;
        Ok(())
    }

    /// A required column of unsigned 64-bit numbers.
    ///
    /// # Errors
    /// See [`Table`]; the same for every accessor.
    pub fn u64(&self, name: &str) -> Result<&[u64]> {
        self.required(name)?.u64().and_then(ChunkedArray::cont_slice).map_err(|error| unreadable(name, &error))
    }

    /// A required column of unsigned 32-bit numbers.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn u32(&self, name: &str) -> Result<&[u32]> {
        self.required(name)?.u32().and_then(ChunkedArray::cont_slice).map_err(|error| unreadable(name, &error))
    }

    /// A required column of booleans.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn bool(&self, name: &str) -> Result<Vec<bool>> {
        let column = self.required(name)?.bool().map_err(|error| unreadable(name, &error))?;
        if column.null_count() > 0 {
            return Err(has_nulls(name));
        }
        Ok(column.iter().map(Option::unwrap_or_default).collect())
    }

    /// A required column of text.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn text(&self, name: &str) -> Result<Vec<&str>> {
        let column = self.required(name)?.str().map_err(|error| unreadable(name, &error))?;
        if column.null_count() > 0 {
            return Err(has_nulls(name));
        }
        Ok(column.iter().map(Option::unwrap_or_default).collect())
    }

    /// An optional column of booleans; all `None` if the table does not have it.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn opt_bool(&self, name: &str) -> Result<Vec<Option<bool>>> {
        let Some(series) = self.optional(name) else { return Ok(vec![None; self.rows()]) };
        Ok(series.bool().map_err(|error| unreadable(name, &error))?.iter().collect())
    }

    /// An optional column of unsigned 64-bit numbers; all `None` if the table does not have it.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn opt_u64(&self, name: &str) -> Result<Vec<Option<u64>>> {
        let Some(series) = self.optional(name) else { return Ok(vec![None; self.rows()]) };
        Ok(series.u64().map_err(|error| unreadable(name, &error))?.iter().collect())
    }

    /// An optional column of unsigned 32-bit numbers; all `None` if the table does not have it.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn opt_u32(&self, name: &str) -> Result<Vec<Option<u32>>> {
        let Some(series) = self.optional(name) else { return Ok(vec![None; self.rows()]) };
        Ok(series.u32().map_err(|error| unreadable(name, &error))?.iter().collect())
    }

    /// An optional column of text; all `None` if the table does not have it.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn opt_text(&self, name: &str) -> Result<Vec<Option<&str>>> {
        let Some(series) = self.optional(name) else { return Ok(vec![None; self.rows()]) };
        Ok(series.str().map_err(|error| unreadable(name, &error))?.iter().collect())
    }

    pub(super) fn frame(&self) -> &DataFrame {
        &self.frame
    }

    /// Merges each column into one chunk, so that it can be borrowed as a slice.
    pub(super) fn from_frame(mut frame: DataFrame) -> Table {
        frame.rechunk_mut();
        Table { frame }
    }

    fn optional(&self, name: &str) -> Option<&Series> {
        self.frame.column(name).ok().map(Column::as_materialized_series)
    }

    fn required(&self, name: &str) -> Result<&Series> {
        self.optional(name).ok_or_else(|| Error::new(ErrorKind::Corrupt, format!("column {name} is missing")))
    }
}

pub(super) fn corrupt(error: &PolarsError) -> Error {
    Error::new(ErrorKind::Corrupt, error.to_string())
}

fn unreadable(name: &str, error: &PolarsError) -> Error {
    corrupt(error).context(format!("column {name}"))
}

fn has_nulls(name: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("column {name} holds nulls"))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn table() -> Table {
        Table::builder(2)
            .u64("at", [1, u64::MAX].into_iter())
            .opt_u32("stack", [None, Some(7)].into_iter())
            .text("state", ["a", "é\n\u{1b}"].into_iter())
            .build()
            .unwrap()
    }

    #[test]
    fn a_column_reads_back_only_by_its_own_name_and_type() {
        let table = table();
        assert_eq!(table.u64("at").unwrap(), [1, u64::MAX]);
        assert_eq!(table.opt_u32("stack").unwrap(), [None, Some(7)]);
        assert_eq!(table.text("state").unwrap(), ["a", "é\n\u{1b}"]);
        for error in [
            table.u32("at").unwrap_err(),
            table.u64("nothing").unwrap_err(),
            table.opt_u64("state").unwrap_err(),
            table.u32("stack").unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        }
    }

    #[test]
    fn a_missing_optional_column_is_all_none() {
        assert_eq!(table().opt_text("label").unwrap(), [None, None]);
        assert_eq!(table().opt_u64("label").unwrap(), [None, None]);
    }

    #[test]
    fn columns_of_unequal_length_make_no_table() {
        assert!(Table::builder(2).u32("a", 0..2).u32("b", 0..3).build().is_err());
    }

    #[test]
    fn only_tables_with_the_same_columns_can_be_joined() {
        let mut joined = table();
        joined.append(&table()).unwrap();
        assert_eq!(joined.rows(), 4);
        let other = Table::builder(1).u32("at", [1].into_iter()).build().unwrap();
        assert!(joined.append(&other).is_err());
    }
}
