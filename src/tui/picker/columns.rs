//! The cell contents of each column, and the choice of columns that fit the width.

use super::rows::{Row, Section};
use crate::model::{Measure, Unit};
use crate::tui::theme::{Glyphs, Theme};
use crate::view::escape::visible;
use crate::view::fit::width;
use crate::view::number;
use crate::view::picker::{Choices, ProcessChoice, RecordingChoice, age, length};
use ratatui::style::Style;

/// A fixed-width column; the text after these columns flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Column {
    Id,
    Cpu,
    Bar,
    Threads,
    Memory,
    Age,
    Length,
}

/// Width of a process name; the text after it has a column of its own.
const NAME: usize = 16;

/// Width of a recording's name.
const RECORDING: usize = 36;

impl Column {
    /// Its width.
    pub fn width(self) -> u16 {
        match self {
            Column::Id => 7,
            Column::Cpu => 6,
            Column::Bar | Column::Memory => 8,
            Column::Threads => 5,
            Column::Age => 12,
            Column::Length => 11,
        }
    }

    /// Its head.
    pub fn head(self, section: Section) -> &'static str {
        match (self, section) {
            (Column::Id, Section::Cgroups) => "PROCS",
            (Column::Id, _) => "PID",
            (Column::Cpu, _) => "CPU",
            (Column::Bar, _) => "",
            (Column::Threads, _) => "THR",
            (Column::Memory, _) => "MEMORY",
            (Column::Age, _) => "STARTED",
            (Column::Length, _) => "LENGTH",
        }
    }
}

/// The columns that fit; the least informative are dropped first.
pub(super) fn columns(section: Section, width: u16) -> Vec<Column> {
    let all: &[(Column, u16)] = match section {
        Section::Processes => {
            &[(Column::Id, 0), (Column::Cpu, 0), (Column::Bar, 70), (Column::Threads, 50), (Column::Memory, 58)]
        }
        Section::Cgroups => &[(Column::Id, 0), (Column::Cpu, 0), (Column::Bar, 60)],
        Section::Recordings => &[(Column::Age, 0), (Column::Length, 56)],
        Section::Command => &[],
    };
    all.iter().filter(|(_, least)| width >= *least).map(|(column, _)| *column).collect()
}

/// The heading of the flowing text.
pub(super) fn flow_head(section: Section, tree: bool) -> String {
    match section {
        Section::Processes if tree => "PROCESS".to_string(),
        Section::Processes => format!("{:NAME$}  COMMAND LINE", "NAME"),
        Section::Cgroups => "CONTROL GROUP".to_string(),
        Section::Recordings => format!("{:RECORDING$}  TARGET", "RECORDING"),
        Section::Command => String::new(),
    }
}

/// The context for formatting cells.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellContext<'a> {
    pub theme: &'a Theme,
    pub glyphs: &'a Glyphs,
    pub choices: &'a Choices,
    /// The number of CPUs that fills the bar.
    pub scale: f64,
}

