//! The picker's keys, mouse and pasted text. Typed characters search at once, without a search mode.

use super::draw::{self, Parts};
use super::rows::Section;
use super::{List, Picker};
use crate::tui::keys::Action;
use crate::view::picker::Choice;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

impl Picker {
    /// Handles a key and the action bound to it; returns the chosen target.
    pub fn key(&mut self, key: KeyEvent, action: Option<Action>, area: Rect) -> Option<Choice> {
        let chosen = self.press(key, action, area);
        self.settle();
        chosen
    }

    fn press(&mut self, key: KeyEvent, action: Option<Action>, area: Rect) -> Option<Choice> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => return self.open(),
            KeyCode::Tab => self.go(self.section.step(1)),
            KeyCode::BackTab => self.go(self.section.step(-1)),
            KeyCode::Esc => self.escape(),
            KeyCode::Char('g') if control => self.escape(),
            KeyCode::Down => self.step(Action::Down, area),
            KeyCode::Up => self.step(Action::Up, area),
            KeyCode::Char('n' | 'j') if control => self.step(Action::Down, area),
            KeyCode::Char('p') if control => self.step(Action::Up, area),
            KeyCode::PageDown => self.step(Action::PageDown, area),
            KeyCode::PageUp => self.step(Action::PageUp, area),
            KeyCode::F(5) => self.tree = !self.tree,
            _ if self.is_typing() => self.edit(key),
            KeyCode::Home => self.step(Action::Top, area),
            KeyCode::End => self.step(Action::Bottom, area),
            _ if action == Some(Action::Search) => self.searching = true,
            _ => self.edit(key),
        }
        None
    }

    fn step(&mut self, action: Action, area: Rect) {
        let height = Parts::of(area).table().height;
        self.with_list(|list, rows| list.act(action, rows, height));
    }

    fn go(&mut self, section: Section) {
        self.section = section;
        self.searching = false;
    }

    /// Clears the typed text first, then leaves the section.
    fn escape(&mut self) {
        let typed = match self.section {
            Section::Command => std::mem::take(&mut self.command),
            _ => std::mem::take(&mut self.filter),
        };
        let was_searching = std::mem::take(&mut self.searching);
        if typed.text().is_empty() && !was_searching {
            self.section = Section::Processes;
        } else {
            self.lists.iter_mut().for_each(List::forget);
        }
    }

    fn edit(&mut self, key: KeyEvent) {
        if self.section == Section::Command {
            self.command.edit(key);
            return;
        }
        let before = self.filter.text().to_string();
        if key.code == KeyCode::Backspace && before.is_empty() {
            self.searching = false;
        }
        self.filter.edit(key);
        self.searched(&before);
    }

    /// A changed search selects its best match.
    fn searched(&mut self, before: &str) {
        if self.filter.text() != before {
            self.lists.iter_mut().for_each(List::forget);
        }
    }

    fn open(&self) -> Option<Choice> {
        let command = self.command.text().trim();
        match self.section {
            Section::Command => (!command.is_empty()).then(|| Choice::Command(command.to_string())),
            _ => Some(self.rows().get(self.selected()?)?.choice()),
        }
    }

    /// Inserts pasted text.
    pub fn paste(&mut self, text: &str) {
        // Joins several lines, such as a command copied from a manual, into one.
        let text = text.trim().replace(['\n', '\r', '\t'], " ");
        if self.section == Section::Command {
            self.command.insert(&text);
            return;
        }
        let before = self.filter.text().to_string();
        self.filter.insert(&text);
        self.searched(&before);
        self.settle();
    }

    /// Handles the mouse: the wheel moves, a click selects, a click on the selected row opens it.
    pub fn mouse(&mut self, event: MouseEvent, area: Rect) -> Option<Choice> {
        let parts = Parts::of(area);
        let tabs = parts.tabs.contains((event.column, event.row).into());
        let mut chosen = None;
        if event.kind == MouseEventKind::Down(MouseButton::Left) && tabs {
            if let Some(section) = draw::tab_at(&self.choices, parts.tabs, event.column) {
                self.go(section);
            }
        } else {
            let before = self.selected();
            let again = self.with_list(|list, rows| list.mouse(event, rows, parts.table()));
            chosen = if again && before.is_some() { self.open() } else { None };
        }
        self.settle();
        chosen
    }
}
