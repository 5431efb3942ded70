//! The rows of the table: factors, costs at the same load, recorded quantities, and what could not be compared.
//! Their order is fixed and does not depend on the changes.

use crate::tui::search::holds;
use crate::view::diff::{ComparisonView, MetricRow, PartRow, Verdict, words};

/// Identifies a row by its part of the table and its name.
pub(super) type Key = (u8, String);

/// A row of the table.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Row<'a> {
    /// Starts a part of the table; its title and a remark.
    Heading(&'static str, String),
    /// A factor.
    Factor(&'a PartRow),
    /// A quantity, and whether it is measured at the same load.
    Quantity(&'a MetricRow, bool),
    /// Why something is missing.
    Text(String),
}

/// A relative change of at least this counts as much.
const MUCH: f64 = 0.05;
/// A factor that changes the time by less than this counts as unchanged.
const TRIFLE: f64 = 0.005;

impl Row<'_> {
    pub fn key(&self) -> Key {
        match self {
            Row::Heading(name, _) => (0, (*name).to_string()),
            Row::Factor(part) => (1, part.factor.to_string()),
            Row::Quantity(row, same_load) => (2 + u8::from(*same_load), row.name.to_string()),
            Row::Text(text) => (4, text.clone()),
        }
    }

    /// Whether its name contains the text.
    pub fn fits(&self, text: &str) -> bool {
        let names = match self {
            Row::Factor(part) => [part.factor, part.label],
            Row::Quantity(row, _) => [row.name, row.label],
            Row::Heading(..) | Row::Text(_) => return false,
        };
        names.iter().any(|name| holds(name, text))
    }

    /// From -2, much less, to 2, much more; 0 if it is shown to be the same; `None` if the data shows nothing.
    pub fn step(&self) -> Option<i8> {
        let (more, size) = match self {
            Row::Factor(part) if (part.ratio - 1.0).abs() < TRIFLE => return Some(0),
            Row::Factor(part) => (part.ratio > 1.0, part.ratio - 1.0),
            Row::Quantity(row, _) => match row.verdict {
                Verdict::More => (true, row.relative.or(row.difference).unwrap_or(0.0)),
                Verdict::Less => (false, row.relative.or(row.difference).unwrap_or(0.0)),
                Verdict::Same => return Some(0),
                Verdict::Undecided => return None,
            },
            Row::Heading(..) | Row::Text(_) => return None,
        };
        let step = 1 + i8::from(size.abs() >= MUCH);
        Some(if more { step } else { -step })
    }
}

/// All rows of a comparison.
pub(super) fn rows(view: &ComparisonView) -> Vec<Row<'_>> {
    let mut rows = vec![Row::Heading("What made the difference", words::factors(&view.factors))];
    rows.extend(view.factors.parts.iter().map(Row::Factor));
    if !view.adjusted.is_empty() {
        rows.push(Row::Heading("At the same load", String::new()));
        rows.extend(view.adjusted.iter().map(|row| Row::Quantity(row, true)));
    }
    rows.push(Row::Heading("As recorded", String::new()));
    rows.extend(view.notable_rows().into_iter().map(|row| Row::Quantity(row, false)));
    let missing = view.missing().into_iter();
    rows.extend(missing.map(|(why, names)| Row::Text(format!("not compared: {}: {why}", names.join(", ")))));
    rows
}
