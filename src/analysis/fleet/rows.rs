//! Reads the columns of an answer by name.

use crate::error::Result;
use crate::model::ResultTable;

/// Columns of texts; NULL is an empty text.
pub(super) fn texts<const N: usize>(table: &ResultTable, names: [&str; N]) -> Result<[Vec<String>; N]> {
    let mut columns = [const { Vec::new() }; N];
    for (column, name) in columns.iter_mut().zip(names) {
        *column = table.texts(name)?.into_iter().map(|text| text.unwrap_or("").to_string()).collect();
    }
    Ok(columns)
}

/// Columns of numbers; a number that is not finite is `None`, as NULL is.
pub(super) fn numbers<const N: usize>(table: &ResultTable, names: [&str; N]) -> Result<[Vec<Option<f64>>; N]> {
    let mut columns = [const { Vec::new() }; N];
    for (column, name) in columns.iter_mut().zip(names) {
        let values = table.numbers(name)?.into_iter();
        *column = values.map(|value| value.filter(|value: &f64| value.is_finite())).collect();
    }
    Ok(columns)
}

/// Columns of sums and counts, which are 0 where the engine returns NULL for a sum over no rows.
pub(super) fn sums<const N: usize>(table: &ResultTable, names: [&str; N]) -> Result<[Vec<f64>; N]> {
    Ok(numbers(table, names)?.map(|column| column.into_iter().map(|value| value.unwrap_or(0.0)).collect()))
}

/// Ranges of neighbouring rows with the same key.
pub(super) fn runs<K: PartialEq>(rows: usize, key: impl Fn(usize) -> K) -> Vec<std::ops::Range<usize>> {
    let mut found: Vec<std::ops::Range<usize>> = Vec::new();
    for at in 0..rows {
        match found.last_mut() {
            Some(last) if key(last.start) == key(at) => last.end = at + 1,
            _ => found.push(at..at + 1),
        }
    }
    found
}
