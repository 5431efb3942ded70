//! The answer to a query: text in columns, JSON, CSV, Parquet. Names come from profiled programs: nothing in them acts on
//! a terminal or in a spreadsheet.

use super::columns::width;
use super::quote::quoted;
use crate::error::Result;
use crate::model::{ResultColumn, ResultTable};
use crate::tables::{Table, to_parquet};
use crate::view::escape::visible;

/// Columns as wide as their values, numbers to the right; the last line counts the rows.
#[must_use]
pub fn text(table: &ResultTable) -> Vec<u8> {
    let cells: Vec<Vec<String>> = table
        .columns
        .iter()
        .map(|(_, values)| (0..table.rows).map(|row| cell(values, row).unwrap_or_else(|| "-".to_string())).collect())
        .collect();
    let names: Vec<_> = table.columns.iter().map(|(name, _)| visible(name)).collect();
    let widths: Vec<usize> = (cells.iter().zip(&names))
        .map(|(cells, name)| cells.iter().map(|cell| width(cell)).chain([width(name)]).max().unwrap_or(0))
        .collect();
    let mut out = String::new();
    let mut line = |texts: &mut dyn Iterator<Item = &str>| {
        let padded = texts.zip(&table.columns).zip(&widths).map(|((text, (_, values)), most)| {
            let space = " ".repeat(most.saturating_sub(width(text)));
            if matches!(values, ResultColumn::Integers(_) | ResultColumn::Unsigned(_) | ResultColumn::Numbers(_)) {
                format!("{space}{text}")
            } else {
                format!("{text}{space}")
            }
        });
        out.push_str(padded.collect::<Vec<_>>().join("  ").trim_end());
        out.push('\n');
    };
    line(&mut names.iter().map(AsRef::as_ref));
    for row in 0..table.rows {
        line(&mut cells.iter().map(|cells| cells[row].as_str()));
    }
    out.push_str(&format!("({} {})\n", table.rows, if table.rows == 1 { "row" } else { "rows" }));
    out.into_bytes()
}

/// An array of objects, one a line.
#[must_use]
pub fn json(table: &ResultTable) -> Vec<u8> {
    let rows = (0..table.rows).map(|row| {
        let members = table.columns.iter().map(|(name, values)| {
            let value = match values {
                ResultColumn::Texts(values) => values[row].as_deref().map(quoted),
                // JSON has neither infinities nor NaN.
                ResultColumn::Numbers(values) => {
                    values[row].filter(|value| value.is_finite()).map(|value| value.to_string())
                }
                values => cell(values, row),
            };
            format!("{}:{}", quoted(name), value.unwrap_or_else(|| "null".to_string()))
        });
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    });
    format!("[{}]\n", rows.collect::<Vec<_>>().join(",\n ")).into_bytes()
}

/// Lines as in RFC 4180; an empty cell is a null.
#[must_use]
pub fn csv(table: &ResultTable) -> Vec<u8> {
    let mut out = String::new();
    super::csv::line(&mut out, &table.columns.iter().map(|(name, _)| super::csv::text(name)).collect::<Vec<_>>());
    for row in 0..table.rows {
        let cells = table.columns.iter().map(|(_, values)| match values {
            ResultColumn::Texts(values) => values[row].as_deref().map_or(String::new(), super::csv::text),
            values => cell(values, row).unwrap_or_default(),
        });
        super::csv::line(&mut out, &cells.collect::<Vec<_>>());
    }
    super::inert::document(out)
}

/// One Parquet file.
///
/// # Errors
/// If two columns have the same name.
pub fn parquet(table: &ResultTable) -> Result<Vec<u8>> {
    let mut builder = Table::builder(table.rows);
    for (name, values) in &table.columns {
        builder = match values {
            ResultColumn::Integers(values) => builder.opt_i64(name, values.iter().copied()),
            ResultColumn::Unsigned(values) => builder.opt_u64(name, values.iter().copied()),
            ResultColumn::Numbers(values) => builder.opt_f64(name, values.iter().copied()),
            ResultColumn::Texts(values) => builder.opt_text(name, values.iter().map(Option::as_deref)),
            ResultColumn::Booleans(values) => builder.opt_bool(name, values.iter().copied()),
        };
    }
    to_parquet(&builder.build()?)
}

fn cell(values: &ResultColumn, row: usize) -> Option<String> {
    match values {
        ResultColumn::Integers(values) => values[row].map(|value| value.to_string()),
        ResultColumn::Unsigned(values) => values[row].map(|value| value.to_string()),
        ResultColumn::Numbers(values) => values[row].map(|value| value.to_string()),
        ResultColumn::Texts(values) => values[row].as_deref().map(|text| visible(text).into_owned()),
        ResultColumn::Booleans(values) => values[row].map(|value| value.to_string()),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::tables::from_parquet;

    fn table() -> ResultTable {
        ResultTable {
            rows: 2,
            columns: vec![
                ("function".into(), ResultColumn::Texts(vec![Some("=a\u{1b}[2J\"".into()), None])),
                ("samples".into(), ResultColumn::Integers(vec![Some(5), Some(-1200)])),
                ("share".into(), ResultColumn::Numbers(vec![Some(f64::NAN), Some(0.25)])),
                ("address".into(), ResultColumn::Unsigned(vec![Some(u64::MAX), None])),
                ("kernel".into(), ResultColumn::Booleans(vec![Some(true), None])),
            ],
        }
    }

    #[test]
    fn text_has_its_numbers_to_the_right_and_a_dash_for_a_null() {
        let text = String::from_utf8(text(&table())).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[0], "function  samples  share               address  kernel");
        assert_eq!(lines[2], "-           -1200   0.25                     -  -");
        assert_eq!(lines[3], "(2 rows)");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }

    #[test]
    fn json_and_csv_hold_nothing_that_acts() {
        let json: serde_json::Value = serde_json::from_slice(&json(&table())).unwrap();
        assert_eq!(json[0]["function"], "=a\u{1b}[2J\"");
        assert_eq!(json[0]["share"], serde_json::Value::Null);
        assert_eq!(json[1]["samples"], -1200);
        assert_eq!(json[0]["address"], u64::MAX);
        assert_eq!(json[1]["kernel"], serde_json::Value::Null);
        let csv = String::from_utf8(csv(&table())).unwrap();
        assert!(csv.lines().nth(1).unwrap().contains("'=a"), "{csv}");
        assert!(csv.lines().nth(2).unwrap().starts_with(",-1200,0.25,"), "{csv}");
    }

    #[test]
    fn a_parquet_file_reads_back() {
        let read = from_parquet(&parquet(&table()).unwrap()).unwrap();
        assert_eq!(read.rows(), 2);
        assert_eq!(read.opt_text("function").unwrap()[1], None);
        assert_eq!(read.opt_i64("samples").unwrap(), [Some(5), Some(-1200)]);
        assert_eq!(read.opt_u64("address").unwrap(), [Some(u64::MAX), None]);
        assert_eq!(read.opt_bool("kernel").unwrap(), [Some(true), None]);
    }
}
