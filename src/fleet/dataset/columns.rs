//! Rows as tables: one column per field, by the field's name. The schema stands in [`crate::model::DatasetRows`].

use crate::error::Result;
use crate::model::{AlarmRow, FunctionRow, NeighbourRow, WindowRow};
use crate::tables::Table;

/// The windows of jobs.
///
/// # Errors
/// None: every column has as many values as there are rows.
pub fn windows(rows: &[WindowRow]) -> Result<Table> {
    type Count = (&'static str, fn(&WindowRow) -> Option<f64>);
    const COUNTS: [Count; 13] = [
        ("operations", |row| row.operations),
        ("cpu_s", |row| row.cpu_s),
        ("kernel_cpu_s", |row| row.kernel_cpu_s),
        ("instructions", |row| row.instructions),
        ("cycles", |row| row.cycles),
        ("llc_misses", |row| row.llc_misses),
        ("page_walk_cycles", |row| row.page_walk_cycles),
        ("memory_bytes", |row| row.memory_bytes),
        ("run_queue_s", |row| row.run_queue_s),
        ("throttled_s", |row| row.throttled_s),
        ("stolen_s", |row| row.stolen_s),
        ("page_faults", |row| row.page_faults),
        ("neighbour_cpu_s", |row| row.neighbour_cpu_s),
    ];
    let table = Table::builder(rows.len())
        .i64("start_s", rows.iter().map(|row| row.start_s))
        .f64("length_s", rows.iter().map(|row| row.length_s))
        .text("platform", rows.iter().map(|row| &row.platform))
        .opt_text("version", rows.iter().map(|row| row.version.as_ref()))
        .opt_text("config", rows.iter().map(|row| row.config.as_ref()))
        .i64("host_cpus", rows.iter().map(|row| row.host_cpus));
    let add = |table: crate::tables::Builder, (name, value): &Count| table.opt_f64(name, rows.iter().map(value));
    COUNTS.iter().fold(table, add).build()
}

/// The functions of jobs.
///
/// # Errors
/// None, as for [`windows`].
pub fn functions(rows: &[FunctionRow]) -> Result<Table> {
    Table::builder(rows.len())
        .i64("start_s", rows.iter().map(|row| row.start_s))
        .f64("length_s", rows.iter().map(|row| row.length_s))
        .opt_text("version", rows.iter().map(|row| row.version.as_ref()))
        .text("function", rows.iter().map(|row| &row.function))
        .text("module", rows.iter().map(|row| &row.module))
        .f64("cpu_s", rows.iter().map(|row| row.cpu_s))
        .i64("samples", rows.iter().map(|row| row.samples))
        .build()
}

/// What else used the machine.
///
/// # Errors
/// None, as for [`windows`].
pub fn neighbours(rows: &[NeighbourRow]) -> Result<Table> {
    Table::builder(rows.len())
        .i64("start_s", rows.iter().map(|row| row.start_s))
        .f64("length_s", rows.iter().map(|row| row.length_s))
        .text("neighbour", rows.iter().map(|row| &row.neighbour))
        .f64("cpu_s", rows.iter().map(|row| row.cpu_s))
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
