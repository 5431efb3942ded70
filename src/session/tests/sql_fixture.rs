//! The tables that the corpus of SQL asks, in `tests/fixtures/sql`: every table of the format as the engine is handed it, with
//! values at the ends of their types, and a small data set. `just sql --fixture` writes them.
#![expect(clippy::unwrap_used, reason = "tests")]

use super::engine_process::written;
use super::simulate::{Settings, simulate_some};
use crate::model::AlarmRow;
use crate::store::dataset::{Partition, TableKind, alarms, file_name, parquet, write_file};
use crate::store::layouts;
use crate::tables::{Table, Values, filled, from_foreign_parquet};
use std::collections::BTreeMap;
use std::fs;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

const WORDS: [&str; 11] =
    ["", "main", "spin", "Spin", "größe", "a_b%c", "it's", "do_work", "libc.so.6", "sleeping", "runnable"];

/// Few different values, so that tables join and groups have rows, and some at the ends of their types.
struct Seeded(u64);

impl Seeded {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 8
    }
}

impl Values for Seeded {
    fn number(&mut self) -> u64 {
        let random = self.next();
        match random % 32 {
            0 => u64::MAX - random % 3,
            1 => (1 << 63) + random % 3,
            2..8 => self.next() % 1_000_000,
            _ => self.next() % 8,
        }
    }

    fn text(&mut self) -> String {
        WORDS[self.next() as usize % WORDS.len()].to_string()
    }
}

fn parts() -> BTreeMap<&'static str, Vec<(String, Table)>> {
    let mut values = Seeded(20);
    let mut parts = BTreeMap::new();
    for (name, layout) in layouts().unwrap() {
        let of = |rows, values: &mut Seeded| filled(&layout, rows, values).unwrap();
        let all = vec![("a".to_string(), of(60, &mut values)), ("b".to_string(), of(12, &mut values))];
        parts.insert(name, all);
    }
    // As of an earlier format.
    let older = Table::builder(3).u64("at_ns", [1, 2, 3].into_iter()).u32("tid", [4, 5, 6].into_iter());
    parts.get_mut("samples").unwrap().push(("old".to_string(), older.build().unwrap()));
    let functions = Table::builder(WORDS.len())
        .text("function", WORDS.iter())
        .text("module", WORDS.iter().rev())
        .u64("self_weight", (0..11).map(|at| 1_000_000_000 >> at))
        .u64("total_weight", (0..11).map(|at| 2_000_000_000 >> at))
        .u64("self_samples", (0..11).map(|at| 1000 >> at))
        .u64("total_samples", (0..11).map(|at| 2000 >> at));
    parts.insert("functions", vec![("a".to_string(), functions.build().unwrap())]);
    parts
}

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sql")
}

#[test]
#[ignore = "writes the fixture: just sql --fixture"]
fn write() {
    let (recording, fleet) = (fixture().join("recording"), fixture().join("fleet"));
    for folder in [&recording, &fleet] {
        if folder.exists() {
            fs::remove_dir_all(folder).unwrap();
        }
    }
    fs::create_dir_all(&recording).unwrap();
    for (name, parts) in parts() {
        for (at, file) in written(name, &parts).unwrap().iter().enumerate() {
            let bytes = fs::read(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap();
            fs::write(recording.join(format!("{name}-{at}.parquet")), bytes).unwrap();
        }
    }
    let settings = Settings { hosts: 6, days: 1, jobs: 4, seed: 4 };
    simulate_some(&fleet, settings, |second| second % 3600 == 0).unwrap();
    // The simulation has no watch that could raise one.
    let alarm = |start_s, cause: &str, ratio, suspect: Option<&str>| AlarmRow {
        start_s,
        cause: cause.into(),
        ratio,
        suspect: suspect.map(String::from),
        confidence: None,
    };
    for (job, start_s) in [("job-000", 1_767_571_200), ("job-001", 1_767_574_800)] {
        let rows = [
            alarm(start_s, "neighbour", Some(1.5), Some("job-003")),
            alarm(start_s + 60, "neighbour", Some(1.25), None),
            alarm(start_s + 120, "unknown", None, None),
        ];
        let folder = Partition::new(job, "host-000001").unwrap().folder(&fleet, TableKind::Alarms, start_s / 86_400);
        write_file(&folder, &file_name(start_s, 1), &parquet(&alarms(&rows).unwrap()).unwrap()).unwrap();
    }
}

#[test]
fn the_fixture_has_the_columns_that_the_format_has() {
    for (name, parts) in parts() {
        let bytes = fs::read(fixture().join(format!("recording/{name}-0.parquet"))).unwrap();
        let stored = from_foreign_parquet(&bytes).unwrap();
        assert!(stored.has_columns_of(&parts[0].1.labelled("recording", "a")), "{name}: run `just sql --fixture`");
    }
}
