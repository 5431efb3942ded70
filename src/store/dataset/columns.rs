//! Rows as tables: one column per field, by the field's name. The schema stands in [`crate::model::DatasetRows`].

use crate::error::Result;
use crate::model::{AlarmRow, FunctionRow, NeighbourRow, WindowRow};
use crate::tables::Table;

/// Steps of times in a second, a power of two. The digits below are noise to every question and most of a file: they do
/// not shrink.
const STEPS: f64 = 4096.0;

fn seconds(exact: f64) -> f64 {
    (exact * STEPS).round() / STEPS
}

/// A hardware count to 24 bits, one part in 16 million, for the same reason.
fn counted(exact: f64) -> f64 {
    f64::from(exact as f32)
}

/// The windows of jobs.
///
/// # Errors
/// None: every column has as many values as there are rows.
pub fn windows(rows: &[WindowRow]) -> Result<Table> {
    type Count = (&'static str, fn(&WindowRow) -> Option<f64>, fn(f64) -> f64);
    const COUNTS: [Count; 13] = [
        ("operations", |row| row.operations, |exact| exact),
        ("cpu_s", |row| row.cpu_s, seconds),
        ("kernel_cpu_s", |row| row.kernel_cpu_s, seconds),
        ("instructions", |row| row.instructions, counted),
        ("cycles", |row| row.cycles, counted),
        ("llc_misses", |row| row.llc_misses, counted),
        ("page_walk_cycles", |row| row.page_walk_cycles, counted),
        ("memory_bytes", |row| row.memory_bytes, counted),
        ("run_queue_s", |row| row.run_queue_s, seconds),
        ("throttled_s", |row| row.throttled_s, seconds),
        ("stolen_s", |row| row.stolen_s, seconds),
        ("page_faults", |row| row.page_faults, |exact| exact),
        ("neighbour_cpu_s", |row| row.neighbour_cpu_s, seconds),
    ];
    let table = Table::builder(rows.len())
        .i64("start_s", rows.iter().map(|row| row.start_s))
        .f64("length_s", rows.iter().map(|row| seconds(row.length_s)))
        .text("platform", rows.iter().map(|row| &row.platform))
        .opt_text("version", rows.iter().map(|row| row.version.as_ref()))
        .opt_text("config", rows.iter().map(|row| row.config.as_ref()))
        .i64("host_cpus", rows.iter().map(|row| row.host_cpus));
    let add = |table: crate::tables::Builder, (name, value, rounded): &Count| {
        table.opt_f64(name, rows.iter().map(|row| value(row).map(rounded)))
    };
    COUNTS.iter().fold(table, add).build()
}

/// The functions of jobs.
///
/// # Errors
/// None, as for [`windows`].
pub fn functions(rows: &[FunctionRow]) -> Result<Table> {
    Table::builder(rows.len())
        .i64("start_s", rows.iter().map(|row| row.start_s))
        .f64("length_s", rows.iter().map(|row| seconds(row.length_s)))
        .opt_text("version", rows.iter().map(|row| row.version.as_ref()))
        .text("function", rows.iter().map(|row| &row.function))
        .text("module", rows.iter().map(|row| &row.module))
        .f64("cpu_s", rows.iter().map(|row| seconds(row.cpu_s)))
        .i64("samples", rows.iter().map(|row| row.samples))
        .build()
}

/// What else used the machine.
///
/// # Errors
/// None, as for [`windows`].
pub fn neighbours(rows: &[NeighbourRow]) -> Result<Table> {
    // Absent and without CPU time mean the same.
    let mut rows: Vec<_> = rows.iter().filter(|row| seconds(row.cpu_s) > 0.0).collect();
    // One neighbour after the other: equal names and similar numbers that follow each other shrink by a sixth more.
    rows.sort_by(|a, b| (&a.neighbour, a.start_s).cmp(&(&b.neighbour, b.start_s)));
    Table::builder(rows.len())
        .i64("start_s", rows.iter().map(|row| row.start_s))
        .f64("length_s", rows.iter().map(|row| seconds(row.length_s)))
        .text("neighbour", rows.iter().map(|row| &row.neighbour))
        .f64("cpu_s", rows.iter().map(|row| seconds(row.cpu_s)))
        .build()
}

/// The alarms of watches.
///
/// # Errors
/// None, as for [`windows`].
pub fn alarms(rows: &[AlarmRow]) -> Result<Table> {
    Table::builder(rows.len())
        .i64("start_s", rows.iter().map(|row| row.start_s))
        .text("cause", rows.iter().map(|row| &row.cause))
        .opt_text("confidence", rows.iter().map(|row| row.confidence.as_ref()))
        .opt_f64("ratio", rows.iter().map(|row| row.ratio))
        .opt_text("suspect", rows.iter().map(|row| row.suspect.as_ref()))
        .build()
}
