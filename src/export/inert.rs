//! The last step of every text that is written: whatever a writer let through does not act on a terminal.

use crate::view::escape::visible;
use std::borrow::Cow;

/// A finished document as bytes. Its line ends stay; any other character that would act is made visible.
pub(super) fn document(text: String) -> Vec<u8> {
    if text.lines().all(|line| matches!(visible(line), Cow::Borrowed(_))) {
        return text.into_bytes();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for line in text.split_inclusive('\n') {
        let body = line.strip_suffix('\n').map_or(line, |body| body.strip_suffix('\r').unwrap_or(body));
        out += &visible(body);
        out += line.get(body.len()..).unwrap_or_default();
    }
    out.into_bytes()
}

/// Appends a line of which only these sequences act.
pub(super) fn push_line(out: &mut String, text: &str, colours: &[&str]) {
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        let (before, from) = rest.split_at(at);
        let colour = colours.iter().find(|colour| from.starts_with(**colour)).copied();
        *out += &visible(before);
        *out += colour.unwrap_or("␛");
        rest = from.get(colour.map_or(1, str::len)..).unwrap_or_default();
    }
    *out += &visible(rest);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_keeps_its_lines_and_nothing_else_that_acts() {
        for (text, written) in [
            ("a\r\nb\n\nc", "a\r\nb\n\nc"),
            ("", ""),
            ("a\x1b[31m\r\nb\u{202e}\n", "a␛[31m\r\nb\\u{202e}\n"),
            ("a\rb\n", "a␍b\n"),
        ] {
            assert_eq!(String::from_utf8_lossy(&document(text.to_string())), written, "{text:?}");
        }
    }

    #[test]
    fn only_the_colours_of_a_page_act() {
        let colours = ["\x1b[2m", "\x1b[0m"];
        for (text, written) in [
            ("plain", "plain\n"),
            ("\x1b[2mquiet\x1b[0m loud", "\x1b[2mquiet\x1b[0m loud\n"),
            ("\x1b[2J\x1b]0;title\x07\x1b", "␛[2J␛]0;title␇␛\n"),
            ("two\nlines", "two␊lines\n"),
        ] {
            let mut out = String::new();
            push_line(&mut out, text, &colours);
            assert_eq!(out, written, "{text:?}");
            out.clear();
            push_line(&mut out, text, &[]);
            assert!(!out.contains('\x1b'), "{out:?}");
        }
    }
}
