//! A day of the data set in fast motion: what the real writer makes of 1,440 minutes put together from a recording.
//! `just dataset-day RECORDING` runs it.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement")]

use super::dataset::FLUSH_EVERY_S;
use crate::analysis::TimeRange;
use crate::analysis::dataset::{DatasetLabels, WINDOW_S, dataset_rows, spans};
use crate::model::{DatasetRows, FunctionRow, NeighbourRow, WindowRow};
use crate::session;
use crate::store::dataset::{DatasetWriter, Origin, TableKind};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Minutes are put together from pieces of this length, so that no two minutes of the day have the same numbers: equal
/// ones would shrink as those of no machine do.
const PIECE_S: u64 = 5;
const PIECES: usize = (WINDOW_S / PIECE_S) as usize;
const MINUTES: i64 = 1440;
const MINUTE_S: i64 = WINDOW_S as i64;
/// Midnight of 2026-01-01.
const MIDNIGHT_S: i64 = 1_767_225_600;
/// Neighbours of a window that are told apart.
const MOST_NEIGHBOURS: usize = 20;

/// Numbers in the order of a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[(self.next() % all.len() as u64) as usize]
    }
}

/// A piece of a recording: the window and its neighbours.
type Piece = (WindowRow, Vec<NeighbourRow>);

/// What a recording is made of.
struct Recorded {
    pieces: Vec<Piece>,
    /// The functions of each whole minute.
    functions: Vec<Vec<FunctionRow>>,
    /// CPU time to make the rows of a minute, seconds.
    rows_s: f64,
}

fn recorded(path: &Path) -> Recorded {
    let profile = session::open(path).unwrap();
    let whole = TimeRange::default().window(&profile.ticks, profile.duration());
    let labels = DatasetLabels { version: Some("2026.1".into()), config: None };
    let spans_of = |length_s| spans(&profile.ticks, profile.meta.started_unix_ns, whole, length_s, None);
    // The first and the last are shorter.
    let inner = |length_s| {
        let all = spans_of(length_s);
        all[1..all.len() - 1].to_vec()
    };
    let rows = dataset_rows(&profile, &inner(PIECE_S), &labels);
    let mut neighbours: BTreeMap<i64, Vec<NeighbourRow>> = BTreeMap::new();
    for row in rows.neighbours {
        neighbours.entry(row.start_s).or_default().push(row);
    }
    let piece = |window: WindowRow| {
        let neighbours = neighbours.remove(&window.start_s).unwrap_or_default();
        (window, neighbours)
    };
    let pieces = rows.windows.into_iter().map(piece).collect();
    let (minutes, before) = (inner(WINDOW_S), cpu_s());
    let functions: Vec<_> =
        minutes.iter().map(|minute| dataset_rows(&profile, std::slice::from_ref(minute), &labels).functions).collect();
    Recorded { pieces, rows_s: (cpu_s() - before) / functions.len() as f64, functions }
}

/// The counts that a host without a PMU, and a job without `--ops`, lack.
fn fill(window: &mut WindowRow, random: &mut Random) {
    let mut count = |most: f64| Some((most * (0.5 + random.next() as f64 / u64::MAX as f64 / 2.0)).round());
    window.operations = count(1e6);
    window.instructions = count(1e11);
    window.cycles = count(1e11);
    window.llc_misses = count(1e8);
    window.page_walk_cycles = count(1e9);
    window.memory_bytes = count(1e11);
    window.run_queue_s = count(1e9).map(|ns| ns * 1e-9);
    window.throttled_s = count(1e9).map(|ns| ns * 1e-9);
}

/// A minute put together from pieces at random.
fn minute(recorded: &Recorded, start_s: i64, filled: bool, random: &mut Random) -> DatasetRows {
    let mut window: Option<WindowRow> = None;
    let mut used: BTreeMap<String, f64> = BTreeMap::new();
    for _ in 0..PIECES {
        let (piece, neighbours) = random.one_of(&recorded.pieces);
        match &mut window {
            None => window = Some(piece.clone()),
            Some(window) => add(window, piece),
        }
        for row in neighbours {
            *used.entry(row.neighbour.clone()).or_default() += row.cpu_s;
        }
    }
    let mut window = WindowRow { start_s, ..window.unwrap() };
    if filled {
        fill(&mut window, random);
    }
    let functions = random.one_of(&recorded.functions).iter();
    let functions = functions.map(|row| FunctionRow { start_s, length_s: window.length_s, ..row.clone() }).collect();
    let others = used.remove(NeighbourRow::OTHERS).unwrap_or(0.0);
    let mut used: Vec<_> = used.into_iter().collect();
    used.sort_by(|a, b| b.1.total_cmp(&a.1));
    let rest = used.split_off(MOST_NEIGHBOURS.min(used.len()));
    used.push((NeighbourRow::OTHERS.to_string(), others + rest.iter().map(|(_, cpu_s)| cpu_s).sum::<f64>()));
    let row = |(neighbour, cpu_s)| NeighbourRow { start_s, length_s: window.length_s, neighbour, cpu_s };
    let neighbours = used.into_iter().map(row).collect();
    DatasetRows { windows: vec![window], functions, neighbours, alarms: Vec::new() }
}

