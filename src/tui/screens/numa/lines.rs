//! The lines of the screen: memory and threads by node, sampled accesses, shared cache lines.

use crate::model::Unit;
use crate::view::Measured;
use crate::view::fit::{left, right, width};
use crate::view::memory::{LineView, MemoryView};
use crate::view::numa::NumaView;
use crate::view::number::{count, percent, quantity, seconds, three_digits};
use crate::view::places::PlacesView;

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Heading,
    Captions,
    Text,
    Quiet,
    Alert,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub tone: Tone,
    pub text: String,
}

impl Line {
    pub fn of(tone: Tone, text: impl Into<String>) -> Line {
        Line { tone, text: text.into() }
    }
}

/// All lines.
pub(super) fn lines(view: &NumaView) -> Vec<Line> {
    let mut out = match &view.places {
        Some(places) => nodes(places),
        None => vec![Line::of(Tone::Text, "the CPUs of the machine and their nodes were not recorded")],
    };
    out.push(Line::of(Tone::Text, ""));
    match &view.accesses {
        Some(accesses) => {
            out.extend(levels(accesses));
            out.extend(accesses.lines.iter().flat_map(shared));
        }
        None => {
            out.push(Line::of(Tone::Heading, "Memory accesses"));
            let text = "  none were sampled: `perf mem record` does where the CPU can, and ironlaw reads its perf.data";
            out.push(Line::of(Tone::Quiet, text));
        }
    }
    out
}

fn shown(value: Measured, unit: Unit) -> String {
    value.value().map_or("-".to_string(), |value| quantity(value, unit).joined())
}

fn nodes(places: &PlacesView) -> Vec<Line> {
    let read = places.at_s.map_or("not read".to_string(), |at| {
        let many = if places.processes == 1 { "process" } else { "processes" };
        format!("pages of {} {many} at {}", count(places.processes as u64), seconds(at).joined())
    });
    let mut out = vec![Line::of(Tone::Heading, format!("Memory and threads by node  {read}"))];
    out.push(Line::of(Tone::Text, format!("  {}", places.text())));
    let head = ["node", "anonymous", "files", "huge pages", "threads", "samples"].map(String::from);
    let rows = places.nodes.iter().map(|node| {
        let bytes = [node.anonymous_bytes, node.file_bytes, node.huge_bytes].map(|it| shown(it, Unit::Bytes));
        let [anonymous, file, huge] = bytes;
        let share = shown(node.cpu_share, Unit::Share);
        [node.node.to_string(), anonymous, file, huge, count(node.threads as u64), share]
    });
    out.extend(table(&head, &rows.collect::<Vec<_>>()));
    out
}

fn levels(view: &MemoryView) -> Vec<Line> {
    let counts = format!("{} loads, {} stores sampled", count(view.loads), count(view.stores));
    let mut out = vec![Line::of(Tone::Heading, format!("Memory accesses  {counts}"))];
    let head = ["where the data was", "samples", "of latency", "mean cycles", "median"].map(String::from);
    let cycles = |value: Measured| value.value().map_or("-".to_string(), three_digits);
    let rows = view.levels.iter().map(|row| {
        let share = row.latency_share.value().map_or("-".to_string(), |share| percent(share).joined());
        let (mean, median) = (cycles(row.latency.mean_cycles), cycles(row.latency.median_cycles));
        [row.place.label(), count(row.samples), share, mean, median]
    });
    out.extend(table(&head, &rows.collect::<Vec<_>>()));
    out
}

fn shared(line: &LineView) -> Vec<Line> {
    let of = line.pid.map_or("the kernel".to_string(), |pid| format!("pid {pid}"));
    let hitm = format!("HITM {} local, {} remote", count(line.hitm_local), count(line.hitm_remote));
    let tone = if line.sharing == "false_sharing" { Tone::Alert } else { Tone::Text };
    let mut out = vec![
        Line::of(Tone::Text, ""),
        Line::of(Tone::Heading, format!("Cache line {} of {of}  {hitm}", line.address)),
        Line::of(tone, format!("  {}", line.verdict())),
    ];
    let head = ["offset", "loads", "stores", "HITM", "who"].map(String::from);
    let rows = line.uses.iter().map(|it| {
        let who = format!("{} by {}", it.function, it.threads.join(", "));
        [format!("+{:#04x}", it.offset), count(it.loads), count(it.stores), count(it.hitm_local + it.hitm_remote), who]
    });
    out.extend(table(&head, &rows.collect::<Vec<_>>()));
    out
}

/// Rows below their captions; the first column and a last one of names are left-aligned.
fn table<const N: usize>(head: &[String; N], rows: &[[String; N]]) -> Vec<Line> {
    let wide = |at: usize| rows.iter().chain([head]).map(|row| width(&row[at])).max().unwrap_or_default();
    let widths: [usize; N] = std::array::from_fn(wide);
    let line = |row: &[String; N]| {
        let mut text = String::from(" ");
        for (at, cell) in row.iter().enumerate() {
            let is_name = at == 0 || head[at] == "who";
            text += &format!(" {} ", if is_name { left(cell, widths[at]) } else { right(cell, widths[at]) });
        }
        text.trim_end().to_string()
    };
    let captions = Line::of(Tone::Captions, line(head));
    std::iter::once(captions).chain(rows.iter().map(|row| Line::of(Tone::Text, line(row)))).collect()
}
