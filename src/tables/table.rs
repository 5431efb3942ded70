//! Named, typed columns of equal length, so that no other module depends on the Parquet library.

use crate::error::{Error, ErrorKind, Result};
use polars_arrow::array::{Array, BooleanArray, MutableBinaryViewArray, PrimitiveArray, Utf8ViewArray};
use polars_arrow::compute::concatenate::concatenate;
use polars_arrow::datatypes::Field;
use polars_arrow::types::NativeType;
use std::fmt;

/// A table in memory. Columns are read by name and type. A required column that is missing, has another type or
/// contains nulls is [`ErrorKind::Corrupt`].
#[derive(Debug, Clone)]
pub struct Table {
    rows: usize,
    columns: Vec<Column>,
}

/// A column: one array of `rows` values, of any type that a file may hold.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) values: Box<dyn Array>,
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
        self.push(name, PrimitiveArray::from_vec(values.collect()).boxed())
    }

    /// A required column of unsigned 32-bit numbers. The file format stores narrow numbers in as few bits as they need.
    #[must_use]
    pub fn u32(self, name: &str, values: impl Iterator<Item = u32>) -> Self {
        self.push(name, PrimitiveArray::from_vec(values.collect()).boxed())
    }

    /// A required column of signed 64-bit numbers.
    #[must_use]
    pub fn i64(self, name: &str, values: impl Iterator<Item = i64>) -> Self {
        self.push(name, PrimitiveArray::from_vec(values.collect()).boxed())
    }

    /// A required column of floating-point numbers.
    #[must_use]
    pub fn f64(self, name: &str, values: impl Iterator<Item = f64>) -> Self {
        self.push(name, PrimitiveArray::from_vec(values.collect()).boxed())
    }

    /// A required column of booleans.
    #[must_use]
    pub fn bool(self, name: &str, values: impl Iterator<Item = bool>) -> Self {
        self.push(name, BooleanArray::from_slice(values.collect::<Vec<_>>()).boxed())
    }

    /// A required column of text.
    #[must_use]
    pub fn text(self, name: &str, values: impl Iterator<Item = impl AsRef<str>>) -> Self {
        self.push(name, Utf8ViewArray::from(MutableBinaryViewArray::from_values_iter(values)).boxed())
    }

    /// An optional column of unsigned 64-bit numbers.
    #[must_use]
    pub fn opt_u64(self, name: &str, values: impl Iterator<Item = Option<u64>>) -> Self {
        self.push(name, values.collect::<PrimitiveArray<u64>>().boxed())
    }

    /// An optional column of unsigned 32-bit numbers.
    #[must_use]
    pub fn opt_u32(self, name: &str, values: impl Iterator<Item = Option<u32>>) -> Self {
        self.push(name, values.collect::<PrimitiveArray<u32>>().boxed())
    }

    /// An optional column of signed 64-bit numbers.
    #[must_use]
    pub fn opt_i64(self, name: &str, values: impl Iterator<Item = Option<i64>>) -> Self {
        self.push(name, values.collect::<PrimitiveArray<i64>>().boxed())
    }

    /// An optional column of floating-point numbers.
    #[must_use]
    pub fn opt_f64(self, name: &str, values: impl Iterator<Item = Option<f64>>) -> Self {
        self.push(name, values.collect::<PrimitiveArray<f64>>().boxed())
    }

    /// An optional column of booleans.
    #[must_use]
    pub fn opt_bool(self, name: &str, values: impl Iterator<Item = Option<bool>>) -> Self {
        self.push(name, values.collect::<BooleanArray>().boxed())
    }

    /// An optional column of text.
    #[must_use]
    pub fn opt_text(self, name: &str, values: impl Iterator<Item = Option<impl AsRef<str>>>) -> Self {
        self.push(name, Utf8ViewArray::from(MutableBinaryViewArray::from_iter(values)).boxed())
    }

    /// Builds the table.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] if two columns have the same name or a column has a different length than announced.
    pub fn build(self) -> Result<Table> {
        Table::of(self.rows, self.columns)
    }

    fn push(mut self, name: &str, values: Box<dyn Array>) -> Self {
        self.columns.push(Column { name: name.to_string(), values });
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
        self.rows
    }

    /// Length of the texts of all rows, bytes.
    #[must_use]
    pub fn text_bytes(&self) -> u64 {
        let texts = self.columns.iter().filter_map(|column| column.values.as_any().downcast_ref::<Utf8ViewArray>());
        texts.map(|texts| texts.total_bytes_len() as u64).sum()
    }

    /// Whether it has the columns of another table: as many, of the same names and types, in the same order.
    #[must_use]
    pub fn has_columns_of(&self, other: &Table) -> bool {
        let same = |(column, other): (&Column, &Column)| column.field() == other.field();
        self.columns.len() == other.columns.len() && self.columns.iter().zip(&other.columns).all(same)
    }

    /// With a column of text before the others, of the same value in every row.
    #[must_use]
    pub fn labelled(&self, name: &str, value: &str) -> Table {
        let values = MutableBinaryViewArray::from_values_iter(std::iter::repeat_n(value, self.rows));
        let label = Column { name: name.to_string(), values: Utf8ViewArray::from(values).boxed() };
        let columns = [label].into_iter().chain(self.columns.iter().cloned()).collect();
        Table { rows: self.rows, columns }
    }

    /// Appends the rows of a table with the same columns.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] if the columns differ.
    pub fn append(&mut self, other: &Table) -> Result<()> {
        if !self.has_columns_of(other) {
            return Err(Error::new(ErrorKind::Corrupt, "the tables have different columns"));
        }
        let join = |(column, added): (&Column, &Column)| concatenate(&[&*column.values, &*added.values]);
        let joined = self.columns.iter().zip(&other.columns).map(join).collect::<Result<Vec<_>, _>>();
        for (column, values) in self.columns.iter_mut().zip(joined.map_err(|error| corrupt(&error))?) {
            column.values = values;
        }
        self.rows += other.rows;
        Ok(())
    }

    /// A required column of unsigned 64-bit numbers.
    ///
    /// # Errors
    /// See [`Table`]; the same for every accessor.
    pub fn u64(&self, name: &str) -> Result<&[u64]> {
        self.numbers(name)
    }

    /// A required column of unsigned 32-bit numbers.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn u32(&self, name: &str) -> Result<&[u32]> {
        self.numbers(name)
    }

    /// A required column of signed 64-bit numbers.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn i64(&self, name: &str) -> Result<&[i64]> {
        self.numbers(name)
    }

    /// A required column of floating-point numbers.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn f64(&self, name: &str) -> Result<&[f64]> {
        self.numbers(name)
    }

    /// A required column of booleans.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn bool(&self, name: &str) -> Result<Vec<bool>> {
        let column: &BooleanArray = self.required(name)?;
        Ok(column.values_iter().collect())
    }

    /// A required column of text.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn text(&self, name: &str) -> Result<Vec<&str>> {
        let column: &Utf8ViewArray = self.required(name)?;
        Ok(column.values_iter().collect())
    }

    /// An optional column of booleans; all `None` if the table does not have it.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn opt_bool(&self, name: &str) -> Result<Vec<Option<bool>>> {
        let Some(column) = self.optional::<BooleanArray>(name)? else { return Ok(vec![None; self.rows]) };
        Ok(column.iter().collect())
    }

    /// An optional column of unsigned 64-bit numbers; all `None` if the table does not have it.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn opt_u64(&self, name: &str) -> Result<Vec<Option<u64>>> {
        self.opt_numbers(name)
    }

    /// An optional column of unsigned 32-bit numbers; all `None` if the table does not have it.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn opt_u32(&self, name: &str) -> Result<Vec<Option<u32>>> {
        self.opt_numbers(name)
    }

    /// An optional column of signed 64-bit numbers; all `None` if the table does not have it.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn opt_i64(&self, name: &str) -> Result<Vec<Option<i64>>> {
        self.opt_numbers(name)
    }

    /// An optional column of floating-point numbers; all `None` if the table does not have it.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn opt_f64(&self, name: &str) -> Result<Vec<Option<f64>>> {
        self.opt_numbers(name)
    }

    /// An optional column of text; all `None` if the table does not have it.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn opt_text(&self, name: &str) -> Result<Vec<Option<&str>>> {
        let Some(column) = self.optional::<Utf8ViewArray>(name)? else { return Ok(vec![None; self.rows]) };
        Ok(column.iter().collect())
    }

    /// A table of these columns, which must have `rows` values each and differ in name.
    pub(super) fn of(rows: usize, columns: Vec<Column>) -> Result<Table> {
        for (at, column) in columns.iter().enumerate() {
            let (name, values) = (&column.name, column.values.len());
            if values != rows {
                return Err(Error::new(
                    ErrorKind::Corrupt,
                    format!("column {name} has {values} values for {rows} rows"),
                ));
            }
            if columns[..at].iter().any(|other| other.name == *name) {
                return Err(Error::new(ErrorKind::Corrupt, format!("two columns are named {name}")));
            }
        }
        Ok(Table { rows, columns })
    }

    pub(super) fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn numbers<T: NativeType>(&self, name: &str) -> Result<&[T]> {
        let column: &PrimitiveArray<T> = self.required(name)?;
        Ok(column.values())
    }

    fn opt_numbers<T: NativeType>(&self, name: &str) -> Result<Vec<Option<T>>> {
        let Some(column) = self.optional::<PrimitiveArray<T>>(name)? else { return Ok(vec![None; self.rows]) };
        Ok(column.iter().map(Option::<&T>::copied).collect())
    }

    fn required<A: Array>(&self, name: &str) -> Result<&A> {
        let column = self.optional::<A>(name)?.ok_or_else(|| wrong(name, &"is missing"))?;
        if column.null_count() > 0 { Err(wrong(name, &"holds nulls")) } else { Ok(column) }
    }

    fn optional<A: Array>(&self, name: &str) -> Result<Option<&A>> {
        let Some(column) = self.columns.iter().find(|column| column.name == name) else { return Ok(None) };
        let array = column.values.as_any().downcast_ref();
        array.map(Some).ok_or_else(|| wrong(name, &format_args!("has another type: {:?}", column.values.dtype())))
    }
}

