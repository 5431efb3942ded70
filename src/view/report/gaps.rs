//! Where a report shows its notes: those that change how its numbers must be read follow the findings, and what was not
//! measured is said once, in a line with what to do.

use super::Report;
use crate::model::Note;
use crate::view::CodeKind;
use crate::view::notes::{NoteKind, kind};

/// Topics of notes on the same lack of hardware counters.
const NO_COUNTERS: [&str; 4] = ["no-pmu", "no-cycles", "no-hardware-counters", "counters-too-costly"];

impl Report {
    /// The notes that change how the numbers must be read; all notes if these are asked for.
    #[must_use]
    pub fn cautions(&self) -> Vec<&Note> {
        self.notes.iter().filter(|note| self.all_notes || kind(note) == NoteKind::Caution).collect()
    }

    /// What was not measured, a line each; empty if all notes are asked for, which say it at length.
    #[must_use]
    pub fn gaps(&self) -> Vec<String> {
        let mut counters = false;
        let is_first =
            |note: &&Note| !NO_COUNTERS.contains(&note.topic.as_str()) || !std::mem::replace(&mut counters, true);
        let missing = self.notes.iter().filter(|note| !self.all_notes && kind(note) == NoteKind::Missing);
        missing.filter(is_first).map(|note| self.gap(note)).collect()
    }

    fn gap(&self, note: &Note) -> String {
        let count = if NO_COUNTERS.contains(&note.topic.as_str()) { self.missing_without_events() } else { 0 };
        let metrics = if count > 0 { format!(", {count} metrics are missing") } else { String::new() };
        let fix = note.fix.as_deref().map_or(String::new(), |fix| format!(". {fix}"));
        format!("{}{metrics}{fix}", note.text.trim_end_matches('.'))
    }

    /// The note on what functions with interrupts off show, if the report has any of the kernel.
    #[must_use]
    pub fn late_samples(&self) -> Option<&Note> {
        let kernel = self.groups.is_none() && self.functions.iter().any(|row| row.kind == CodeKind::Kernel);
        self.notes.iter().find(|note| kernel && !self.all_notes && kind(note) == NoteKind::OfKernelRows)
    }

    /// Whether a gap has said already that no hardware event was counted.
    pub(super) fn counters_are_a_gap(&self) -> bool {
        !self.all_notes && self.notes.iter().any(|note| NO_COUNTERS.contains(&note.topic.as_str()))
    }
}
