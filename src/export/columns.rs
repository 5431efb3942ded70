//! Fits text into columns: measures width as terminals do, and cuts names where they matter least.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Columns the text takes on a terminal.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Pads the text with spaces at its end, up to `columns`.
pub(super) fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Pads the text with spaces at its beginning, up to `columns`.
pub(super) fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Fits a function's name into `columns`: drops the parameters first, then cuts the middle. The end of a name
/// distinguishes `HashMap::insert` from `HashMap::remove`, so more of it stays than of the beginning.
pub(super) fn function(name: &str, columns: usize) -> String {
    if width(name) <= columns {
        return name.to_string();
    }
    match parameters(name) {
        Some(bare) => middle(&format!("{bare}(…)"), columns),
        None => middle(name, columns),
    }
}

/// Fits a name into `columns` by replacing its middle with `…`.
pub(super) fn middle(name: &str, columns: usize) -> String {
    if width(name) <= columns {
        return name.to_string();
    }
    if columns <= 1 {
        return "…".repeat(columns);
    }
    let head_columns = (columns - 1) / 3;
    let head = take(name.chars(), head_columns);
    let tail: String = take(name.chars().rev(), columns - 1 - width(&head)).chars().rev().collect();
    format!("{head}…{tail}")
}

/// Fits a text into `columns` by replacing its end with `…`.
pub(super) fn end(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_string();
    }
    format!("{}…", take(text.chars(), columns.saturating_sub(1)).trim_end())
}

fn take(chars: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    let fits = chars.take_while(|c| {
        used += c.width().unwrap_or(0);
        used <= columns
    });
    fits.collect()
}

/// The name before its parameter list, e.g. `db::Table::get` of `db::Table::get(Key const&) const`.
fn parameters(name: &str) -> Option<&str> {
    let end = name.strip_suffix(" const").unwrap_or(name);
    end.strip_suffix(')')?;
    let mut depth = 0_usize;
    for (at, c) in end.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            let bare = &end[..at];
            // `(anonymous namespace)` and `operator()` are names, not parameters.
            let is_name = bare.is_empty() || bare.ends_with("::") || bare.ends_with("operator");
            return (!is_name).then_some(bare);
        }
    }
    None
}

/// Wraps the text into lines of at most `columns`, at spaces where there are any.
pub(super) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut word = word.to_string();
        while width(&word) > columns {
            let part = take(word.chars(), columns);
            // A character wider than the column never fits, so stop cutting.
            if part.is_empty() {
                break;
            }
            word = word.split_off(part.len());
            push_word(&mut lines, &part, columns);
        }
        push_word(&mut lines, &word, columns);
    }
    lines
}

fn push_word(lines: &mut Vec<String>, word: &str, columns: usize) {
    match lines.last_mut() {
        Some(line) if line.is_empty() => line.push_str(word),
        Some(line) if width(line) + 1 + width(word) <= columns => {
            line.push(' ');
            line.push_str(word);
        }
        _ => lines.push(word.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_name_loses_its_parameters_then_its_middle() {
        for (name, columns, expected) in [
            ("short", 10, "short"),
            ("db::Table::get(Key const&, Value*) const", 20, "db::Table::get(…)"),
            ("std::collections::hash::map::HashMap::insert", 24, "std::co…::HashMap::insert"),
            ("(anonymous namespace)::run", 12, "(an…ce)::run"),
            ("a::(anonymous namespace)", 12, "a::…mespace)"),
            ("f((", 2, "…("),
            ("名前名前名前", 7, "名…名前"),
            ("abcdef", 1, "…"),
            ("abcdef", 0, ""),
        ] {
            let fitted = function(name, columns);
            assert!(width(&fitted) <= columns, "{fitted} is wider than {columns}");
            if width(expected) <= columns {
                assert_eq!(fitted, expected);
            }
        }
    }

    #[test]
    fn padding_counts_terminal_columns_not_characters() {
        assert_eq!((left("名", 4).as_str(), right("e\u{301}", 3).as_str()), ("名  ", "  e\u{301}"));
    }

    #[test]
    fn wrapped_lines_fit_even_without_spaces() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh i", 3), ["abc", "def", "gh", "i"]);
        assert_eq!(wrap("", 5), [""]);
    }
}
