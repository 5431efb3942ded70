//! Measures, cuts and wraps text by display columns. Combining characters stay with their base character.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The width of a text in columns.
#[must_use]
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text with spaces at its end, up to `columns`.
#[must_use]
pub fn left(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The text with spaces at its beginning, up to `columns`.
#[must_use]
pub fn right(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The beginning of a text, at most `columns` wide; an ellipsis replaces the rest.
#[must_use]
pub fn end(text: &str, columns: usize, ellipsis: &str) -> String {
    if width(text) <= columns {
        return text.to_string();
    }
    let room = columns.saturating_sub(width(ellipsis));
    let head = &text[..prefix(text, room)];
    if columns < width(ellipsis) { String::new() } else { format!("{head}{ellipsis}") }
}

/// The end of a text, at most `columns` wide; an ellipsis replaces the rest.
#[must_use]
pub fn front(text: &str, columns: usize, ellipsis: &str) -> String {
    if width(text) <= columns {
        return text.to_string();
    }
    let room = columns.saturating_sub(width(ellipsis));
    let tail = &text[suffix(text, room)..];
    if columns < width(ellipsis) { String::new() } else { format!("{ellipsis}{tail}") }
}

/// Both ends of a text, for paths and titles: both hold what distinguishes them. Names of functions are cut by
/// [`function_name`](super::function_name).
#[must_use]
pub fn middle(text: &str, columns: usize, ellipsis: &str) -> String {
    if width(text) <= columns {
        return text.to_string();
    }
    if columns < 8 {
        return end(text, columns, ellipsis);
    }
    let room = columns - width(ellipsis);
    let head = &text[..prefix(text, room / 3)];
    let tail = &text[suffix(text, room - width(head))..];
    format!("{head}{ellipsis}{tail}")
}

/// Wraps the text into lines of at most `columns`, between words where possible.
#[must_use]
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let mut word = word;
        loop {
            let line = lines.last_mut().map_or(0, |line| width(line));
            let space = usize::from(line > 0);
            if line + space + width(word) <= columns || columns == 0 {
                if let Some(last) = lines.last_mut() {
                    last.push_str(if space == 1 { " " } else { "" });
                    last.push_str(word);
                }
                break;
            }
            if line > 0 {
                lines.push(String::new());
                continue;
            }
            // A word longer than a line is broken, after at least one character.
            let first = word.chars().next().map_or(0, char::len_utf8);
            let (head, rest) = word.split_at(prefix(word, columns).max(first));
            if let Some(last) = lines.last_mut() {
                last.push_str(head);
            }
            if rest.is_empty() {
                break;
            }
            lines.push(String::new());
            word = rest;
        }
    }
    lines
}

/// What a character adds to the width of a text, at most.
fn added_width(c: char) -> usize {
    /// Makes the character before it as wide as an emoji.
    const EMOJI: char = '\u{fe0f}';
    if c == EMOJI { 1 } else { c.width().unwrap_or(0) }
}

/// Bytes of the longest beginning that is at most `columns` wide.
fn prefix(text: &str, columns: usize) -> usize {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += added_width(c);
        if used > columns {
            return at;
        }
    }
    text.len()
}

/// Start of the longest end that is at most `columns` wide; it does not start with a combining character.
fn suffix(text: &str, columns: usize) -> usize {
    let mut used = 0;
    let mut start = text.len();
    for (at, c) in text.char_indices().rev() {
        used += added_width(c);
        if used > columns {
            break;
        }
        if c.width().unwrap_or(0) > 0 {
            start = at;
        }
    }
    start
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_is_cut_by_columns() {
        for (text, columns, at_end, at_front, in_middle) in [
            ("short", 10, "short", "short", "short"),
            ("a_long_name", 5, "a_lo…", "…name", "a_lo…"),
            ("std::vec::push_back", 12, "std::vec::p…", "…::push_back", "std…ush_back"),
            ("日本語の名前", 5, "日本…", "…名前", "日本…"),
            ("anything", 0, "", "", ""),
            ("10\u{fe0f}", 2, "1…", "…", "1…"),
        ] {
            let cut = (end(text, columns, "…"), front(text, columns, "…"), middle(text, columns, "…"));
            assert_eq!(cut, (at_end.to_string(), at_front.to_string(), in_middle.to_string()), "{text} {columns}");
        }
    }

    #[test]
    fn padding_counts_terminal_columns_not_characters() {
        assert_eq!((left("名", 4).as_str(), right("e\u{301}", 3).as_str()), ("名  ", "  e\u{301}"));
    }

    #[test]
    fn lines_break_between_words_and_long_words_anywhere() {
        assert_eq!(wrap("the quick brown fox", 10), ["the quick", "brown fox"]);
        assert_eq!(wrap("a verylongword b", 6), ["a", "verylo", "ngword", "b"]);
        assert_eq!(wrap("日本語", 3), ["日", "本", "語"]);
        assert_eq!(wrap("", 5), [""]);
    }

    proptest! {
        #[test]
        fn nothing_is_ever_wider_than_asked(text in "\\PC{0,40}", columns in 0_usize..50) {
            for cut in [end(&text, columns, "…"), front(&text, columns, "…"), middle(&text, columns, "~")] {
                prop_assert!(width(&cut) <= columns, "{cut:?}");
            }
            for line in wrap(&text, columns.max(2)) {
                prop_assert!(width(&line) <= columns.max(2), "{line:?}");
            }
        }
    }
}
