//! The picker's keys, mouse and pasted text. Typed characters search at once, without a search mode.

use super::draw::{self, Parts};
use super::rows::Section;
use super::{List, Picker, Row};
use crate::tui::keys::Action;
use crate::view::picker::Choice;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::Rect;

impl Picker {
    /// Handles a key and the action bound to it; returns the chosen target.
    pub fn key(&mut self, key: KeyEvent, action: Option<Action>, area: Rect) -> Option<Choice> {
        let chosen = self.press(key, action, area);
        self.settle();
        let height = usize::from(Parts::of(area).rows.height);
        self.with_list(|list, rows| list.scroll(rows.len(), height));
        chosen
    }

    fn press(&mut self, key: KeyEvent, action: Option<Action>, area: Rect) -> Option<Choice> {
        let page = isize::try_from(Parts::of(area).rows.height.max(2) - 1).unwrap_or(1);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Enter => return self.open(),
            KeyCode::Tab => self.go(self.section.step(1)),
            KeyCode::BackTab => self.go(self.section.step(-1)),
            KeyCode::Esc => self.escape(),
            KeyCode::Char('g') if control => self.escape(),
            KeyCode::Down => self.step(1),
            KeyCode::Up => self.step(-1),
            KeyCode::Char('n' | 'j') if control => self.step(1),
            KeyCode::Char('p') if control => self.step(-1),
            KeyCode::PageDown => self.step(page),
            KeyCode::PageUp => self.step(-page),
            KeyCode::F(5) => self.tree = !self.tree,
            _ if self.is_typing() => self.edit(key),
            KeyCode::Home => self.with_list(|list, rows| list.pick(rows, 0)),
            KeyCode::End => self.with_list(|list, rows| list.pick(rows, usize::MAX)),
            KeyCode::Char('t') if !control => self.tree = !self.tree,
            _ if action == Some(Action::Search) => self.searching = true,
            _ => self.edit(key),
        }
        None
    }

    fn step(&mut self, by: isize) {
        self.with_list(|list, rows| list.step(rows, by));
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
            _ => self.selected(&self.rows()).map(Row::choice),
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
        let height = usize::from(parts.rows.height);
        let at = (event.column, event.row).into();
        let mut chosen = None;
        match event.kind {
            MouseEventKind::ScrollDown => self.step(1),
            MouseEventKind::ScrollUp => self.step(-1),
            MouseEventKind::Down(MouseButton::Left) if parts.tabs.contains(at) => {
                if let Some(section) = draw::tab_at(&self.choices, parts.tabs, event.column) {
                    self.go(section);
                }
            }
            MouseEventKind::Down(MouseButton::Left) if parts.rows.contains(at) => {
                let rows = self.rows();
                let row = self.list().first(rows.len(), height) + usize::from(event.row - parts.rows.y);
                chosen = rows.get(row).filter(|_| self.list().at == Some(row)).map(Row::choice);
                if row < rows.len() {
                    self.with_list(|list, rows| list.pick(rows, row));
                }
            }
            _ => return None,
        }
        self.settle();
        self.with_list(|list, rows| list.scroll(rows.len(), height));
        chosen
    }
}
