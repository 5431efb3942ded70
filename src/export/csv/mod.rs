//! The report's main table for spreadsheets and scripts: RFC 4180, lines ending in CR LF.
//! A name that begins like a formula gets an apostrophe before it, as spreadsheets expect.

mod sweep;

pub use sweep::sweep;

use crate::export::inert;
use crate::view::CodeKind;
use crate::view::escape::visible;
use crate::view::report::{FunctionRow, Report};

/// Functions, or the requested groups in their place. Shares are 0 to 1.
#[must_use]
pub fn report(report: &Report) -> Vec<u8> {
    let mut out = String::new();
    let (what, rows) = match &report.groups {
        Some(groups) => (groups.by, &groups.rows),
        None => ("function", &report.functions),
    };
    let weight = |part: &str| format!("{part}_weight_{}", report.selection.unit);
    line(
        &mut out,
        &[
            what.to_string(),
            "module".to_string(),
            "kind".to_string(),
            "self_share".to_string(),
            "self_error".to_string(),
            "total_share".to_string(),
            "self_samples".to_string(),
            "total_samples".to_string(),
            weight("self"),
            weight("total"),
            "samples_coverage".to_string(),
        ],
    );
    let coverage = report.samples.coverage.value().map_or(String::new(), |share| share.to_string());
    rows.iter().for_each(|row| line(&mut out, &cells(row, &coverage)));
    inert::document(out)
}

fn cells(row: &FunctionRow, coverage: &str) -> Vec<String> {
    let kind = match row.kind {
        CodeKind::User => "user",
        CodeKind::Kernel => "kernel",
        CodeKind::Jit => "jit",
        CodeKind::Heading => "",
    };
    vec![
        text(&row.name),
        text(&row.module),
        kind.to_string(),
        row.self_share.to_string(),
        row.self_error.map_or(String::new(), |error| error.to_string()),
        row.total_share.to_string(),
        row.self_samples.to_string(),
        row.total_samples.to_string(),
        row.self_weight.to_string(),
        row.total_weight.to_string(),
        coverage.to_string(),
    ]
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
