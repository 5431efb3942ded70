//! Tables of any values, for the tests of what reads them.

use super::table::{Column, Table};
use crate::error::Result;
use polars_arrow::array::{Array, BooleanArray, MutableBinaryViewArray, PrimitiveArray, Utf8ViewArray};

/// Where the values of a table come from.
pub(crate) trait Values {
    /// The next number.
    fn number(&mut self) -> u64;
    /// The next text.
    fn text(&mut self) -> String;
}

/// A table with the columns of `like` and as many rows.
///
/// # Errors
/// Two columns of `like` have the same name.
pub(crate) fn filled(like: &Table, rows: usize, values: &mut dyn Values) -> Result<Table> {
    let columns = like.columns().iter().map(|column| Column { values: array(column, rows, values), ..column.clone() });
    Table::of(rows, columns.collect())
}

/// The values decide whether some are missing: a column that needs all of them is refused then.
fn array(like: &Column, rows: usize, values: &mut dyn Values) -> Box<dyn Array> {
    let some_missing = values.number() & 1 == 1;
    let is_missing: Vec<bool> = (0..rows).map(|_| some_missing && values.number() & 1 == 1).collect();
    let any = like.values.as_any();
    if any.is::<Utf8ViewArray>() {
        let texts = is_missing.iter().map(|missing| (!missing).then(|| values.text()));
        return Utf8ViewArray::from(MutableBinaryViewArray::from_iter(texts)).boxed();
    }
    let numbers = is_missing.iter().map(|missing| (!missing).then(|| values.number()));
    if any.is::<BooleanArray>() {
        numbers.map(|number| number.map(|number| number & 1 == 1)).collect::<BooleanArray>().boxed()
    } else if any.is::<PrimitiveArray<u32>>() {
        numbers.map(|number| number.map(|number| number as u32)).collect::<PrimitiveArray<u32>>().boxed()
    } else if any.is::<PrimitiveArray<i64>>() {
        numbers.map(|number| number.map(|number| number as i64)).collect::<PrimitiveArray<i64>>().boxed()
    } else if any.is::<PrimitiveArray<f64>>() {
        numbers.map(|number| number.map(f64::from_bits)).collect::<PrimitiveArray<f64>>().boxed()
    } else {
        numbers.collect::<PrimitiveArray<u64>>().boxed()
    }
}