/// Adds the sums of a piece; what one of the two lacks is missing.
fn add(sum: &mut WindowRow, piece: &WindowRow) {
    fn counts(row: &mut WindowRow) -> [&mut Option<f64>; 13] {
        [
            &mut row.operations,
            &mut row.cpu_s,
            &mut row.kernel_cpu_s,
            &mut row.instructions,
            &mut row.cycles,
            &mut row.llc_misses,
            &mut row.page_walk_cycles,
            &mut row.memory_bytes,
            &mut row.run_queue_s,
            &mut row.throttled_s,
            &mut row.stolen_s,
            &mut row.page_faults,
            &mut row.neighbour_cpu_s,
        ]
    }
    sum.length_s += piece.length_s;
    let mut piece = piece.clone();
    for (sum, more) in counts(sum).into_iter().zip(counts(&mut piece)) {
        *sum = sum.zip(*more).map(|(sum, more)| sum + more);
    }
}

fn files_below(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    paths.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

/// The first number after `name` in a file of /proc.
fn number(file: &str, name: &str) -> f64 {
    let text = fs::read_to_string(file).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// CPU time of this thread, seconds.
fn cpu_s() -> f64 {
    number("/proc/thread-self/schedstat", "") * 1e-9
}

#[test]
#[ignore = "needs a recording: just dataset-day RECORDING"]
fn a_day_of_a_recorded_host() {
    let path = std::env::var_os("IRONLAW_RECORDING").map(PathBuf::from);
    let recorded = recorded(&path.expect("IRONLAW_RECORDING names the recording"));
    let names = recorded.pieces.iter().flat_map(|(_, neighbours)| neighbours).map(|row| &row.neighbour);
    let names = names.collect::<std::collections::BTreeSet<_>>().len();
    println!(
        "{} pieces of {PIECE_S} s, {names} neighbours; rows of a minute take {:.1} ms of the session's thread",
        recorded.pieces.len(),
        recorded.rows_s * 1e3
    );
    for filled in [false, true] {
        day(&recorded, filled);
    }
}

fn day(recorded: &Recorded, filled: bool) {
    let (dir, mut random) = (tempfile::tempdir().unwrap(), Random(1));
    let origin = Origin { job: "redis".into(), host: "h17".into(), id: 1 };
    let mut writer = DatasetWriter::open(dir.path(), &origin, None).unwrap();
    // The peak begins anew.
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let memory = number("/proc/self/status", "VmRSS:");
    let written = number("/proc/self/io", "wchar:");
    let (mut spent_s, mut neighbours) = (0.0, 0);
    for at in 0..MINUTES {
        let rows = minute(recorded, MIDNIGHT_S + at * MINUTE_S, filled, &mut random);
        neighbours += rows.neighbours.len();
        let before = cpu_s();
        writer.add(rows);
        if (at + 1) * MINUTE_S % FLUSH_EVERY_S as i64 == 0 {
            writer.flush().unwrap();
        }
        spent_s += cpu_s() - before;
    }
    let (written, peak) = (number("/proc/self/io", "wchar:") - written, number("/proc/self/status", "VmHWM:"));
    println!("\n{}", if filled { "every column of windows has values" } else { "as recorded" });
    let (mut files, mut all) = (0, 0);
    for table in TableKind::ALL {
        let found = files_below(&dir.path().join(table.name()));
        let bytes: u64 = found.iter().map(|path| fs::metadata(path).unwrap().len()).sum();
        println!("  {:<12}{} files {bytes:>9} bytes", table.name(), found.len());
        (files, all) = (files + found.len(), all + bytes);
        if let Some(keep) = std::env::var_os("IRONLAW_KEEP") {
            let kept = |path: &PathBuf| fs::copy(path, Path::new(&keep).join(format!("{}-{filled}", table.name())));
            found.iter().for_each(|path| _ = kept(path).unwrap());
        }
    }
    println!("  all         {files} files {all:>9} bytes; {neighbours} rows of neighbours");
    println!(
        "  writer      {spent_s:.2} s of CPU time, {:.1} MB written, {:.1} MB of memory",
        written / 1e6,
        (peak - memory) / 1e3
    );
    assert_eq!(files, 3, "a day has one file for each table but alarms");
}
