//! Overlays: help, command palette, line prompt, notes. At most one is open.

use super::command::{COMMANDS, CommandRow, SHORT, SessionCommand};
use super::keys::{Action, KeyTable};
use super::line::Line;

/// The purpose of a typed line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptKind {
    /// A text to search for.
    Search,
    /// The directory of a new recording.
    Record,
    /// The file of a new image.
    Export,
}

/// The open overlay.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Overlay {
    /// Nothing.
    #[default]
    None,
    /// The keys, with the number of lines scrolled down.
    Help(usize),
    /// What to know before trusting the numbers; the number is as for `Help`.
    Notes(usize),
    /// The command palette.
    Palette(Palette),
    /// A line being typed.
    Prompt(PromptKind, Line),
}

/// Every action and command by name, filtered by the typed text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Palette {
    /// The typed text.
    pub line: Line,
    /// The selected row.
    pub selected: usize,
}

/// A row of the palette.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entry {
    /// An action, which a key may trigger too.
    Action(Action),
    /// A command with arguments.
    Command(SessionCommand),
}

/// A row of the palette as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaletteRow {
    /// What it runs.
    pub entry: Entry,
    /// Its name, with the arguments of a command.
    pub name: String,
    /// What it does.
    pub text: &'static str,
}

/// What Enter does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entered {
    /// Runs an action.
    Action(Action),
    /// Runs a command with these arguments.
    Command(SessionCommand, String),
    /// The command needs arguments; its name stands in the line.
    Waits,
    /// Nothing matches.
    Nothing,
}

impl Palette {
    /// The command whose name has been typed in full, with its arguments.
    fn command(&self) -> Option<(&'static CommandRow, &str)> {
        let typed = self.line.text().trim_start();
        let (name, arguments) = typed.split_once(' ')?;
        let name = in_full(name);
        COMMANDS.iter().find(|row| row.name == name).map(|row| (row, arguments.trim()))
    }

