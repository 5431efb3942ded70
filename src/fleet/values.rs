//! Answers as JSON: columns of integers, numbers, texts and truth values.

use crate::protocol::{Error, Kind};
use polars::prelude::*;
use serde::Serialize;

/// An answer.
#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    rows: usize,
    columns: Vec<(String, Values)>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "form", content = "values", rename_all = "lowercase")]
enum Values {
    Integer(Vec<Option<i64>>),
    /// Integers of which some are greater than any signed one.
    Unsigned(Vec<Option<u64>>),
    /// As texts, which are read back exactly, and may be infinite or no number.
    Number(Vec<Option<String>>),
    Text(Vec<Option<String>>),
    Boolean(Vec<Option<bool>>),
}

impl Answer {
    pub fn of(answer: &DataFrame) -> Result<Answer, Error> {
        let columns = answer.columns().iter().map(|column| Ok((column.name().to_string(), values(column)?)));
        Ok(Answer { rows: answer.height(), columns: columns.collect::<Result<_, _>>()? })
    }
}

fn values(column: &Column) -> Result<Values, Error> {
    let unsupported = |what: &str| {
        Error::new(Kind::Unsupported, format!("the column {} {what}", column.name()))
            .hint("CAST it to another type: BIGINT, DOUBLE, VARCHAR or BOOLEAN.")
    };
    let failed = |error: PolarsError| unsupported(&format!("cannot be shown: {error}"));
    let wider = |kind: &DataType| column.cast(kind).map_err(failed);
    Ok(match column.dtype() {
        DataType::Boolean => Values::Boolean(column.bool().map_err(failed)?.iter().collect()),
        DataType::String => texts(column).map_err(failed)?,
        DataType::Date => texts(&wider(&DataType::String)?).map_err(failed)?,
        DataType::Null => Values::Integer(vec![None; column.len()]),
        kind if kind.is_integer() => {
            integers(&wider(&DataType::Int128)?).ok_or_else(|| unsupported("has integers of more than 64 bits"))?
        }
        kind if kind.is_float() || kind.is_decimal() => {
            let numbers = wider(&DataType::Float64)?;
            let numbers = numbers.f64().map_err(failed)?.iter();
            Values::Number(numbers.map(|value| value.map(|value| format!("{value:?}"))).collect())
        }
        kind => return Err(unsupported(&format!("is of the type {kind}, which cannot be shown"))),
    })
}

fn texts(column: &Column) -> PolarsResult<Values> {
    Ok(Values::Text(column.str()?.iter().map(|text| text.map(String::from)).collect()))
}

/// `None` if they do not fit.
fn integers(column: &Column) -> Option<Values> {
    let wide = || column.i128().ok().into_iter().flat_map(|values| values.iter());
    let signed = wide().map(|value| value.map(i64::try_from).transpose().ok()).collect::<Option<_>>();
    let unsigned = || wide().map(|value| value.map(u64::try_from).transpose().ok()).collect::<Option<_>>();
    signed.map(Values::Integer).or_else(|| unsigned().map(Values::Unsigned))
}
