//! The profile for speedscope: one sampled profile per thread, the heaviest thread first, samples ordered by time.
//! It is written as a stream.

use super::quote::{array, failed, quoted};
use crate::error::{Context, Result};
use crate::view::sampled::{Cell, Paths, Sampled, ThreadSample, ThreadSamples};
use rustc_hash::FxHashMap;
use std::io::Write;

/// Where the format's schema is published; readers check for this address.
const SCHEMA: &str = "https://www.speedscope.app/file-format-schema.json";

/// Writes the profile; the viewer shows `title` as the file's name.
///
/// # Errors
/// Those of the writer.
pub fn write(sampled: &Sampled<'_>, title: &str, out: &mut dyn Write) -> Result<()> {
    let mut paths = Paths::default();
    let threads = sampled.threads(&mut paths);
    let mut frames = Frames::default();
    let stacks: Vec<String> = paths.list().iter().map(|path| frames.stack(sampled, &sampled.cells(*path))).collect();
    let exporter = format!("ironlaw {}", env!("CARGO_PKG_VERSION"));
    write!(
        out,
        "{{\"$schema\":\"{SCHEMA}\",\"name\":{},\"exporter\":{},\"activeProfileIndex\":0,\"shared\":{{",
        quoted(title),
        quoted(&exporter)
    )
    .context(failed)?;
    array(out, "frames", frames.list.iter())?;
    out.write_all(b"},\"profiles\":[").context(failed)?;
    for (at, thread) in threads.iter().enumerate() {
        out.write_all(if at == 0 { b"\n" } else { b",\n" }).context(failed)?;
        profile(sampled, thread, &stacks, out)?;
    }
    out.write_all(b"]}\n").context(failed)
}

/// The distinct frames as JSON, in order of first use.
#[derive(Default)]
struct Frames {
    list: Vec<String>,
    ids: FxHashMap<String, usize>,
}

impl Frames {
    /// A stack as a JSON array of frame numbers, starting at the root.
    fn stack(&mut self, sampled: &Sampled<'_>, cells: &[Cell<'_>]) -> String {
        let ids: Vec<String> = cells.iter().map(|cell| self.id(sampled, cell).to_string()).collect();
        format!("[{}]", ids.join(","))
    }

    /// The same function of the same file is one frame, because the viewer merges stacks by frame.
    fn id(&mut self, sampled: &Sampled<'_>, cell: &Cell<'_>) -> usize {
        let module = sampled.module(cell).map(|module| module.path.as_str());
        let file = sampled.symbol(cell).and_then(|symbol| symbol.file.as_deref()).or(module);
        let file = file.map_or(String::new(), |file| format!(",\"file\":{}", quoted(file)));
        let frame = format!("{{\"name\":{}{file}}}", quoted(cell.name));
        let next = self.list.len();
        *self.ids.entry(frame).or_insert_with_key(|frame| {
            self.list.push(frame.clone());
            next
        })
    }
}

fn profile(sampled: &Sampled<'_>, thread: &ThreadSamples, stacks: &[String], out: &mut dyn Write) -> Result<()> {
    let unit = match sampled.axis().1 {
        "ns" => "nanoseconds",
        "B" => "bytes",
        _ => "none",
    };
    let name = format!("{} {}", sampled.comm(thread.tid), thread.tid);
    let process = sampled.process_name(thread.pid);
    let name = if thread.pid == thread.tid { name } else { format!("{name} ({process} {})", thread.pid) };
    write!(
        out,
        "{{\"type\":\"sampled\",\"name\":{},\"unit\":\"{unit}\",\"startValue\":0,\"endValue\":{},",
        quoted(name.trim()),
        thread.weight
    )
    .context(failed)?;
    // The viewer takes a sample to last as long as its weight, so equal neighbours are merged.
    let runs = || thread.samples.chunk_by(|a, b| a.path == b.path);
    array(
        out,
        "samples",
        runs().map(|run| run.first().map_or("[]", |sample| stacks[sample.path.0 as usize].as_str())),
    )?;
    out.write_all(b",").context(failed)?;
    array(out, "weights", runs().map(total))?;
    out.write_all(b"}").context(failed)
}

fn total(run: &[ThreadSample]) -> u64 {
    run.iter().fold(0, |sum, sample| sum.saturating_add(sample.weight))
}
