//! An editable line: a search text, a file name. It contains no line breaks and no control characters.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// The text and the cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    text: String,
    /// Byte index into the text, at a character boundary.
    cursor: usize,
}

impl Line {
    /// Creates a line with the cursor at its end.
    #[must_use]
    pub fn new(text: &str) -> Line {
        let mut line = Line::default();
        line.insert(text);
        line
    }

    /// The typed text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text before the cursor.
    #[must_use]
    pub fn before_cursor(&self) -> &str {
        &self.text[..self.cursor]
    }

    /// Inserts typed or pasted text without its control characters.
    pub fn insert(&mut self, text: &str) {
        let kept: String = text.chars().filter(|c| !c.is_control()).collect();
        self.text.insert_str(self.cursor, &kept);
        self.cursor += kept.len();
    }

    /// Edits as shells do; returns false if the key does not edit.
    pub fn edit(&mut self, key: KeyEvent) -> bool {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let other = key.modifiers.intersects(KeyModifiers::ALT | KeyModifiers::SUPER);
        match key.code {
            KeyCode::Char('u') if control => drop(self.text.drain(..std::mem::take(&mut self.cursor))),
            KeyCode::Char('k') if control => self.text.truncate(self.cursor),
            KeyCode::Char('w') if control => self.remove_back_to(self.word_start()),
            KeyCode::Char('a') if control => self.cursor = 0,
            KeyCode::Char('e') if control => self.cursor = self.text.len(),
            KeyCode::Char('h') if control => self.remove_back_to(self.previous()),
            KeyCode::Char(c) if !control && !other => self.insert(c.encode_utf8(&mut [0; 4])),
            KeyCode::Backspace => self.remove_back_to(self.previous()),
            KeyCode::Delete => drop(self.text.drain(self.cursor..self.next())),
            KeyCode::Left => self.cursor = self.previous(),
            KeyCode::Right => self.cursor = self.next(),
            KeyCode::Home => self.cursor = 0,
            KeyCode::End => self.cursor = self.text.len(),
            _ => return false,
        }
        true
    }

    fn previous(&self) -> usize {
        self.before_cursor().char_indices().next_back().map_or(0, |(at, _)| at)
    }

    fn next(&self) -> usize {
        let width = self.text[self.cursor..].chars().next().map_or(0, char::len_utf8);
        self.cursor + width
    }

    fn word_start(&self) -> usize {
        let before = self.before_cursor().trim_end();
        before.rfind(char::is_whitespace).map_or(0, |at| at + 1)
    }

    fn remove_back_to(&mut self, from: usize) {
        self.text.drain(from..self.cursor);
        self.cursor = from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(line: &mut Line, keys: &str) {
        for key in keys.split(' ') {
            let (code, modifiers) = match key {
                "Left" => (KeyCode::Left, KeyModifiers::NONE),
                "Right" => (KeyCode::Right, KeyModifiers::NONE),
                "BS" => (KeyCode::Backspace, KeyModifiers::NONE),
                "Del" => (KeyCode::Delete, KeyModifiers::NONE),
                key if key.starts_with("C-") => {
                    (KeyCode::Char(key.chars().last().unwrap_or(' ')), KeyModifiers::CONTROL)
                }
                key => (KeyCode::Char(key.chars().next().unwrap_or(' ')), KeyModifiers::NONE),
            };
            assert!(line.edit(KeyEvent::new(code, modifiers)), "{key}");
        }
    }

    #[test]
    fn it_is_edited_as_in_a_shell() {
        for (start, keys, expected) in [
            ("", "a b c", "abc"),
            ("abc", "Left Left x", "axbc"),
            ("größe", "BS BS BS x", "grx"),
            ("ab", "C-a x", "xab"),
            ("ab", "C-a Del", "b"),
            ("ab", "C-a Del Del Del C-e z", "z"),
            ("one two", "C-w x", "one x"),
            ("one two ", "C-w C-w C-w", ""),
            ("one", "Left C-u", "e"),
            ("one", "Left C-k", "on"),
            ("日本", "Left BS", "本"),
        ] {
            let mut line = Line::new(start);
            press(&mut line, keys);
            assert_eq!(line.text(), expected, "{start} {keys}");
        }
    }

    #[test]
    fn what_is_pasted_cannot_leave_the_line() {
        let mut line = Line::new("ab");
        line.insert("x\n\x1b[2Jy");
        assert_eq!(line.text(), "abx[2Jy");
        assert!(!line.edit(KeyEvent::new(KeyCode::Tab, KeyModifiers::NONE)));
    }
}
