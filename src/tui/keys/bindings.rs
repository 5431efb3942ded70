//! The bindings of keys to actions.

use super::name::Key;
use super::table::{Action, Row, Section, TABLE};
use crate::error::{Error, ErrorKind, Result};
use ratatui::crossterm::event::KeyEvent;
use std::collections::HashMap;

/// The bindings of keys to actions, with the user's changes applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyTable {
    by_key: HashMap<Key, Action>,
    /// Parallel to [`TABLE`].
    keys: Vec<Vec<Key>>,
}

impl Default for KeyTable {
    fn default() -> Self {
        let parse = |row: &Row| row.keys.iter().filter_map(|name| Key::parse(name)).collect();
        KeyTable::of(TABLE.iter().map(parse).collect())
    }
}

impl KeyTable {
    fn of(keys: Vec<Vec<Key>>) -> KeyTable {
        let rows = keys.iter().zip(TABLE);
        let by_key = rows.flat_map(|(keys, row)| keys.iter().map(|key| (*key, row.action))).collect();
        KeyTable { by_key, keys }
    }

    /// Returns the default bindings with the user's changes: action names with their new keys.
    ///
    /// # Errors
    /// `Usage` for an unknown action or key, for a key bound to two actions, and for a table without a key to quit.
    pub fn remapped<'a>(changes: impl IntoIterator<Item = (&'a str, &'a [String])>) -> Result<KeyTable> {
        let mut keys = KeyTable::default().keys;
        let mut changed = vec![false; TABLE.len()];
        for (name, wanted) in changes {
            let row = TABLE.iter().position(|row| row.name == name).ok_or_else(|| unknown(name))?;
            keys[row] =
                wanted.iter().map(|key| Key::parse(key).ok_or_else(|| no_key(name, key))).collect::<Result<_>>()?;
            changed[row] = true;
        }
        // A key that the user rebinds is removed from its default action.
        let taken: Vec<Key> =
            keys.iter().zip(&changed).filter(|(_, changed)| **changed).flat_map(|(keys, _)| keys.clone()).collect();
        for (row, changed) in keys.iter_mut().zip(&changed) {
            row.retain(|key| *changed || !taken.contains(key));
        }
        let table = twice(&keys).map_or_else(|| Ok(KeyTable::of(keys)), Err)?;
        if table.keys_for(Action::Quit).is_empty() {
            return Err(
                Error::new(ErrorKind::Usage, "no key is left to quit with").hint("Give quit one, e.g. quit = [\"Q\"].")
            );
        }
        Ok(table)
    }

    /// The action bound to a key press.
    #[must_use]
    pub fn action(&self, event: KeyEvent) -> Option<Action> {
        self.by_key.get(&Key::of(event)).copied()
    }

    /// The keys of an action, as text.
    #[must_use]
    pub fn keys_for(&self, action: Action) -> Vec<String> {
        let row = TABLE.iter().position(|row| row.action == action);
        row.map(|row| self.keys[row].iter().map(ToString::to_string).collect()).unwrap_or_default()
    }

    /// The first key of an action; the action's name if it has none.
    #[must_use]
    pub fn first(&self, action: Action) -> String {
        let name =
            || TABLE.iter().find(|row| row.action == action).map_or(String::new(), |row| format!(":{}", row.name));
        self.keys_for(action).into_iter().next().unwrap_or_else(name)
    }

    /// Every action with its name and description.
    pub fn actions(&self) -> impl Iterator<Item = (Action, &'static str, &'static str)> + '_ {
        TABLE.iter().map(|row| (row.action, row.name, row.text))
    }

    /// The keys by section, in the table's order, for the available actions.
    #[must_use]
    pub fn help(&self, is_there: impl Fn(Action) -> bool) -> Vec<(&'static str, Vec<(String, &'static str)>)> {
        let mut help: Vec<(Section, Vec<(String, &'static str)>)> = Vec::new();
        for (row, keys) in TABLE.iter().zip(&self.keys).filter(|(row, _)| is_there(row.action)) {
            let keys = keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            match help.last_mut() {
                Some((section, rows)) if *section == row.section => rows.push((keys, row.text)),
                _ => help.push((row.section, vec![(keys, row.text)])),
            }
        }
        help.into_iter().map(|(section, rows)| (section.title(), rows)).collect()
    }
}

fn unknown(name: &str) -> Error {
    let known: Vec<_> = TABLE.iter().map(|row| row.name).collect();
    // A name with up to a third of wrong letters still counts as a typo.
    let near = known.iter().map(|known| (strsim::levenshtein(name, known), *known)).min();
    let likely = near.filter(|(far, _)| *far <= 2.max(name.len() / 3) && *far < name.len());
    let guess = likely.map_or(String::new(), |(_, known)| format!("Did you mean '{known}'? "));
    Error::new(ErrorKind::Usage, format!("unknown action '{name}'"))
        .hint(format!("{guess}Known are: {}.", known.join(", ")))
}

fn no_key(action: &str, key: &str) -> Error {
    Error::new(ErrorKind::Usage, format!("invalid key '{key}' for {action}"))
        .hint("Write a character, or Ctrl-u, Alt-x, Space, Enter, Tab, Esc, Up, PageDown, F1 ...")
}

fn twice(keys: &[Vec<Key>]) -> Option<Error> {
    let mut seen: HashMap<Key, &str> = HashMap::new();
    for (row, keys) in TABLE.iter().zip(keys) {
        for key in keys {
            if let Some(other) = seen.insert(*key, row.name).filter(|other| *other != row.name) {
                let message = format!("the key {key} is given to both {other} and {}", row.name);
                return Some(Error::new(ErrorKind::Usage, message).hint("Give one of them another key."));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use crate::tui::testing::key;
    use ratatui::crossterm::event::Event;

    fn press(table: &KeyTable, name: &str) -> Option<Action> {
        match key(name) {
            Event::Key(event) => table.action(event),
            _ => None,
        }
    }

    #[test]
    fn every_default_key_is_a_key_and_has_one_meaning() {
        let table = KeyTable::default();
        for (row, keys) in TABLE.iter().zip(&table.keys) {
            assert_eq!(row.keys.len(), keys.len(), "{}", row.name);
            assert!(row.text.len() <= 36, "{}: help has two narrow columns", row.name);
        }
        assert!(twice(&table.keys).is_none());
    }

    #[test]
    fn keys_mean_what_users_of_such_tools_expect() {
        let table = KeyTable::default();
        for (name, action) in [
            ("?", Action::Help),
            ("q", Action::Quit),
            ("Ctrl-c", Action::Quit),
            ("j", Action::Down),
            ("Down", Action::Down),
            ("g", Action::Top),
            ("G", Action::Bottom),
            ("Space", Action::Pause),
            ("f", Action::Pause),
            ("Ctrl-u", Action::HalfPageUp),
            ("2", Action::Screen(2)),
            ("N", Action::SearchPrevious),
        ] {
            assert_eq!(press(&table, name), Some(action), "{name}");
        }
    }

    #[test]
    fn a_remapped_key_leaves_the_action_that_had_it() {
        let keys = ["q".to_string(), "Ctrl-p".to_string()];
        let table = KeyTable::remapped([("pause", &keys[..])]).unwrap();
        assert_eq!(press(&table, "q"), Some(Action::Pause));
        assert_eq!((press(&table, "Ctrl-p"), press(&table, "f")), (Some(Action::Pause), None));
        assert_eq!(press(&table, "Ctrl-c"), Some(Action::Quit), "its other key stays");
    }

    #[test]
    fn wrong_changes_are_named() {
        let key = |key: &str| vec![key.to_string()];
        for (changes, expected) in [
            (vec![("puase", key("x"))], "unknown action 'puase'"),
            (vec![("pause", key("Ctrl-Foo"))], "invalid key 'Ctrl-Foo' for pause"),
            (vec![("pause", key("Ctrl-i"))], "invalid key 'Ctrl-i' for pause"),
            (vec![("pause", key("x")), ("mark", key("x"))], "the key x is given to both pause and mark"),
            (vec![("quit", vec![])], "no key is left to quit with"),
            (vec![("pause", key("q")), ("mark", key("Ctrl-c"))], "no key is left to quit with"),
        ] {
            let changes: Vec<_> = changes.iter().map(|(name, keys)| (*name, keys.as_slice())).collect();
            assert_eq!(KeyTable::remapped(changes).unwrap_err().to_string(), expected);
        }
    }

    #[test]
    fn a_slip_of_the_finger_is_told_with_the_likely_name() {
        let remedy = |name| unknown(name).remedy().unwrap().to_string();
        assert!(remedy("puase").starts_with("Did you mean 'pause'? Known are: overview, "));
        assert!(remedy("größe").starts_with("Known are") && remedy("").starts_with("Known are"), "{}", remedy(""));
    }

    #[test]
    fn two_actions_can_exchange_their_keys() {
        let key = |key: &str| vec![key.to_string()];
        let (down, next) = (key("n"), key("j"));
        let table = KeyTable::remapped([("down", &down[..]), ("search-next", &next[..])]).unwrap();
        assert_eq!((press(&table, "n"), press(&table, "j")), (Some(Action::Down), Some(Action::SearchNext)));
        assert_eq!(press(&table, "Down"), None, "an action keeps only the keys it was given");
    }
}
