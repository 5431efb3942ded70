//! Makes names safe to show: a function, thread or file may be called anything, even a terminal command.
//! It never changes a name that shows as what it is.

use std::borrow::Cow;
use std::fmt::Write;

/// The text with every character that would act, hide or reorder in place of showing made visible:
/// `\x1b` becomes `␛`, a right-to-left override `\u{202e}`.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.chars().all(shows) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match (shows(c), picture(c)) {
            (true, _) => out.push(c),
            (false, Some(picture)) => out.push(picture),
            // Writing to a String cannot fail.
            (false, None) => _ = write!(out, "\\u{{{:x}}}", c as u32),
        }
    }
    Cow::Owned(out)
}

/// The text as bytes give it; what is no UTF-8 becomes `\xNN`.
#[must_use]
pub fn visible_bytes(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(&visible(chunk.valid()));
        for byte in chunk.invalid() {
            _ = write!(out, "\\x{byte:02x}");
        }
    }
    out
}

fn shows(c: char) -> bool {
    !matches!(c,
        '\0'..='\x1f' | '\x7f'..='\u{9f}'
        // Soft hyphen, zero-width and joining characters, byte order mark.
        | '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{180e}'
        // Direction marks, overrides and isolates.
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
        // Line and paragraph separators.
        | '\u{2028}' | '\u{2029}'
        // Interlinear annotation, variation selectors, tags.
        | '\u{fff9}'..='\u{fffb}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}'
        // Private use: whatever the font likes. Noncharacters: XML refuses them.
        | '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{fffe}' | '\u{ffff}'
        | '\u{f0000}'..='\u{10ffff}')
}

/// Unicode's pictures of the ASCII control characters.
fn picture(c: char) -> Option<char> {
    match c {
        '\0'..='\x1f' => char::from_u32(0x2400 + c as u32),
        '\x7f' => Some('␡'),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_act_hide_or_reorder_is_made_visible() {
        for (text, expected) in [
            ("std::vec::Vec<T>::push", "std::vec::Vec<T>::push"),
            ("größe 名前 ☃", "größe 名前 ☃"),
            ("\x1b[31mred", "␛[31mred"),
            ("a\nb\tc\rd\0", "a␊b␉c␍d␀"),
            ("\u{9b}2J\x7f", "\\u{9b}2J␡"),
            ("evil\u{202e}cod.exe", "evil\\u{202e}cod.exe"),
            ("zero\u{200b}width\u{feff}", "zero\\u{200b}width\\u{feff}"),
            ("line\u{2028}break\u{ffff}", "line\\u{2028}break\\u{ffff}"),
        ] {
            assert_eq!(visible(text), expected);
        }
    }

    #[test]
    fn bytes_that_are_no_text_show_as_numbers() {
        assert_eq!(visible_bytes(b"ab\xff\xc3\xa9\xc3"), "ab\\xff\u{e9}\\xc3");
    }
}
