//! One row per sample or wait with its stack by name: CSV for spreadsheets, JSON Lines for scripts, Parquet for
//! databases.
//! At most one row group of a Parquet file is in memory.

mod jsonl;
mod parquet;
mod record;

pub use jsonl::jsonl;
pub use parquet::parquet;

use super::csv::{cells_of, line, text};
use super::quote::failed;
use crate::error::{Context, Result};
use crate::view::sampled::Sampled;
use record::{Record, Stacks};
use std::io::Write;

/// Samples: `time_s, pid, tid, thread, process, cpu, event, weight, kernel, function, module, stack`. Waits have
/// `state`, `cause`, `blocked_ns`, `queued_ns`, `count` and `longest_ns` in place of CPU, event, weight and mode.
///
/// # Errors
/// Those of the writer.
pub fn csv(sampled: &Sampled<'_>, out: &mut dyn Write) -> Result<()> {
    let own: &[&str] = if sampled.is_off_cpu() {
        &["state", "cause", "blocked_ns", "queued_ns", "count", "longest_ns"]
    } else {
        &["cpu", "event", "weight", "kernel"]
    };
    let head = ["time_s", "pid", "tid", "thread", "process"].iter().chain(own).chain(&["function", "module", "stack"]);
    let mut row = String::new();
    line(&mut row, &head.map(ToString::to_string).collect::<Vec<_>>());
    out.write_all(row.as_bytes()).context(failed)?;
    let mut stacks = Stacks::default();
    for seen in sampled.rows() {
        row.clear();
        let record = stacks.record(sampled, seen);
        cells_of(&mut row, &cells(&record));
        row.push(',');
        row.push_str(record.words.cells.get_or_init(|| code(&record)));
        row.push_str("\r\n");
        out.write_all(row.as_bytes()).context(failed)?;
    }
    Ok(())
}

fn cells(record: &Record<'_>) -> Vec<String> {
    let row = record.row;
    let mut cells = vec![
        format!("{}.{:09}", row.at.0 / 1_000_000_000, row.at.0 % 1_000_000_000),
        row.pid.to_string(),
        row.tid.to_string(),
        text(record.thread),
        text(record.process),
    ];
    match record.state {
        Some(state) => {
            let optional = |nanos: Option<u64>| nanos.map_or(String::new(), |nanos| nanos.to_string());
            cells.extend([state.to_string(), record.cause.to_string(), row.weight.to_string(), optional(row.queued)]);
            cells.extend([row.count.to_string(), optional(row.longest)]);
        }
        None => cells.extend([
            row.cpu.map_or(String::new(), |cpu| cpu.to_string()),
            text(record.event),
            row.weight.to_string(),
            row.kernel.map_or(String::new(), |kernel| kernel.to_string()),
        ]),
    }
    cells
}

/// Function, module and stack as cells; samples share them.
fn code(record: &Record<'_>) -> String {
    let words = &record.words;
    let mut out = String::new();
    cells_of(&mut out, &[&words.function, &words.module, &words.stack].map(|name| text(name)));
    out
}