impl CellContext<'_> {
    /// The text of a cell, right-aligned; bars and ages are left-aligned.
    pub fn cell(&self, row: &Row<'_>, column: Column) -> (String, Style) {
        let theme = self.theme;
        match (row, column) {
            (_, Column::Cpu) => {
                let (text, style) = self.measure(row.cpu(), percent);
                // Most processes are idle; dim zeros let the others stand out.
                (text, if row.cpu().is_some_and(|cpu| cpu.value() == Some(&0.0)) { theme.dim } else { style })
            }
            (_, Column::Bar) => (self.bar(row), theme.accent),
            (Row::Machine(_), Column::Id) => ("all".to_string(), theme.text),
            (Row::Process(row), Column::Id) => (row.process.pid.to_string(), theme.text),
            (Row::Cgroup(row), Column::Id) => (row.cgroup.processes.to_string(), theme.text),
            (Row::Process(row), Column::Threads) => (row.process.threads.to_string(), theme.text),
            (Row::Process(row), Column::Memory) => self.measure(Some(row.process.memory), bytes),
            (Row::Recording(it), Column::Age) => (age(self.choices.unix_ns, it.started_unix_ns), theme.text),
            (Row::Recording(it), Column::Length) => match it.duration_s {
                Some(seconds) => (length(seconds), theme.text),
                None => ("-".to_string(), theme.missing),
            },
            _ => (String::new(), theme.text),
        }
    }

    fn measure<T>(&self, value: Option<Measure<T>>, text: impl Fn(T) -> String) -> (String, Style) {
        match value {
            Some(Measure::Known { value, .. }) => (text(value), self.theme.text),
            Some(Measure::Missing(_)) => ("-".to_string(), self.theme.missing),
            None => (String::new(), self.theme.text),
        }
    }

    fn bar(&self, row: &Row<'_>) -> String {
        let top = match row {
            Row::Machine(machine) => machine.cpus as f64,
            _ => self.scale,
        };
        let cpu = row.cpu().and_then(|cpu| cpu.value().copied()).unwrap_or(0.0);
        let share = if top > 0.0 { (cpu / top).clamp(0.0, 1.0) } else { 0.0 };
        let eighths = (share * f64::from(Column::Bar.width()) * 8.0).round() as usize;
        let mut bar = self.glyphs.eighths[7].repeat(eighths / 8);
        if let Some(part) = (eighths % 8).checked_sub(1) {
            bar.push_str(self.glyphs.eighths[part]);
        }
        bar
    }

    /// The name and the text after it.
    pub fn flow(&self, row: &Row<'_>, tree: bool) -> Vec<(String, Style)> {
        let theme = self.theme;
        let named = |name: &str, rest: String| vec![(filled(name, NAME), theme.text), (rest, theme.dim)];
        match row {
            Row::Machine(machine) => {
                let cpus = number::several(machine.cpus as u64, "CPU");
                named("whole machine", format!("everything that runs on {cpus}"))
            }
            Row::Process(row) if tree => {
                let name = visible(&row.process.comm).into_owned();
                let rest = format!("  {}", short(row.process));
                vec![(self.branches(&row.branches), theme.dim), (name, theme.text), (rest, theme.dim)]
            }
            Row::Process(row) => named(&visible(&row.process.comm), short(row.process)),
            Row::Cgroup(row) => {
                let path = &row.cgroup.path;
                let own = if row.branches.is_empty() { path } else { path.rsplit('/').next().unwrap_or(path) };
                vec![(self.branches(&row.branches), theme.dim), (visible(own).into_owned(), theme.text)]
            }
            Row::Recording(it) => recording(it, theme),
        }
    }

    /// The branch lines of a tree row.
    fn branches(&self, branches: &[bool]) -> String {
        let [more, last, past] = self.glyphs.branches;
        let Some((own, above)) = branches.split_last() else { return String::new() };
        let above = above.iter().map(|more| if *more { past } else { "  " });
        above.chain([if *own { more } else { last }]).collect()
    }
}

fn recording(it: &RecordingChoice, theme: &Theme) -> Vec<(String, Style)> {
    let name = it.path.to_string_lossy();
    vec![(filled(&visible(&name), RECORDING), theme.text), (visible(&it.target).into_owned(), theme.dim)]
}

/// Pads the text to that width, plus two blanks.
fn filled(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text)) + 2))
}

/// The command line without the program's directory.
fn short(process: &ProcessChoice) -> String {
    let command = process.command.as_str();
    let program = command.split(' ').next().unwrap_or_default();
    let directory = if program.starts_with('/') { program.rfind('/').map_or(0, |at| at + 1) } else { 0 };
    visible(&command[directory..]).into_owned()
}

/// Share of one CPU in whole percent: the resolution of the kernel's clock ticks over one second.
fn percent(cpus: f64) -> String {
    match cpus * 100.0 {
        percent if percent > 0.0 && percent < 0.5 => "<1%".to_string(),
        percent => format!("{}%", number::count(percent.round().max(0.0) as u64)),
    }
}

fn bytes(bytes: u64) -> String {
    number::quantity(bytes as f64, Unit::Bytes).joined()
}
