//! Answers of an engine for tests.

use crate::model::{ResultColumn, ResultTable};

/// A table of numbers and texts, by columns.
pub(in crate::analysis::fleet) fn table(texts: &[(&str, Vec<&str>)], numbers: &[(&str, Vec<f64>)]) -> ResultTable {
    let rows = texts.first().map(|column| column.1.len()).or(numbers.first().map(|column| column.1.len()));
    let texts = texts.iter().map(|(name, values)| {
        let values = values.iter().map(|value| Some((*value).to_string())).collect();
        ((*name).to_string(), ResultColumn::Texts(values))
    });
    let numbers = numbers.iter().map(|(name, values)| {
        let values = values.iter().map(|value| Some(*value).filter(|value| !value.is_nan())).collect();
        ((*name).to_string(), ResultColumn::Numbers(values))
    });
    ResultTable { rows: rows.unwrap_or(0), columns: texts.chain(numbers).collect() }
}

/// The columns of a ratio's sums for one row.
pub(in crate::analysis::fleet) fn ratio_columns(name: &str, hosts: &[(f64, f64)]) -> Vec<(String, f64)> {
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| hosts.iter().map(of).sum::<f64>();
    [
        ("hosts", hosts.len() as f64),
        ("y", sum(&|host| host.0)),
        ("x", sum(&|host| host.1)),
        ("yy", sum(&|host| host.0 * host.0)),
        ("yx", sum(&|host| host.0 * host.1)),
        ("xx", sum(&|host| host.1 * host.1)),
    ]
    .map(|(part, value)| (format!("{name}_{part}"), value))
    .to_vec()
}
