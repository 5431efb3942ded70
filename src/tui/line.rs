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
        before.char_indices().rfind(|(_, c)| c.is_whitespace()).map_or(0, |(at, c)| at + c.len_utf8())
    }

    fn remove_back_to(&mut self, from: usize) {
        self.text.drain(from..self.cursor);
        self.cursor = from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
            ("one\u{3000}two", "C-w", "one\u{3000}"),
            ("one", "Left C-u", "e"),
            ("one", "Left C-k", "on"),
            ("日本", "Left BS", "本"),
        ] {
            let mut line = Line::new(start);
            press(&mut line, keys);
            assert_eq!(line.text(), expected, "{start} {keys}");
        }
    }

    /// What the cursor stands between, character by character.
    fn both_sides(line: &Line) -> (Vec<char>, Vec<char>) {
        let before = line.before_cursor();
        (before.chars().collect(), line.text()[before.len()..].chars().collect())
    }

    fn any_key() -> impl Strategy<Value = KeyEvent> {
        let plain = any::<char>().prop_map(|c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
        let control = prop::sample::select(vec!['u', 'k', 'w', 'a', 'e', 'h', 'c', 'z'])
            .prop_map(|c| KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL));
        let moves = prop::sample::select(vec![
            KeyCode::Left,
            KeyCode::Right,
            KeyCode::Home,
            KeyCode::End,
            KeyCode::Backspace,
            KeyCode::Delete,
            KeyCode::Tab,
        ]);
        prop_oneof![4 => plain, 2 => control, 4 => moves.prop_map(|code| KeyEvent::new(code, KeyModifiers::NONE))]
    }

    proptest! {
        #[test]
        fn any_keys_leave_a_line_whose_cursor_stands_between_two_characters(
            start in "[a-z日größe ]{0,12}",
            keys in prop::collection::vec(any_key(), 0..40),
        ) {
            let mut line = Line::new(&start);
            for key in keys {
                let (before, after) = both_sides(&line);
                let edited = line.edit(key);
                prop_assert!(line.text().chars().all(|c| !c.is_control()), "{:?}", line.text());
                let now = both_sides(&line);
                let control = key.modifiers.contains(KeyModifiers::CONTROL);
                let whole: Vec<char> = [before.clone(), after.clone()].concat();
                match key.code {
                    KeyCode::Char(c) if !control && !c.is_control() => {
                        prop_assert_eq!(now, ([before, vec![c]].concat(), after));
                    }
                    KeyCode::Backspace => {
                        prop_assert_eq!(now, (before[..before.len().saturating_sub(1)].to_vec(), after));
                    }
                    KeyCode::Delete => prop_assert_eq!(now, (before, after[1.min(after.len())..].to_vec())),
                    KeyCode::Left | KeyCode::Right | KeyCode::Home | KeyCode::End => {
                        let steps = match key.code {
                            KeyCode::Left => before.len().saturating_sub(1),
                            KeyCode::Right => (before.len() + 1).min(whole.len()),
                            KeyCode::Home => 0,
                            _ => whole.len(),
                        };
                        prop_assert_eq!(now, (whole[..steps].to_vec(), whole[steps..].to_vec()));
                    }
                    KeyCode::Tab => prop_assert!(!edited && now == (before, after)),
                    _ => prop_assert!(now.1 == after || now.1.is_empty() || [now.0, now.1].concat() == whole),
                }
            }
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
