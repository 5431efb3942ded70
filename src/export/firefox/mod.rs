//! The profile for profiler.firefox.com in its processed format: threads over time, waits and marks as markers.
//! It is written as a stream, and names are resolved, so the viewer does not look up symbols.

mod frames;
mod meta;
mod thread;

use super::quote::{array, failed, quoted};
use crate::error::{Context, Result};
use crate::view::sampled::{Paths, Row, Sampled, ThreadSamples};
use frames::Frames;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

/// Version of the processed format that is written; the viewer upgrades older versions to its own.
const FORMAT: u32 = 62;
/// The matching version of Gecko's format; nothing here comes from Gecko.
const GECKO_FORMAT: u32 = 24;

/// Writes the profile; the viewer shows `title` as the product.
///
/// # Errors
/// Those of the writer.
pub fn write(sampled: &Sampled<'_>, title: &str, out: &mut dyn Write) -> Result<()> {
    let mut paths = Paths::default();
    let mut threads = sampled.threads(&mut paths);
    // In an off-CPU profile the waits are the samples themselves.
    let mut waits: BTreeMap<(u32, u32), Vec<Row>> = BTreeMap::new();
    for row in sampled.waits().filter(|_| !sampled.is_off_cpu()) {
        paths.id(row.path());
        waits.entry((row.pid, row.tid)).or_default().push(row);
    }
    let known: BTreeSet<_> = threads.iter().map(|thread| (thread.pid, thread.tid)).collect();
    let only_waited = waits.keys().filter(|key| !known.contains(key));
    threads.extend(only_waited.map(|(pid, tid)| ThreadSamples {
        pid: *pid,
        tid: *tid,
        weight: 0,
        samples: Vec::new(),
    }));
    let mut frames = Frames::default();
    let stacks: Vec<usize> = paths.list().iter().map(|path| frames.stack(sampled, &sampled.cells(*path))).collect();
    let event_names = thread::EventNames::of(&mut frames);

    writeln!(out, "{{\"meta\":{},", meta::meta(sampled, title)).context(failed)?;
    array(out, "libs", frames.libs(sampled).iter())?;
    out.write_all(b",\n\"pages\":[],\"counters\":[],\"profilerOverhead\":[],\n\"shared\":").context(failed)?;
    frames.write(out)?;
    out.write_all(b",\n\"threads\":[").context(failed)?;
    let writer = thread::ThreadWriter {
        sampled,
        stacks: &stacks,
        event_names: &event_names,
        scale: thread::Scale::of(sampled, &threads),
    };
    for (at, thread) in threads.iter().enumerate() {
        out.write_all(if at == 0 { b"\n" } else { b",\n" }).context(failed)?;
        let waits = waits.remove(&(thread.pid, thread.tid)).unwrap_or_default();
        writer.write(thread, &waits, &mut paths, at == 0, out)?;
    }
    out.write_all(b"]}\n").context(failed)
}

/// A table's columns as one JSON object.
fn table(length: usize, columns: &[(&str, String)]) -> String {
    let columns: Vec<_> = columns.iter().map(|(key, values)| format!("{}:[{values}]", quoted(key))).collect();
    format!("{{\"length\":{length},{}}}", columns.join(","))
}

/// The same value for every row.
fn all(value: &str, length: usize) -> String {
    vec![value; length].join(",")
}

/// Values separated by commas.
fn list<T: std::fmt::Display>(values: impl Iterator<Item = T>) -> String {
    values.map(|value| value.to_string()).collect::<Vec<_>>().join(",")
}

/// A value or null.
fn or_null<T: std::fmt::Display>(value: Option<T>) -> String {
    value.map_or("null".to_string(), |value| value.to_string())
}
