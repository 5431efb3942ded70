//! Key names: `Space`, `Ctrl-u`, `G`, `F1`.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use std::fmt;

/// A key with its modifiers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key {
    code: KeyCode,
    control: bool,
    alt: bool,
}

const NAMES: [(&str, KeyCode); 17] = [
    ("Space", KeyCode::Char(' ')),
    ("Enter", KeyCode::Enter),
    ("Tab", KeyCode::Tab),
    ("Shift-Tab", KeyCode::BackTab),
    ("Esc", KeyCode::Esc),
    ("Backspace", KeyCode::Backspace),
    ("Insert", KeyCode::Insert),
    ("Delete", KeyCode::Delete),
    ("Up", KeyCode::Up),
    ("Down", KeyCode::Down),
    ("Left", KeyCode::Left),
    ("Right", KeyCode::Right),
    ("Home", KeyCode::Home),
    ("End", KeyCode::End),
    ("PageUp", KeyCode::PageUp),
    ("PageDown", KeyCode::PageDown),
    ("Minus", KeyCode::Char('-')),
];

impl Key {
    /// The key of an event; Shift is part of the resulting character.
    #[must_use]
    pub fn of(event: KeyEvent) -> Key {
        let held = |modifier| event.modifiers.contains(modifier);
        let code = match event.code {
            // Some terminals send the plain key with Shift instead of the resulting character.
            KeyCode::Char(c) if held(KeyModifiers::SHIFT) => KeyCode::Char(c.to_ascii_uppercase()),
            KeyCode::Tab if held(KeyModifiers::SHIFT) => KeyCode::BackTab,
            code => code,
        };
        Key::new(code, held(KeyModifiers::CONTROL), held(KeyModifiers::ALT))
    }

    fn new(code: KeyCode, control: bool, alt: bool) -> Key {
        match code {
            // Terminals do not distinguish Ctrl-u from Ctrl-U.
            KeyCode::Char(c) if control => Key { code: KeyCode::Char(c.to_ascii_lowercase()), control, alt },
            code => Key { code, control, alt },
        }
    }

    /// Parses a key name; `None` if it is invalid.
    #[must_use]
    pub fn parse(name: &str) -> Option<Key> {
        let (control, rest) = strip(name, "ctrl-");
        let (alt, rest) = strip(rest, "alt-");
        let named = NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(rest)).map(|(_, code)| *code);
        let code = named.or_else(|| function(rest)).or_else(|| character(rest))?;
        let key = Key::new(code, control, alt);
        // Terminals send these as the same byte as Tab, Enter and Esc.
        let same = control && matches!(key.code, KeyCode::Char('i' | 'm' | '['));
        (!same).then_some(key)
    }
}

fn strip<'a>(name: &'a str, prefix: &str) -> (bool, &'a str) {
    match name.get(..prefix.len()) {
        Some(head) if head.eq_ignore_ascii_case(prefix) && name.len() > prefix.len() => (true, &name[prefix.len()..]),
        _ => (false, name),
    }
}

fn function(name: &str) -> Option<KeyCode> {
    let number = name.strip_prefix(['F', 'f'])?.parse().ok()?;
    (1..=24).contains(&number).then_some(KeyCode::F(number))
}

fn character(name: &str) -> Option<KeyCode> {
    let mut chars = name.chars();
    let c = chars.next().filter(|c| !c.is_control() && !c.is_whitespace())?;
    chars.next().is_none().then_some(KeyCode::Char(c))
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = if self.control { "Ctrl-" } else { "" };
        let alt = if self.alt { "Alt-" } else { "" };
        write!(f, "{held}{alt}")?;
        // Only `Minus` has a shorter notation.
        let named = NAMES[..NAMES.len() - 1].iter().find(|(_, code)| *code == self.code);
        match (named, self.code) {
            (Some((name, _)), _) => f.write_str(name),
            (None, KeyCode::Char(c)) => write!(f, "{c}"),
            (None, KeyCode::F(number)) => write!(f, "F{number}"),
            (None, other) => write!(f, "{other:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written_the_same() {
        for name in
            ["a", "G", "?", "[", "Space", "Ctrl-u", "Alt-x", "Ctrl-Alt-Left", "F1", "F12", "Shift-Tab", "-", "ä"]
        {
            assert_eq!(Key::parse(name).map(|key| key.to_string()).as_deref(), Some(name));
        }
        assert_eq!(Key::parse("minus"), Key::parse("-"));
        assert_eq!(Key::parse("ctrl-SPACE").map(|key| key.to_string()).as_deref(), Some("Ctrl-Space"));
        assert_eq!(Key::parse("Ctrl--").map(|key| key.to_string()).as_deref(), Some("Ctrl--"));
    }

    #[test]
    fn a_key_is_the_same_however_the_terminal_sends_shift() {
        let key = |code, modifiers| Key::of(KeyEvent::new(code, modifiers)).to_string();
        assert_eq!(key(KeyCode::Char('G'), KeyModifiers::SHIFT), "G");
        assert_eq!(key(KeyCode::Char('g'), KeyModifiers::SHIFT), "G");
        assert_eq!(key(KeyCode::Char('?'), KeyModifiers::SHIFT), "?");
        assert_eq!(key(KeyCode::Char('U'), KeyModifiers::SHIFT | KeyModifiers::CONTROL), "Ctrl-u");
        assert_eq!(key(KeyCode::BackTab, KeyModifiers::SHIFT), "Shift-Tab");
        assert_eq!(key(KeyCode::Tab, KeyModifiers::SHIFT), "Shift-Tab");
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for name in ["", "ab", "F0", "F25", "Ctrl-", "Hyper-x", " ", "\u{1b}", "Alt-F99", "Ctrl-i", "Ctrl-M", "Ctrl-["]
        {
            assert_eq!(Key::parse(name), None, "{name:?}");
        }
    }
}
