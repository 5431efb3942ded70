//! The picker's sections and their rows.

use crate::model::Measure;
use crate::view::picker::{
    CgroupRow, Choice, Choices, Filter, MachineChoice, ProcessRow, RecordingChoice, cgroups, processes, recordings,
};

/// A section of the picker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Section {
    #[default]
    Processes,
    Cgroups,
    Command,
    Recordings,
}

impl Section {
    /// All sections, in the order of the tabs.
    pub const ALL: [Section; 4] = [Section::Processes, Section::Cgroups, Section::Command, Section::Recordings];

    /// The tab's text: in full, and for narrow terminals.
    pub fn titles(self) -> (&'static str, &'static str) {
        match self {
            Section::Processes => ("Processes", "Procs"),
            Section::Cgroups => ("Control groups", "Groups"),
            Section::Command => ("Command", "Cmd"),
            Section::Recordings => ("Recordings", "Recs"),
        }
    }

    /// The section that many tabs away.
    pub fn step(self, by: isize) -> Section {
        let count = Section::ALL.len() as isize;
        Section::ALL[(self as isize + by).rem_euclid(count) as usize]
    }
}

/// An item to choose.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Row<'a> {
    Machine(&'a MachineChoice),
    Process(ProcessRow<'a>),
    Cgroup(CgroupRow<'a>),
    Recording(&'a RecordingChoice),
}

impl Row<'_> {
    /// The choice this row represents; it also identifies the row after it has moved.
    pub fn choice(&self) -> Choice {
        match self {
            Row::Machine(_) => Choice::Machine,
            Row::Process(row) => Choice::Process(row.process.pid),
            Row::Cgroup(row) => Choice::Cgroup(row.cgroup.path.clone()),
            Row::Recording(recording) => Choice::File(recording.path.clone()),
        }
    }

    pub fn cpu(&self) -> Option<Measure<f64>> {
        match self {
            Row::Machine(machine) => Some(machine.cpu),
            Row::Process(row) => Some(row.process.cpu),
            Row::Cgroup(row) => Some(row.cgroup.cpu),
            Row::Recording(_) => None,
        }
    }
}

/// The rows of a section; empty before the first listing.
pub(super) fn rows<'a>(choices: &'a Choices, section: Section, filter: &str, tree: bool) -> Vec<Row<'a>> {
    let filter = Filter::new(filter);
    // A listing made at the epoch is impossible, so zero means that there is none yet.
    let machine = (choices.unix_ns > 0 && filter.rank(&["whole machine", "all CPUs"]).is_some())
        .then_some(Row::Machine(&choices.machine));
    match section {
        Section::Processes => {
            machine.into_iter().chain(processes(choices, &filter, tree).into_iter().map(Row::Process)).collect()
        }
        Section::Cgroups => machine.into_iter().chain(cgroups(choices, &filter).into_iter().map(Row::Cgroup)).collect(),
        Section::Command => Vec::new(),
        Section::Recordings => recordings(choices, &filter).into_iter().map(Row::Recording).collect(),
    }
}

/// The default process: the busiest of the user's own, excluding this program's ancestors.
/// `before` stays the default while it is at least half as busy.
pub(super) fn likely(rows: &[Row<'_>], before: Option<u32>) -> Option<u32> {
    let eligible = || {
        rows.iter().filter_map(|row| match row {
            Row::Process(row) if row.process.ours && !row.process.above => {
                Some((row.process.pid, *row.process.cpu.value()?))
            }
            _ => None,
        })
    };
    // The first of equally busy ones: rows are in order.
    let busiest = eligible().reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    let kept = eligible().find(|(pid, cpu)| Some(*pid) == before && cpu * 2.0 >= busiest.1);
    Some(kept.unwrap_or(busiest).0)
}
