//! The picker's sections and what stands in each, row by row. It never draws.

use crate::model::Measure;
use crate::view::picker::{
    CgroupRow, Choice, Choices, Filter, MachineChoice, ProcessRow, RecordingChoice, cgroups, processes, recordings,
};

/// What there is to choose from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Section {
    #[default]
    Processes,
    Cgroups,
    Command,
    Recordings,
}

impl Section {
    /// All, in the order of the tabs.
    pub const ALL: [Section; 4] = [Section::Processes, Section::Cgroups, Section::Command, Section::Recordings];

    /// The tab's text: in full, and where there is little room.
    pub fn titles(self) -> (&'static str, &'static str) {
        match self {
            Section::Processes => ("Processes", "Procs"),
            Section::Cgroups => ("Control groups", "Groups"),
            Section::Command => ("Command", "Cmd"),
            Section::Recordings => ("Recordings", "Recs"),
        }
    }

    /// The section so many tabs away.
    pub fn step(self, by: isize) -> Section {
        let count = Section::ALL.len() as isize;
        Section::ALL[(self as isize + by).rem_euclid(count) as usize]
    }
}

/// Something to choose.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Row<'a> {
    Machine(&'a MachineChoice),
    Process(ProcessRow<'a>),
    Cgroup(CgroupRow<'a>),
    Recording(&'a RecordingChoice),
}

impl Row<'_> {
    /// What choosing it means; also what it is known by when it has moved.
    pub fn choice(&self) -> Choice {
        match self {
            Row::Machine(_) => Choice::Machine,
            Row::Process(row) => Choice::Process(row.process.pid),
            Row::Cgroup(row) => Choice::Cgroup(row.cgroup.path.clone()),
            Row::Recording(recording) => Choice::Recording(recording.path.clone()),
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

/// The rows of a section; none before the first listing.
pub(super) fn rows<'a>(choices: &'a Choices, section: Section, filter: &str, tree: bool) -> Vec<Row<'a>> {
    let filter = Filter::new(filter);
    // Going by the clock: no listing was ever made at the epoch.
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

/// The process that is most likely meant: the busiest of one's own, none that this program was started by.
/// `before` keeps its place while it is at least half as busy as that.
pub(super) fn likely(rows: &[Row<'_>], before: Option<u32>) -> Option<u32> {
    let eligible = || {
        rows.iter().filter_map(|row| match row {
            Row::Process(row) if row.process.ours && !row.process.above => {
                Some((row.process.pid, *row.process.cpu.value()?))
            }
            _ => None,
        })
    };
    // The first of equals: rows are in order.
    let busiest = eligible().reduce(|best, next| if next.1 > best.1 { next } else { best })?;
    let kept = eligible().find(|(pid, cpu)| Some(*pid) == before && cpu * 2.0 >= busiest.1);
    Some(kept.unwrap_or(busiest).0)
}
