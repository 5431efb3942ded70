//! The picker: a process, a cgroup, a command to start, or a recording. It returns the choice; the session opens it.

mod columns;
mod draw;
mod input;
mod list;
mod rows;
#[cfg(test)]
mod tests;

use self::list::List;
use self::rows::{Row, Section};
use super::line::Line;
use crate::view::picker::Choices;

/// The picker's state.
#[derive(Debug, Default)]
pub struct Picker {
    choices: Choices,
    section: Section,
    /// The search text, shared by all sections.
    filter: Line,
    /// Whether a search is active even though its text is still empty.
    searching: bool,
    /// The command to start.
    command: Line,
    tree: bool,
    /// The selection of each section.
    lists: [List; Section::ALL.len()],
    /// The process that is selected by default.
    likely: Option<u32>,
}

impl Picker {
    /// Takes a new listing and keeps the selection.
    pub fn show(&mut self, choices: Choices) {
        self.choices = choices;
        self.settle();
    }

    /// Whether keys are characters of a search or a command.
    #[must_use]
    pub fn is_typing(&self) -> bool {
        self.section == Section::Command || self.searching || !self.filter.text().is_empty()
    }

    fn rows(&self) -> Vec<Row<'_>> {
        rows::rows(&self.choices, self.section, self.filter.text(), self.tree)
    }

    fn list(&self) -> &List {
        &self.lists[self.section as usize]
    }

    /// Runs `f` on the open section's list and rows.
    fn with_list<T>(&mut self, f: impl FnOnce(&mut List, &[Row<'_>]) -> T) -> T {
        let rows = rows::rows(&self.choices, self.section, self.filter.text(), self.tree);
        f(&mut self.lists[self.section as usize], &rows)
    }

    /// Restores the selection after any change.
    fn settle(&mut self) {
        let rows = rows::rows(&self.choices, self.section, self.filter.text(), self.tree);
        let found = !self.filter.text().trim().is_empty();
        if self.section == Section::Processes && !found {
            self.likely = rows::likely(&rows, self.likely);
        }
        let likely = self.likely;
        self.lists[self.section as usize].settle(&rows, |rows| {
            let is_likely = |row: &Row<'_>| matches!(row, Row::Process(row) if Some(row.process.pid) == likely);
            // The machine comes first, but it is the default only if there is nothing else.
            let first = rows.iter().position(|row| !matches!(row, Row::Machine(_))).unwrap_or(0);
            match self.section {
                Section::Processes if !found => rows.iter().position(is_likely),
                _ => Some(first),
            }
        });
    }

    /// The selected row.
    fn selected<'a>(&self, rows: &'a [Row<'a>]) -> Option<&'a Row<'a>> {
        self.list().at.and_then(|at| rows.get(at))
    }
}
