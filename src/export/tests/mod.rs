//! Names that must not act and profiles at the edges, through every format, read back by a parser of that format.
#![expect(clippy::unwrap_used, reason = "tests")]

mod pages;
mod reports;
mod stacks;
mod sweeps;
mod tables;
mod watching;

use crate::analysis::{Axis, Selection};
use crate::error::Result;
use crate::model::profile::Profile;
use crate::view::escape::visible;
use crate::view::flame::{FlameGraph, FlameOptions};
use crate::view::sampled::Sampled;

/// Samples of the first event, and waits.
fn both() -> [Selection; 2] {
    [Selection::default(), Selection { axis: Axis::OffCpu, ..Selection::default() }]
}

/// What a format makes of a selection; `None` where the profile has no such data.
fn written(
    profile: &Profile,
    selection: &Selection,
    write: impl FnOnce(&Sampled<'_>, &mut Vec<u8>) -> Result<()>,
) -> Option<Vec<u8>> {
    let sampled = Sampled::of(profile, selection.clone(), false).ok()?;
    let mut bytes = Vec::new();
    write(&sampled, &mut bytes).unwrap();
    Some(bytes)
}

fn flame(profile: &Profile, selection: &Selection) -> FlameGraph {
    FlameGraph::build(profile, &FlameOptions { selection: selection.clone(), ..FlameOptions::default() }).unwrap()
}

/// Weight of all stacks of a selection; unlike a flame graph's total it never counts samples.
fn weight(profile: &Profile, selection: &Selection) -> u64 {
    let sampled = Sampled::of(profile, selection.clone(), false).unwrap();
    sampled.rows().flat_map(|row| row.shares()).map(|share| share.weight).sum()
}

/// Asserts that no character of a text acts on a terminal, hides or reorders.
fn assert_inert(text: &str, what: &str) {
    for line in text.lines() {
        let line = line.replace('\t', " ");
        assert_eq!(visible(&line), line, "{what} holds a character that acts");
    }
}

/// The rows of a CSV file by RFC 4180.
fn csv_rows(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
    let (mut chars, mut quoted) = (text.chars().peekable(), false);
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' if quoted => {
                quoted = false;
                assert!(matches!(chars.peek(), None | Some(',' | '\r')), "a quote ends within a cell: {cell}");
            }
            '"' => {
                assert!(cell.is_empty(), "a quote begins within a cell: {cell}");
                quoted = true;
            }
            ',' if !quoted => row.push(std::mem::take(&mut cell)),
            '\r' if !quoted => {
                assert_eq!(chars.next(), Some('\n'), "a line ends in CR LF");
                row.push(std::mem::take(&mut cell));
                rows.push(std::mem::take(&mut row));
            }
            '\n' if !quoted => panic!("a bare line break after {cell}"),
            c => cell.push(c),
        }
    }
    assert!(!quoted && row.is_empty() && cell.is_empty(), "the last line does not end: {row:?} {cell}");
    rows
}

/// Asserts that a table of CSV has equally many cells in each row, and none that a spreadsheet computes.
fn assert_csv(text: &str, what: &str) -> Vec<Vec<String>> {
    assert_inert(&text.replace("\r\n", "\n"), what);
    let rows = csv_rows(text);
    let columns = rows.first().map_or(0, Vec::len);
    for row in &rows {
        assert_eq!(row.len(), columns, "{what}: {row:?}");
        for cell in row {
            let formula = cell.trim_start().starts_with(['=', '+', '-', '@']) && cell.len() > 1;
            let formula = formula && cell.parse::<f64>().is_err();
            assert!(!formula, "{what}: a spreadsheet would compute {cell}");
        }
    }
    rows
}
