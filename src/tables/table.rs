//! Named, typed columns of equal length, so that no other module depends on the Parquet library.

use super::values::{Texts, Values};
use crate::error::{Error, ErrorKind, Result};
use std::fmt;

/// A table in memory. Columns are read by name and type. A required column that is missing, has another type or
/// contains nulls is [`ErrorKind::Corrupt`].
#[derive(Debug, Clone)]
pub struct Table {
    rows: usize,
    columns: Vec<Column>,
}

/// A column of `rows` values.
#[derive(Debug, Clone)]
pub(super) struct Column {
    pub name: String,
    /// Whether rows may lack a value.
    pub optional: bool,
    /// Which rows have a value, unless all have one.
    pub present: Option<Vec<bool>>,
    pub values: Values,
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
        self.required(name, Values::Wide(values.collect()))
    }

    /// A required column of unsigned 32-bit numbers. The file format stores narrow numbers in as few bits as they need.
    #[must_use]
    pub fn u32(self, name: &str, values: impl Iterator<Item = u32>) -> Self {
        self.required(name, Values::Narrow(values.collect()))
    }

    /// A required column of booleans.
    #[must_use]
    pub fn bool(self, name: &str, values: impl Iterator<Item = bool>) -> Self {
        self.required(name, Values::Bool(values.collect()))
    }

    /// A required column of text.
    #[must_use]
    pub fn text(self, name: &str, values: impl Iterator<Item = impl AsRef<str>>) -> Self {
        self.required(name, Values::Text(values.collect()))
    }

    /// An optional column of unsigned 64-bit numbers.
    #[must_use]
    pub fn opt_u64(self, name: &str, values: impl Iterator<Item = Option<u64>>) -> Self {
        self.optional(name, values, |values| Values::Wide(values.map(Option::unwrap_or_default).collect()))
    }

    /// An optional column of unsigned 32-bit numbers.
    #[must_use]
    pub fn opt_u32(self, name: &str, values: impl Iterator<Item = Option<u32>>) -> Self {
        self.optional(name, values, |values| Values::Narrow(values.map(Option::unwrap_or_default).collect()))
    }

    /// An optional column of text.
    #[must_use]
    pub fn opt_text(self, name: &str, values: impl Iterator<Item = Option<impl AsRef<str>>>) -> Self {
        self.optional(name, values, |values| {
            let mut texts = Texts::default();
            values.for_each(|text| texts.push(text.as_ref().map_or("", AsRef::as_ref)));
            Values::Text(texts)
        })
    }

    /// Builds the table.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] if two columns have the same name or a column has a different length than announced.
    pub fn build(self) -> Result<Table> {
        Table::of(self.rows, self.columns)
    }

    fn required(mut self, name: &str, values: Values) -> Self {
        self.columns.push(Column { name: name.to_string(), optional: false, present: None, values });
        self
    }

    fn optional<T>(
        mut self,
        name: &str,
        values: impl Iterator<Item = Option<T>>,
        collect: impl FnOnce(&mut dyn Iterator<Item = Option<T>>) -> Values,
    ) -> Self {
        let mut present = Vec::new();
        let values = collect(&mut values.inspect(|value| present.push(value.is_some())));
        let present = present.contains(&false).then_some(present);
        self.columns.push(Column { name: name.to_string(), optional: true, present, values });
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

    /// Appends the rows of a table with the same columns.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] if the columns differ.
    pub fn append(&mut self, other: &Table) -> Result<()> {
        let same = |(column, added): (&Column, &Column)| column.name == added.name && column.same_type(added);
        if self.columns.len() != other.columns.len() || !self.columns.iter().zip(&other.columns).all(same) {
            return Err(Error::new(ErrorKind::Corrupt, "the tables have different columns"));
        }
        self.columns.iter_mut().zip(&other.columns).for_each(|(column, added)| column.append(added));
        self.rows += other.rows;
        Ok(())
    }

    /// A required column of unsigned 64-bit numbers.
    ///
    /// # Errors
    /// See [`Table`]; the same for every accessor.
    pub fn u64(&self, name: &str) -> Result<&[u64]> {
        self.required(name, wide)
    }

    /// A required column of unsigned 32-bit numbers.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn u32(&self, name: &str) -> Result<&[u32]> {
        self.required(name, narrow)
    }

    /// A required column of booleans.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn bool(&self, name: &str) -> Result<&[bool]> {
        self.required(name, bools)
    }

    /// A required column of text.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn text(&self, name: &str) -> Result<Vec<&str>> {
        Ok(self.required(name, texts)?.iter().collect())
    }

    /// An optional column of booleans; all `None` if the table does not have it.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn opt_bool(&self, name: &str) -> Result<Vec<Option<bool>>> {
        self.optional(name, |values| Some(bools(values)?.iter().copied()))
    }

    /// An optional column of unsigned 64-bit numbers; all `None` if the table does not have it.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn opt_u64(&self, name: &str) -> Result<Vec<Option<u64>>> {
        self.optional(name, |values| Some(wide(values)?.iter().copied()))
    }

    /// An optional column of unsigned 32-bit numbers; all `None` if the table does not have it.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn opt_u32(&self, name: &str) -> Result<Vec<Option<u32>>> {
        self.optional(name, |values| Some(narrow(values)?.iter().copied()))
    }

    /// An optional column of text; all `None` if the table does not have it.
    ///
    /// # Errors
    /// See [`Table`].
    pub fn opt_text(&self, name: &str) -> Result<Vec<Option<&str>>> {
        self.optional(name, |values| Some(texts(values)?.iter()))
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

    fn required<'a, T: ?Sized>(&'a self, name: &str, typed: impl Fn(&'a Values) -> Option<&'a T>) -> Result<&'a T> {
        let column = self.column(name).ok_or_else(|| wrong(name, &"is missing"))?;
        let values = typed(&column.values).ok_or_else(|| wrong(name, &"has another type"))?;
        if column.present.is_some() { Err(wrong(name, &"holds nulls")) } else { Ok(values) }
    }

    fn optional<'a, T, I: Iterator<Item = T>>(
        &'a self,
        name: &str,
        typed: impl Fn(&'a Values) -> Option<I>,
    ) -> Result<Vec<Option<T>>> {
        let Some(column) = self.column(name) else { return Ok((0..self.rows).map(|_| None).collect()) };
        let values = typed(&column.values).ok_or_else(|| wrong(name, &"has another type"))?;
        Ok(match &column.present {
            Some(present) => values.zip(present).map(|(value, present)| present.then_some(value)).collect(),
            None => values.map(Some).collect(),
        })
    }

    fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

fn narrow(values: &Values) -> Option<&[u32]> {
    if let Values::Narrow(values) = values { Some(values) } else { None }
}

fn wide(values: &Values) -> Option<&[u64]> {
    if let Values::Wide(values) = values { Some(values) } else { None }
}

fn bools(values: &Values) -> Option<&[bool]> {
    if let Values::Bool(values) = values { Some(values) } else { None }
}

fn texts(values: &Values) -> Option<&Texts> {
    if let Values::Text(values) = values { Some(values) } else { None }
}

impl Column {
    fn same_type(&self, other: &Column) -> bool {
        std::mem::discriminant(&self.values) == std::mem::discriminant(&other.values)
    }

    /// Appends the rows of a column of the same type.
    fn append(&mut self, other: &Column) {
        let rows = |column: &Column| column.present.clone().unwrap_or_else(|| vec![true; column.values.len()]);
        if self.present.is_some() || other.present.is_some() {
            self.present = Some([rows(self), rows(other)].concat());
        }
        self.optional |= other.optional;
        self.values.append(&other.values);
    }
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
