//! Describes the damage of a recording, so that its reader knows what the numbers lack.

use super::part::{BASELINE, META, Part};
use super::repair::RepairStats;
use std::fmt;

/// A defect of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The file, or the table where no single file is known.
    pub file: String,
    /// What is wrong with it.
    pub problem: String,
    /// What is lost by it.
    pub lost: String,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.file, self.problem, self.lost)
    }
}

impl Damage {
    pub(super) fn of_part(part: Part, problem: impl Into<String>) -> Damage {
        Damage { file: part.file_name(), problem: problem.into(), lost: lost_with(part.table).into() }
    }

    /// A file that was being written when the recorder was killed.
    pub(super) fn leftover(temp: &str, target: &str) -> Damage {
        let lost = match Part::parse(target) {
            Some(part) => format!("if it was being written for the first time, {}", lost_with(part.table)),
            None if target == BASELINE => "the recording holds no baseline".to_string(),
            None if target == META => "the recording's last word about itself is missing".to_string(),
            None => "no data is known to be lost".to_string(),
        };
        Damage { file: temp.to_string(), problem: "the recorder was killed while it wrote this file".into(), lost }
    }

    pub(super) fn rows(table: &str, read: u64, expected: u64) -> Damage {
        let problem = format!("{read} of {expected} rows could be read");
        Damage { file: table.to_string(), problem, lost: lost_with(table).into() }
    }

    pub(super) fn unknown_words(part: Part, rows: u64) -> Damage {
        let problem = format!("{rows} rows hold a value this version does not know");
        Damage { file: part.file_name(), problem, lost: "these rows are left out".into() }
    }

    /// One entry for each kind of repair that was needed.
    pub(super) fn repair_stats(repair_stats: &RepairStats) -> Vec<Damage> {
        let entry = |count: u64, table: &str, problem: &str| {
            let problem = format!("{count} {problem}");
            (count > 0).then(|| Damage { file: table.to_string(), problem, lost: lost_with(table).into() })
        };
        [
            entry(repair_stats.counters, "counters", "counters are not defined any more"),
            entry(repair_stats.modules, "mappings", "modules are not defined any more"),
            entry(repair_stats.frames, "frames", "frames are not defined any more"),
            entry(repair_stats.stacks, "stacks", "stacks are not defined any more"),
            entry(repair_stats.without_stack, "stacks", "samples or spans refer to a stack that is lost"),
            entry(repair_stats.refused, "definitions", "definitions have an impossible number and were left out"),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

fn lost_with(table: &str) -> &'static str {
    match table {
        "counters" => "some counters have lost their names",
        "mappings" => "some frames have lost their module",
        "frames" | "names" => "some frames have lost their names",
        "stacks" => "some samples have lost their call path",
        "tasks" => "some names, births and ends of threads are missing",
        "samples" => "samples are missing: totals are too low",
        "accesses" => "sampled memory accesses are missing: totals are too low",
        "off_cpu" => "spans off the CPU are missing: totals are too low",
        "windows" => "counter readings are missing from some windows",
        "pages" => "some readings of memory by node are missing",
        "lost" => "the count of lost records is too low",
        "ops" => "some counts of operations are missing",
        "latencies" => "some latencies of operations are missing",
        "operations" => "some slow operations are missing",
        "marks" => "some marks are missing",
        _ => "something is missing",
    }
}
