//! Choosing what to look at: a process, a control group, a command to start, a recording. It never opens it.

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

/// Its state.
#[derive(Debug, Default)]
pub struct Picker {
    choices: Choices,
    section: Section,
    /// What is searched for, in all sections alike.
    filter: Line,
    /// Whether a search was begun although nothing has been typed yet.
    searching: bool,
    /// The command to start.
    command: Line,
    tree: bool,
    /// The selection of each section.
    lists: [List; Section::ALL.len()],
    /// The process that is selected until the user selects one.
    likely: Option<u32>,
}

impl Picker {
    /// Takes a new listing; what was selected stays selected.
    pub fn show(&mut self, choices: Choices) {
        self.choices = choices;
        self.settle();
    }

    /// Whether keys are characters of a search or a command now.
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

    /// Finds the selection anew, after anything has changed.
    fn settle(&mut self) {
        let rows = rows::rows(&self.choices, self.section, self.filter.text(), self.tree);
        let found = !self.filter.text().trim().is_empty();
        if self.section == Section::Processes && !found {
            self.likely = rows::likely(&rows, self.likely);
        }
        let likely = self.likely;
        self.lists[self.section as usize].settle(&rows, |rows| {
            let is_likely = |row: &Row<'_>| matches!(row, Row::Process(row) if Some(row.process.pid) == likely);
            // The machine stands first but is not what is looked for, unless nothing else is there.
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