    /// What matches the typed text, best first. Once a command has been typed, only that.
    #[must_use]
    pub fn rows(&self, keys: &KeyTable) -> Vec<PaletteRow> {
        let of_command = |row: &CommandRow| PaletteRow {
            entry: Entry::Command(row.command),
            name: format!("{} {}", row.name, row.arguments).trim_end().to_string(),
            text: row.text,
        };
        if let Some((row, _)) = self.command() {
            return vec![of_command(row)];
        }
        let typed = self.line.text().trim().to_lowercase();
        // `:open` alone is an action.
        let typed = Some(in_full(&typed)).filter(|name| *name != "open").unwrap_or(&typed);
        let commands = COMMANDS.iter().map(|row| (fit(typed, row.name, row.text), of_command(row)));
        let actions = keys.actions().map(|(action, name, text)| {
            (fit(typed, name, text), PaletteRow { entry: Entry::Action(action), name: name.to_string(), text })
        });
        // An action comes before the command of its name: `:open` opens the selection, `:open FILE` a file.
        let mut rows: Vec<_> = actions.chain(commands).filter_map(|(rank, row)| Some((rank?, row))).collect();
        rows.sort_by_key(|(rank, _)| *rank);
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// Runs what is selected, or puts the name of a command that needs arguments in the line.
    pub fn enter(&mut self, keys: &KeyTable) -> Entered {
        if let Some((row, arguments)) = self.command()
            && (row.alone || !arguments.is_empty())
        {
            return Entered::Command(row.command, arguments.to_string());
        }
        // `:help WORD` too.
        if self.line.text().split_whitespace().next().is_some_and(|word| in_full(word) == "help") {
            return Entered::Action(Action::Help);
        }
        let rows = self.rows(keys);
        match rows.get(self.selected.min(rows.len().saturating_sub(1))).map(|row| row.entry) {
            Some(Entry::Action(action)) => Entered::Action(action),
            Some(Entry::Command(command @ (SessionCommand::Run | SessionCommand::Write))) => {
                Entered::Command(command, String::new())
            }
            Some(Entry::Command(command)) => {
                let name = COMMANDS.iter().find(|row| row.command == command).map_or("", |row| row.name);
                self.line = Line::new(&format!("{name} "));
                self.selected = 0;
                Entered::Waits
            }
            None => Entered::Nothing,
        }
    }

    /// Moves the selection.
    pub fn step(&mut self, by: isize, keys: &KeyTable) {
        let last = self.rows(keys).len().saturating_sub(1);
        self.selected = self.selected.min(last).saturating_add_signed(by).min(last);
    }
}

/// The name of what users of vi type for it.
fn in_full(word: &str) -> &str {
    SHORT.iter().find(|(short, _)| *short == word).map_or(word, |(_, name)| *name)
}

/// How well an action matches; lower is better, `None` for no match.
fn fit(typed: &str, name: &str, text: &str) -> Option<u8> {
    let text = text.to_lowercase();
    if name.starts_with(typed) {
        Some(0)
    } else if name.contains(typed) {
        Some(1)
    } else if text.contains(typed) {
        Some(2)
    } else {
        in_order(typed, name).then_some(3)
    }
}

/// Whether the typed characters occur in the name in this order.
fn in_order(typed: &str, name: &str) -> bool {
    let mut rest = name.chars();
    typed.chars().all(|wanted| rest.any(|c| c == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entered(typed: &str, selected: usize) -> Entered {
        Palette { line: Line::new(typed), selected }.enter(&KeyTable::default())
    }

    #[test]
    fn the_palette_finds_actions_by_name_text_and_initials() {
        for (typed, expected) in [("pause", Action::Pause), ("quit", Action::Quit), ("hlf-pg-dn", Action::HalfPageDown)]
        {
            assert_eq!(entered(typed, 0), Entered::Action(expected), "{typed}");
        }
        assert_eq!(entered("no such thing", 3), Entered::Nothing);
        for (typed, expected) in [
            ("q", Entered::Action(Action::Quit)),
            ("help", Entered::Action(Action::Help)),
            ("h", Entered::Action(Action::Help)),
            ("help flame", Entered::Action(Action::Help)),
            ("w", Entered::Command(SessionCommand::Write, String::new())),
            ("save x", Entered::Command(SessionCommand::Write, "x".to_string())),
            ("w night", Entered::Command(SessionCommand::Write, "night".to_string())),
            ("e run.ironlaw", Entered::Command(SessionCommand::Open, "run.ironlaw".to_string())),
        ] {
            assert_eq!(entered(typed, 0), expected, "{typed}");
        }
    }

    #[test]
    fn a_command_takes_its_arguments_and_waits_for_those_it_needs() {
        let sweep = |arguments: &str| Entered::Command(SessionCommand::Sweep, arguments.to_string());
        assert_eq!(entered("sweep --cpus 1,2 -- make -j2", 0), sweep("--cpus 1,2 -- make -j2"));
        assert_eq!(entered(" sweep  ", 0), sweep(""));
        assert_eq!(entered("open", 0), Entered::Action(Action::Enter));
        for typed in ["sweep", "swe", "open "] {
            let mut palette = Palette { line: Line::new(typed), selected: 0 };
            assert_eq!(palette.enter(&KeyTable::default()), Entered::Waits, "{typed}");
            assert_eq!(palette.line.text(), if typed.starts_with('s') { "sweep " } else { "open " });
            assert_eq!(palette.rows(&KeyTable::default()).len(), 1, "its arguments are shown");
        }
    }

    #[test]
    fn the_selection_stays_within_what_is_left() {
        let keys = KeyTable::default();
        let mut palette = Palette::default();
        palette.step(1000, &keys);
        assert_eq!(palette.selected, palette.rows(&keys).len() - 1);
        palette.line.insert("quit");
        assert_eq!(palette.enter(&keys), Entered::Action(Action::Quit));
        palette.step(-1000, &keys);
        assert_eq!(palette.selected, 0);
    }
}
