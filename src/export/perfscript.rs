//! Samples as `perf script -F comm,pid,tid,cpu,time,period,event,ip,sym,dso` prints them, a format that many tools
//! read. Names cannot break a line or pass for a number.

use super::quote::failed;
use crate::error::{Context, Result};
use crate::model::{ModuleKind, Unit};
use crate::view::CodeKind;
use crate::view::escape::visible;
use crate::view::sampled::{Cell, Path, Row, Sampled};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;
use std::io::Write;

/// Memory for formatted stacks, bytes.
const KEEP_BYTES: usize = 64 << 20;

/// Writes the samples. A wait is a sample with its nanoseconds as period; its run queue time is a second sample.
///
/// # Errors
/// Those of the writer.
pub fn write(sampled: &Sampled<'_>, out: &mut dyn Write) -> Result<()> {
    let mut stacks = Stacks::default();
    for row in sampled.rows() {
        let event = event(sampled, &row);
        for share in row.shares() {
            let at = sampled.meta().started_mono_ns.saturating_add(share.at.0);
            let (seconds, micros) = (at / 1_000_000_000, at % 1_000_000_000 / 1000);
            let head = head(sampled, &row);
            writeln!(out, "{head} {seconds:5}.{micros:06}: {:10} {event}: ", share.weight).context(failed)?;
            stacks.write(sampled, (share.path, row.pid), out)?;
            out.write_all(b"\n").context(failed)?;
        }
    }
    Ok(())
}

/// `redis-server    41/42    [001]`; a thread without a name gets the name perf would use, and a wait has no CPU.
fn head(sampled: &Sampled<'_>, row: &Row) -> String {
    let comm = unbroken(sampled.comm(row.tid));
    let comm = if comm.is_empty() { format!(":{}", row.tid) } else { comm };
    let cpu = row.cpu.map_or(String::new(), |cpu| format!(" [{cpu:03}]"));
    format!("{comm} {:5}/{:<5}{cpu}", row.pid, row.tid)
}

/// The event; periods are whole numbers, so the name says that they count millionths.
fn event(sampled: &Sampled<'_>, row: &Row) -> String {
    let unit = row.event.and_then(|event| Some(sampled.meta().events.get(usize::from(event))?.unit));
    match unit.filter(|unit| *unit == Unit::Microsamples) {
        Some(unit) => unit.symbol().to_string(),
        None => text(sampled.event_name(row.event)),
    }
}

/// A thread's name that no parser takes for a comment, for a name and a number, or for two names.
fn unbroken(comm: &str) -> String {
    let shown = text(comm).replace(';', ":");
    let mut out = String::with_capacity(shown.len());
    let mut chars = shown.chars().peekable();
    if shown.starts_with('#') {
        out.push('\\');
    }
    while let Some(c) = chars.next() {
        let number_follows = chars.peek().is_some_and(char::is_ascii_digit);
        out.push(if c == ' ' && number_follows { '\u{a0}' } else { c });
    }
    out
}

fn text(name: &str) -> String {
    visible(name).trim().to_string()
}

/// Formatted stacks, cached as long as there is room, because samples share them.
#[derive(Default)]
struct Stacks {
    known: FxHashMap<(Path, u32), String>,
    bytes: usize,
}

impl Stacks {
    fn write(&mut self, sampled: &Sampled<'_>, key: (Path, u32), out: &mut dyn Write) -> Result<()> {
        if let Some(lines) = self.known.get(&key) {
            return out.write_all(lines.as_bytes()).context(failed);
        }
        let lines = lines(sampled, key);
        out.write_all(lines.as_bytes()).context(failed)?;
        if self.bytes < KEEP_BYTES {
            self.bytes += lines.len();
            self.known.insert(key, lines);
        }
        Ok(())
    }
}

/// One line per call, the leaf first.
fn lines(sampled: &Sampled<'_>, (path, pid): (Path, u32)) -> String {
    let mut lines = String::new();
    for cell in sampled.cells(path).iter().rev() {
        let name = text(cell.name);
        let has_code = cell.kind != CodeKind::Heading && cell.tail_called_by.is_none();
        let nameless = name.is_empty() || has_code && sampled.symbol(cell).is_none();
        let name = if nameless { "[unknown]" } else { &name };
        let address = sampled.address(cell).unwrap_or_default();
        // Writing to a String cannot fail.
        let _ = writeln!(lines, "\t{address:16x} {name} ({})", object(sampled, cell, pid));
    }
    lines
}

/// The text in brackets: the file as perf names it, or `inlined` for an inlined call.
fn object(sampled: &Sampled<'_>, cell: &Cell<'_>, pid: u32) -> String {
    if cell.inlined {
        return "inlined".to_string();
    }
    match sampled.module(cell) {
        None => "[unknown]".to_string(),
        Some(module) if module.kind == ModuleKind::Kernel && module.path == "[kernel]" => {
            "[kernel.kallsyms]".to_string()
        }
        Some(module) if module.kind == ModuleKind::Jit => format!("/tmp/perf-{pid}.map"),
        // Parsers take the last word of a line as the object.
        Some(module) => text(&module.path).replace(' ', "\u{a0}"),
    }
}
