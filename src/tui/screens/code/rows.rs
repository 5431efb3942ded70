//! The rows, their order, and a step that summarises each row. Only the search hides rows.

use crate::tui::search::holds;
use crate::view::diff::{CodeRow, CodeView};

/// Identifies a row by its callers, name and module.
pub(super) type Key = (Vec<String>, String, String);

pub(super) fn key(row: &CodeRow) -> Key {
    (row.callers.clone(), row.name.clone(), row.module.clone())
}

/// Whether a name on the row's path, or its module, contains the text.
pub(super) fn fits(row: &CodeRow, text: &str) -> bool {
    let mut names = row.callers.iter().chain([&row.name, &row.module]);
    names.any(|name| holds(name, text))
}

/// From -2, much less, to 2, much more; 0 if chance may explain the change.
pub(super) fn step(row: &CodeRow) -> i8 {
    let much = row.new >= 2.0 * row.base || row.base >= 2.0 * row.new;
    match (row.real, row.difference < 0.0) {
        (false, _) => 0,
        (true, true) => -1 - i8::from(much),
        (true, false) => 1 + i8::from(much),
    }
}

/// The kind of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum RowKind {
    /// Functions by the cost of their own code.
    #[default]
    Functions,
    /// Call paths by the cost of their innermost function.
    Paths,
    /// Time blocked, attributed to the program's own function.
    Waits,
}

impl RowKind {
    pub fn next(self) -> RowKind {
        match self {
            RowKind::Functions => RowKind::Paths,
            RowKind::Paths => RowKind::Waits,
            RowKind::Waits => RowKind::Functions,
        }
    }

    pub fn title(self) -> &'static str {
        match self {
            RowKind::Functions => "Functions",
            RowKind::Paths => "Call paths",
            RowKind::Waits => "Waits",
        }
    }

    pub fn rows(self, code: &CodeView) -> &[CodeRow] {
        match self {
            RowKind::Functions => &code.functions,
            RowKind::Paths => &code.paths,
            RowKind::Waits => &code.waits,
        }
    }

    /// The unit of their costs.
    pub fn unit(self, code: &CodeView) -> &'static str {
        if self == RowKind::Waits { "ns" } else { code.unit }
    }
}

/// The order of the rows; the greatest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Order {
    /// Real changes first, the largest difference at the top.
    #[default]
    Change,
    /// By the ratio, up or down.
    Ratio,
    /// By the larger of the two costs.
    Cost,
}

impl Order {
    pub fn next(self) -> Order {
        match self {
            Order::Change => Order::Ratio,
            Order::Ratio => Order::Cost,
            Order::Cost => Order::Change,
        }
    }

    /// The column of this order.
    pub fn column(self) -> usize {
        match self {
            Order::Change => 5,
            Order::Ratio => 8,
            Order::Cost => 4,
        }
    }

    pub fn sort(self, rows: &mut [&CodeRow]) {
        let ratio = |row: &CodeRow| {
            let ratio = (row.new / row.base).ln().abs();
            if ratio.is_nan() { 0.0 } else { ratio }
        };
        let value = |row: &CodeRow| match self {
            Order::Change => row.difference.abs(),
            Order::Ratio => ratio(row),
            Order::Cost => row.base.max(row.new),
        };
        // The size of a change that chance may explain has no meaning.
        let chance = |row: &CodeRow| self != Order::Cost && !row.real;
        rows.sort_by(|a, b| chance(a).cmp(&chance(b)).then(value(b).total_cmp(&value(a))));
    }
}
