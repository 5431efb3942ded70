//! The picker: a process, a cgroup, a command to start, or a recording. It returns the choice; the session opens it.

mod columns;
mod draw;
mod input;
mod rows;
#[cfg(test)]
mod tests;

use self::rows::{Row, Section};
use super::line::Line;
use super::list::{List, ListRow};
use crate::view::picker::{Choice, Choices};

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
    lists: [List<Choice>; Section::ALL.len()],
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

    /// Whether Esc has nothing to clear and no section to leave.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.section == Section::Processes && !self.is_typing()
    }

    fn rows(&self) -> Vec<Row<'_>> {
        rows::rows(&self.choices, self.section, self.filter.text(), self.tree)
    }

    fn list_rows(&self) -> Vec<ListRow<Choice>> {
        self.rows().iter().map(|row| ListRow { key: row.choice(), matches: false }).collect()
    }

    fn list(&self) -> &List<Choice> {
        &self.lists[self.section as usize]
    }

    /// Runs `f` on the open section's list and rows.
    fn with_list<T>(&mut self, f: impl FnOnce(&mut List<Choice>, &[ListRow<Choice>]) -> T) -> T {
        let rows = self.list_rows();
        f(&mut self.lists[self.section as usize], &rows)
    }

    /// Whether a process is selected by default; a search selects its best match.
    fn is_likely(&self) -> bool {
        self.section == Section::Processes && self.filter.text().trim().is_empty()
    }

    /// Restores the selection after any change.
    fn settle(&mut self) {
        let rows = rows::rows(&self.choices, self.section, self.filter.text(), self.tree);
        let home = if self.is_likely() {
            self.likely = rows::likely(&rows, self.likely);
            rows.iter().position(|row| matches!(row, Row::Process(row) if Some(row.process.pid) == self.likely))
        } else {
            // The machine comes first, but it is the default only if there is nothing else.
            rows.iter().position(|row| !matches!(row, Row::Machine(_)))
        };
        self.with_list(|list, rows| {
            list.start_at(home.unwrap_or(0));
            list.settle(rows);
        });
    }

    /// The index of the selected row.
    fn selected(&self) -> Option<usize> {
        // It is not yet known which process is likely.
        let waits = self.is_likely() && self.likely.is_none() && self.list().picked().is_none();
        if waits { None } else { self.list().at(&self.list_rows()) }
    }
}
