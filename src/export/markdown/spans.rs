//! Names and prose that cannot act as markup.

use crate::view::escape::visible;

/// A name as a code span: its fence is longer than any run of backticks in it, and a `|` cannot end its cell.
pub(in crate::export) fn code(name: &str) -> String {
    let shown = visible(name);
    if shown.trim().is_empty() {
        return String::new();
    }
    let longest = shown.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if longest > 0 { " " } else { "" };
    format!("{fence}{pad}{}{pad}{fence}", shown.replace('|', "\\|"))
}

/// Prose from a recording: everything in it is escaped, except for its own code spans.
pub(in crate::export) fn plain(text: &str) -> String {
    let mut out = String::new();
    for c in visible(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '|' | '*' | '_' | '[' | ']' | '\\' | '#' | '@' => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

/// A sentence with its names between backticks.
pub(super) fn prose(text: &str) -> String {
    let mut out = String::new();
    for (at, part) in text.split('`').enumerate() {
        out.push_str(&if at % 2 == 1 { code(part) } else { plain(part) });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_in_its_code_span_and_its_cell() {
        for (name, expected) in [
            ("std::vec::Vec<T>::push", "`std::vec::Vec<T>::push`"),
            ("operator||", "`operator\\|\\|`"),
            ("tick`s", "`` tick`s ``"),
            ("a\nb", "`a␊b`"),
            ("", ""),
        ] {
            assert_eq!(code(name), expected);
        }
    }
}
