//! Makes names safe to display: the name of a function, thread or file can contain anything, even terminal commands.
//! Names that are safe already stay unchanged.

use std::borrow::Cow;
use std::fmt::Write;
use unicode_width::UnicodeWidthChar;

/// Maximum number of combining marks per character; more of them overlap the lines above and below. Vietnamese needs
/// two, Thai and Hebrew three.
const MOST_MARKS: usize = 3;

/// Replaces every character that would act, hide or reorder text with a visible form: `\x1b` becomes `␛`, a
/// right-to-left override `\u{202e}`.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    let mut base = Base::default();
    if text.is_ascii() && !text.bytes().any(|byte| byte.is_ascii_control()) || text.chars().all(|c| base.shows(c)) {
        return Cow::Borrowed(text);
    }
    let mut base = Base::default();
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match (base.shows(c), picture(c)) {
            (true, _) => out.push(c),
            (false, Some(picture)) => out.push(picture),
            // Writing to a String cannot fail.
            (false, None) => _ = write!(out, "\\u{{{:x}}}", c as u32),
        }
    }
    Cow::Owned(out)
}

/// How many marks the last character can still take; none at the start, where one would alter the preceding text.
#[derive(Default)]
struct Base {
    room: usize,
}

impl Base {
    fn shows(&mut self, c: char) -> bool {
        let mark = !c.is_ascii() && c.width() == Some(0);
        match (shows(c), mark) {
            (true, true) if self.room > 0 => self.room -= 1,
            (true, false) => self.room = MOST_MARKS,
            (true, true) => return false,
            // The visible form ends in a bracket or a picture, which can carry marks again.
            (false, _) => {
                self.room = MOST_MARKS;
                return false;
            }
        }
        true
    }
}

fn shows(c: char) -> bool {
    !matches!(c,
        '\0'..='\x1f' | '\x7f'..='\u{9f}'
        // Soft hyphen, zero-width and joining characters, byte order mark.
        | '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}'
        // Direction marks, overrides and isolates.
        | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
        // Joiners and fillers that display as nothing; skin tones, whose width differs between terminals.
        | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2065}'
        | '\u{3164}' | '\u{ffa0}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{1f3fb}'..='\u{1f3ff}'
        // Line and paragraph separators.
        | '\u{2028}' | '\u{2029}'
        // Interlinear annotation, variation selectors, tags.
        | '\u{fff9}'..='\u{fffb}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}'
        // Private use: the font decides. Noncharacters: invalid in XML.
        | '\u{e000}'..='\u{f8ff}' | '\u{fdd0}'..='\u{fdef}' | '\u{fffe}' | '\u{ffff}'
        | '\u{f0000}'..='\u{10ffff}')
}

/// Unicode's symbols for the ASCII control characters.
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
    use proptest::prelude::*;

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
            ("שלום \u{5e9}\u{5b8}\u{5c1}", "שלום \u{5e9}\u{5b8}\u{5c1}"),
            ("e\u{301}\u{302}\u{303}\u{304}\u{305}x\u{301}", "e\u{301}\u{302}\u{303}\\u{304}\\u{305}x\u{301}"),
            ("\u{301}first", "\\u{301}first"),
            ("\u{3164}👩🏽", "\\u{3164}👩\\u{1f3fd}"),
            ("line\u{2028}break\u{ffff}", "line\\u{2028}break\\u{ffff}"),
        ] {
            assert_eq!(visible(text), expected);
        }
    }

    #[test]
    fn every_direction_control_is_made_visible() {
        let controls = ['\u{61c}', '\u{200e}', '\u{200f}'].into_iter().chain('\u{202a}'..='\u{202e}');
        for c in controls.chain('\u{2066}'..='\u{2069}') {
            assert!(visible(&format!("a{c}b")).starts_with("a\\u{"), "{:x}", c as u32);
        }
    }

    #[test]
    fn what_is_visible_stays_as_it_is() {
        for text in ["\x1b[2J\u{202e}e\u{301}\u{301}\u{301}\u{301}\u{301}", "\u{301}", "\u{3164}"] {
            let once = visible(text).into_owned();
            assert_eq!(visible(&once), once);
        }
    }

    proptest! {
        #[test]
        fn any_text_shows_as_inert_text_of_its_own(text in ".{0,40}", other in ".{0,40}") {
            let shown = visible(&text).into_owned();
            prop_assert_eq!(visible(&shown), shown.as_str());
            prop_assert!(shown.chars().all(|c| !c.is_control()), "{shown:?}");
            prop_assert_eq!(text.is_empty(), shown.is_empty());
            // A line break cannot be made by joining what is inert.
            let joined = format!("{shown} {}", visible(&other));
            prop_assert_eq!(joined.lines().count(), usize::from(!joined.is_empty()));
        }

        #[test]
        fn text_without_escapes_is_not_copied(text in "[ -~äöüéß名前]{0,40}") {
            prop_assert!(matches!(visible(&text), Cow::Borrowed(_)));
        }
    }
}
