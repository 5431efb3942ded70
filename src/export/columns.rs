//! Text in columns with the ellipsis of a terminal that knows UTF-8; [`crate::view::fit`] has the rules.

use crate::view::fit;
pub(super) use crate::view::fit::{left, right, width, wrap};
use std::borrow::Cow;

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

/// A text as the beginning of a sentence or a heading.
pub(super) fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}

/// Columns of the first name of a chain on a terminal, which leaves room for its callers.
const FIRST: usize = 48;
/// Columns of each further name, and those that a cut one needs to be recognised.
const FURTHER: (usize, usize) = (28, 12);
/// Columns from which a chain without a terminal only counts the names that follow.
const CHAIN: usize = 100;

/// Joins names of functions, the most important first: on a terminal as many as fit into `room`, each cut on its own;
/// without one (`room` is `usize::MAX`) whole names, the last ones counted.
pub(super) fn chain(names: &[Cow<'_, str>], glue: &str, room: usize) -> String {
    let (most, least) = if room == usize::MAX { (room, 0) } else { FURTHER };
    let Some((first, others)) = names.split_first() else { return String::new() };
    let alone = others.is_empty() || room == usize::MAX;
    let mut out = function(first, if alone { room } else { room.min(FIRST) });
    for (at, name) in others.iter().enumerate() {
        if room == usize::MAX && width(&out) >= CHAIN {
            return format!("{out}{glue}{} more", others.len() - at);
        }
        let left = room.saturating_sub(width(&out) + width(glue));
        if left < least.min(width(name)) {
            break;
        }
        out = format!("{out}{glue}{}", function(name, left.min(most)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_has_what_fits_on_a_terminal_and_whole_names_without_one() {
        let names = |text: &str| text.split(' ').map(|name| Cow::from(name.to_string())).collect::<Vec<_>>();
        let long = "x".repeat(60);
        for (list, room, expected) in [
            (names("a"), 10, "a".to_string()),
            (names("read main start"), 40, "read < main < start".to_string()),
            (names("read main start"), 14, "read < main".to_string()),
            (names("read main start"), 10, "read".to_string()),
            (names(&format!("read {long} b")), 40, format!("read < {}… < b", "x".repeat(27))),
            (names(&format!("read {long} b")), 38, format!("read < {}…", "x".repeat(27))),
            (names(&format!("read {long} b")), usize::MAX, format!("read < {long} < b")),
            (names(&format!("{long} {long} b c")), usize::MAX, format!("{long} < {long} < 2 more")),
            (names(&format!("{long} main")), 80, format!("{}… < main", "x".repeat(47))),
            (names(&long), 80, long.clone()),
            (vec![], 10, String::new()),
        ] {
            assert_eq!(chain(&list, " < ", room), expected, "{list:?} in {room}");
        }
    }
}
