//! JSON Lines: one object per sample or wait, for jq, databases and scripts.

use super::record::{Record, Stacks};
use crate::error::{Context, Result};
use crate::export::quote::failed;
use crate::view::sampled::Sampled;
use serde::Serialize;
use std::io::Write;

/// One line. A name is in it as the target gave it, escaped as JSON is.
#[derive(Serialize)]
struct Line<'a> {
    time_s: f64,
    pid: u32,
    tid: u32,
    thread: &'a str,
    process: &'a str,
    #[serde(flatten)]
    what: What<'a>,
    function: &'a str,
    module: &'a str,
    file: Option<&'a str>,
    line: Option<u32>,
    /// From the root.
    stack: Vec<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum What<'a> {
    Sample {
        cpu: Option<u32>,
        event: &'a str,
        weight: u64,
        kernel: Option<bool>,
    },
    Wait {
        state: &'static str,
        cause: &'a str,
        blocked_ns: u64,
        queued_ns: Option<u64>,
        count: u64,
        longest_ns: Option<u64>,
    },
}

/// Writes the fields of the CSV export, with source file and line, and the stack as a list.
///
/// # Errors
/// Those of the writer.
pub fn jsonl(sampled: &Sampled<'_>, out: &mut dyn Write) -> Result<()> {
    let mut stacks = Stacks::default();
    for seen in sampled.rows() {
        let record = stacks.record(sampled, seen);
        serde_json::to_writer(&mut *out, &line(&record)).map_err(std::io::Error::from).context(failed)?;
        out.write_all(b"\n").context(failed)?;
    }
    Ok(())
}

fn line<'a>(record: &'a Record<'_>) -> Line<'a> {
    let (row, words) = (record.row, &record.words);
    Line {
        time_s: row.at.0 as f64 / 1e9,
        pid: row.pid,
        tid: row.tid,
        thread: record.thread,
        process: record.process,
        what: match record.state {
            None => What::Sample { cpu: row.cpu, event: record.event, weight: row.weight, kernel: row.kernel },
            Some(state) => What::Wait {
                state,
                cause: &record.cause,
                blocked_ns: row.weight,
                queued_ns: row.queued,
                count: row.count,
                longest_ns: row.longest,
            },
        },
        function: &words.function,
        module: &words.module,
        file: words.file.as_deref(),
        line: words.line,
        stack: words.stack.split(';').filter(|name| !name.is_empty()).collect(),
    }
}
