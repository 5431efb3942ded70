//! The report's main table for spreadsheets and scripts: RFC 4180, lines ending in CR LF.
//! A name that begins like a formula gets an apostrophe before it, as spreadsheets expect.

mod sweep;

pub use sweep::sweep;

use crate::export::inert;
use crate::view::CodeKind;
use crate::view::escape::visible;
use crate::view::report::{FunctionRow, Report, key_values};

/// Functions, or the requested groups in their place. Shares are 0 to 1.
#[must_use]
pub fn report(report: &Report) -> Vec<u8> {
    let mut out = String::new();
    let (what, rows) = match &report.groups {
        Some(groups) => (groups.by.as_str(), &groups.rows),
        None => ("function", &report.functions),
    };
    let weight = |part: &str| format!("{part}_weight_{}", report.selection.unit);
    let mut head: Vec<String> = what.split(',').map(str::to_string).collect();
    // Of several keys, one may be the module.
    if !what.contains(',') {
        head.push("module".to_string());
    }
    head.extend(
        ["kind", "self_share", "self_error", "total_share", "self_samples", "total_samples"].map(str::to_string),
    );
    head.extend([weight("self"), weight("total"), "samples_coverage".to_string()]);
    if report.row_ipc().is_some() {
        head.extend(["ipc", "ipc_error", "mpki"].map(str::to_string));
    }
    line(&mut out, &head);
    let coverage = report.samples.coverage.value().map_or(String::new(), |share| share.to_string());
    rows.iter().for_each(|row| line(&mut out, &cells(what, row, &coverage)));
    inert::document(out)
}

fn cells(what: &str, row: &FunctionRow, coverage: &str) -> Vec<String> {
    let kind = match row.kind {
        CodeKind::User => "user",
        CodeKind::Kernel => "kernel",
        CodeKind::Jit => "jit",
        CodeKind::Heading => "",
    };
    let mut cells: Vec<String> = key_values(what, &row.name).into_iter().map(text).collect();
    if !what.contains(',') {
        cells.push(text(&row.module));
    }
    cells.extend([
        kind.to_string(),
        row.self_share.to_string(),
        row.self_error.map_or(String::new(), |error| error.to_string()),
        row.total_share.to_string(),
        row.self_samples.to_string(),
        row.total_samples.to_string(),
        row.self_weight.to_string(),
        row.total_weight.to_string(),
        coverage.to_string(),
    ]);
    // An empty cell is a missing value.
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let rates = row.rates.iter();
    cells.extend(rates.flat_map(|rates| [rates.ipc.value(), rates.ipc_error, rates.mpki.value()]).map(number));
    cells
}

pub(super) fn text(name: &str) -> String {
    let shown = visible(name);
    let formula = shown.trim_start().starts_with(['=', '+', '-', '@']);
    format!("{}{shown}", if formula { "'" } else { "" })
}

pub(super) fn line(out: &mut String, cells: &[String]) {
    cells_of(out, cells);
    out.push_str("\r\n");
}

/// Appends cells to a line.
pub(super) fn cells_of(out: &mut String, cells: &[String]) {
    for (at, cell) in cells.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        if cell.contains([',', '"', '\r', '\n']) || cell.starts_with(' ') || cell.ends_with(' ') {
            out.push('"');
            out.push_str(&cell.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(cell);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_neither_breaks_its_row_nor_becomes_a_formula() {
        for (name, expected) in [
            ("plain", "plain\r\n"),
            ("a,b", "\"a,b\"\r\n"),
            ("say \"hi\"", "\"say \"\"hi\"\"\"\r\n"),
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0\r\n"),
            (" +1", "' +1\r\n"),
            ("-[NSObject init]", "'-[NSObject init]\r\n"),
            ("two\nlines", "two␊lines\r\n"),
        ] {
            let mut out = String::new();
            line(&mut out, &[text(name)]);
            assert_eq!(out, expected);
        }
    }
}