impl Column {
    /// The column as the schema of a file describes it. Every column may hold nulls there.
    pub(super) fn field(&self) -> Field {
        Field::new(self.name.as_str().into(), self.values.dtype().clone(), true)
    }
}

pub(super) fn corrupt(error: &dyn fmt::Display) -> Error {
    Error::new(ErrorKind::Corrupt, error.to_string())
}

fn wrong(name: &str, what: &dyn fmt::Display) -> Error {
    Error::new(ErrorKind::Corrupt, format!("column {name} {what}"))
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
    fn texts_are_as_long_as_their_rows_together() {
        let lent = ["a", "a", "nothing shorter than an inline text"];
        let table = Table::builder(3).text("one", lent.into_iter()).opt_text("two", lent.map(Some).into_iter()).build();
        assert_eq!(table.unwrap().text_bytes(), 2 * lent.concat().len() as u64);
        assert_eq!(table_of_numbers().text_bytes(), 0);
    }

    fn table_of_numbers() -> Table {
        Table::builder(2).u64("at", [1, u64::MAX].into_iter()).build().unwrap()
    }

    #[test]
    fn a_label_is_the_first_column_and_part_of_what_tables_have_in_common() {
        let labelled = table().labelled("recording", "run");
        assert_eq!(labelled.text("recording").unwrap(), ["run", "run"]);
        assert_eq!(labelled.u64("at").unwrap(), [1, u64::MAX]);
        assert!(labelled.has_columns_of(&table().labelled("recording", "other")));
        assert!(!labelled.has_columns_of(&table()) && !table().has_columns_of(&labelled));
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
