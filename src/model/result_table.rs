//! What an SQL engine answers: a small table of named columns.

use crate::error::{Error, ErrorKind, Result};

/// Values of a column; `None` is SQL's NULL.
#[derive(Debug, Clone, PartialEq)]
pub enum ResultColumn {
    /// Integers.
    Integers(Vec<Option<i64>>),
    /// Integers from zero on, of which some are greater than any signed one.
    Unsigned(Vec<Option<u64>>),
    /// Floating-point numbers.
    Numbers(Vec<Option<f64>>),
    /// Texts.
    Texts(Vec<Option<String>>),
    /// Truth values.
    Booleans(Vec<Option<bool>>),
}

impl ResultColumn {
    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            ResultColumn::Integers(values) => values.len(),
            ResultColumn::Unsigned(values) => values.len(),
            ResultColumn::Numbers(values) => values.len(),
            ResultColumn::Texts(values) => values.len(),
            ResultColumn::Booleans(values) => values.len(),
        }
    }

    /// Whether it has no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Columns of equal length.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultTable {
    /// Number of rows.
    pub rows: usize,
    /// Columns with their names, in order.
    pub columns: Vec<(String, ResultColumn)>,
}

impl ResultTable {
    /// A column of numbers; integers are converted.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] if there is no such column, or if it holds texts.
    pub fn numbers(&self, name: &str) -> Result<Vec<Option<f64>>> {
        match self.column(name)? {
            ResultColumn::Numbers(values) => Ok(values.clone()),
            ResultColumn::Integers(values) => Ok(values.iter().map(|value| value.map(|value| value as f64)).collect()),
            ResultColumn::Unsigned(values) => Ok(values.iter().map(|value| value.map(|value| value as f64)).collect()),
            // A column of nulls alone has no type of its own.
            values if self.is_null(values) => Ok(vec![None; self.rows]),
            _ => Err(mistyped(name, "numbers")),
        }
    }

    /// A column of integers.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] if there is no such column, or if it holds something else.
    pub fn integers(&self, name: &str) -> Result<Vec<Option<i64>>> {
        match self.column(name)? {
            ResultColumn::Integers(values) => Ok(values.clone()),
            values if self.is_null(values) => Ok(vec![None; self.rows]),
            _ => Err(mistyped(name, "integers")),
        }
    }

    /// A column of texts.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] if there is no such column, or if it holds something else.
    pub fn texts(&self, name: &str) -> Result<Vec<Option<&str>>> {
        match self.column(name)? {
            ResultColumn::Texts(values) => Ok(values.iter().map(Option::as_deref).collect()),
            values if self.is_null(values) => Ok(vec![None; self.rows]),
            _ => Err(mistyped(name, "texts")),
        }
    }

    fn column(&self, name: &str) -> Result<&ResultColumn> {
        let found = self.columns.iter().find(|(own, _)| own == name).map(|(_, values)| values);
        found.ok_or_else(|| Error::new(ErrorKind::Corrupt, format!("the answer has no column {name}")))
    }

    fn is_null(&self, values: &ResultColumn) -> bool {
        match values {
            ResultColumn::Integers(values) => values.iter().all(Option::is_none),
            ResultColumn::Unsigned(values) => values.iter().all(Option::is_none),
            ResultColumn::Numbers(values) => values.iter().all(Option::is_none),
            ResultColumn::Texts(values) => values.iter().all(Option::is_none),
            ResultColumn::Booleans(values) => values.iter().all(Option::is_none),
        }
    }
}

fn mistyped(name: &str, wanted: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the answer's column {name} does not hold {wanted}"))
}
