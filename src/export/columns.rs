//! Text in columns with the ellipsis of a terminal that knows UTF-8; [`crate::view::fit`] has the rules.

use crate::view::fit;
pub(super) use crate::view::fit::{left, right, width, wrap};

const ELLIPSIS: &str = "…";

/// Fits a function's name into `columns`.
pub(super) fn function(name: &str, columns: usize) -> String {
    fit::function_name(name, columns, ELLIPSIS)
}

/// Fits a text into `columns` by replacing its middle.
pub(super) fn middle(text: &str, columns: usize) -> String {
    fit::middle(text, columns, ELLIPSIS)
}

/// Fits a text into `columns` by replacing its end.
pub(super) fn end(text: &str, columns: usize) -> String {
    fit::end(text, columns, ELLIPSIS)
}
