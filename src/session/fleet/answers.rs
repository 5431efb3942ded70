//! What engines print: an answer or an error, in a line of JSON.

use crate::error::{Error, ErrorKind, Result};
use crate::model::{ResultColumn, ResultTable};
use serde::Deserialize;
use std::io::Read;

/// The end of what an engine says on its standard error, of which the last error is shown.
const SAID_BYTES: usize = 64 << 10;

/// An answer, column by column.
#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    rows: usize,
    columns: Vec<(String, Values)>,
}

/// The form stands before the values, so that they are read into their vector at once.
#[derive(Debug, Deserialize)]
#[serde(tag = "form", content = "values", rename_all = "lowercase")]
enum Values {
    Integer(Vec<Option<i64>>),
    /// Integers of which some are greater than any signed one.
    Unsigned(Vec<Option<u64>>),
    Number(Vec<Option<Number>>),
    Text(Vec<Option<String>>),
    Boolean(Vec<Option<bool>>),
}

/// JSON has neither infinities nor NaN: these come as texts.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Number {
    Finite(f64),
    Text(String),
}

impl Answer {
    /// As a table.
    ///
    /// # Errors
    /// `Corrupt` if a column has more or fewer values than there are rows.
    pub fn table(self) -> Result<ResultTable> {
        let rows = self.rows;
        let columns = self.columns.into_iter().map(|(name, values)| {
            let values = match values {
                Values::Integer(values) => ResultColumn::Integers(values),
                Values::Unsigned(values) => ResultColumn::Unsigned(values),
                Values::Number(values) => ResultColumn::Numbers(
                    values.into_iter().map(|it| it.map(number).transpose()).collect::<Result<_>>()?,
                ),
                Values::Text(values) => ResultColumn::Texts(values),
                Values::Boolean(values) => ResultColumn::Booleans(values),
            };
            if values.len() != rows {
                let text = format!("the column {name} of an answer has {} values for {rows} rows", values.len());
                return Err(Error::new(ErrorKind::Corrupt, text));
            }
            Ok((name, values))
        });
        Ok(ResultTable { rows, columns: columns.collect::<Result<_>>()? })
    }
}

fn number(cell: Number) -> Result<f64> {
    match cell {
        Number::Finite(value) => Ok(value),
        Number::Text(text) => {
            text.parse().map_err(|_| Error::new(ErrorKind::Corrupt, format!("an answer has the number '{text}'")))
        }
    }
}

/// The end of a stream.
pub(super) fn end_of(mut stream: impl Read) -> String {
    let (mut kept, mut chunk) = (Vec::new(), [0; 4096]);
    while let Ok(read @ 1..) = stream.read(&mut chunk) {
        kept.extend_from_slice(&chunk[..read]);
        let surplus = kept.len().saturating_sub(SAID_BYTES);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<ResultTable> {
        serde_json::from_str::<Answer>(json).unwrap().table()
    }

    #[test]
    fn an_answer_keeps_its_types_and_its_nulls() {
        let json = r#"{"name":"q","rows":2,"columns":[["job",{"form":"text","values":["a",null]}],
            ["n",{"form":"integer","values":[3,-4]}],["x",{"form":"number","values":[0.5,null]}],
            ["y",{"form":"number","values":["0.1","-inf"]}],
            ["u",{"form":"unsigned","values":[18446744073709551615,null]}]]}"#;
        let table = read(json).unwrap();
        assert_eq!(table.rows, 2);
        assert_eq!(table.texts("job").unwrap(), [Some("a"), None]);
        assert_eq!(table.integers("n").unwrap(), [Some(3), Some(-4)]);
        assert_eq!(table.numbers("x").unwrap(), [Some(0.5), None]);
        assert_eq!(table.numbers("y").unwrap(), [Some(0.1), Some(f64::NEG_INFINITY)]);
        assert_eq!(table.columns[4].1, ResultColumn::Unsigned(vec![Some(u64::MAX), None]));
        assert!(read(r#"{"rows":1,"columns":[["a",{"form":"text","values":[]}]]}"#).is_err());
        assert!(read(r#"{"rows":1,"columns":[["a",{"form":"number","values":["x"]}]]}"#).is_err());
    }
}
