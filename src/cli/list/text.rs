//! Formats the lists as text: one entry a line, no wider than the terminal.

use super::entry::Entry;
use super::events::Listing;
use super::selection::{Kind, Selection};
use super::usdt;
use crate::collect::targets::CgroupTotal;
use crate::view::escape::visible;
use crate::view::fit;
use crate::view::number;
use std::fmt::Write;

const TITLES: [(Kind, &str); 6] = [
    (Kind::Hardware, "Hardware events"),
    (Kind::Software, "Software events"),
    (Kind::Cache, "Cache events"),
    (Kind::Pmu, "Events of PMUs, and of this CPU by the vendor's name"),
    (Kind::Tracepoint, "Tracepoints"),
    (Kind::Metric, "Metrics (-M)"),
];

/// The least room for a status.
const STATUS: usize = 24;

/// The events by kind. Tracepoints are only counted unless the user asks for them.
pub(super) fn events(listing: &Listing, selection: &Selection, width: Option<usize>) -> Vec<u8> {
    let mut out = String::new();
    for (kind, title) in TITLES {
        let entries: Vec<&Entry> = listing.events.iter().filter(|entry| entry.kind == kind).collect();
        if entries.is_empty() || kind == Kind::Tracepoint && selection.is_all() {
            continue;
        }
        let _ = writeln!(out, "{}{title}", if out.is_empty() { "" } else { "\n" });
        section(&mut out, &entries, width);
    }
    for note in &listing.notes {
        let lines = fit::wrap(&visible(note), width.unwrap_or(100));
        let _ = writeln!(out, "{}{}", if out.is_empty() { "" } else { "\n" }, lines.join("\n"));
    }
    if selection.is_all() {
        out += "\nAlso taken: rNNN, PMU/TERM=VALUE,.../, {a,b}, patterns such as 'sched:*', and :u :k :p after a name;\n\
                see `ironlaw help record`. `ironlaw list tracepoint` lists tracepoints, `ironlaw list cgroups` groups for -G.\n";
    }
    out.into_bytes()
}

/// Names that take more than half of a terminal have their status below.
fn section(out: &mut String, entries: &[&Entry], width: Option<usize>) {
    let shown: Vec<String> = entries.iter().map(|entry| visible(&names(entry)).into_owned()).collect();
    let column =
        shown.iter().map(|names| fit::width(names)).max().unwrap_or(0).min(width.map_or(usize::MAX, |width| width / 2));
    for (entry, names) in entries.iter().zip(&shown) {
        let status = visible(&status(entry)).into_owned();
        let room = width.map_or(usize::MAX, |width| width.saturating_sub(column + 4).max(STATUS));
        let indent = format!("\n{}", " ".repeat(column + 4));
        let glue = if fit::width(names) > column { &indent } else { "  " };
        let line = format!("  {}{glue}{}", fit::left(names, column), fit::wrap(&status, room).join(&indent));
        let _ = writeln!(out, "{}", line.trim_end());
    }
}

/// The names that an event has in full. Those of a cache differ only in that of the cache.
fn names(entry: &Entry) -> String {
    match entry.kind {
        Kind::Cache => entry.name.clone(),
        _ => entry.names().map(String::as_str).collect::<Vec<_>>().join(" OR "),
    }
}

fn status(entry: &Entry) -> String {
    let why = entry.why.as_deref().unwrap_or_default();
    match (entry.kind, entry.counted) {
        (Kind::Tracepoint, _) => String::new(),
        (Kind::Metric, Some(false)) => format!("missing here: {why}"),
        (Kind::Metric, _) => "available".to_string(),
        (_, Some(true)) if why.is_empty() => "counted".to_string(),
        (_, Some(true)) => format!("counted {why}"),
        (_, Some(false)) => format!("not counted here: {why}"),
        (_, None) => format!("not tried: {why}"),
    }
}

/// The probes of each file, as `--ops` takes them.
pub(super) fn usdt(listing: &usdt::Listing, width: Option<usize>) -> Vec<u8> {
    let mut out = String::new();
    for file in &listing.files {
        let _ = writeln!(out, "{}{}", if out.is_empty() { "" } else { "\n" }, visible(&file.path));
        let room = file.probes.iter().map(|probe| probe.provider.len() + probe.name.len() + 1).max().unwrap_or(0);
        for probe in &file.probes {
            let name = format!("{}:{}", probe.provider, probe.name);
            let places = if probe.places == 1 { "1 place".to_string() } else { format!("{} places", probe.places) };
            let semaphore = if probe.semaphore { ", semaphore" } else { "" };
            let _ = writeln!(out, "  {name:room$}  {places}{semaphore}");
        }
    }
    if let Some(probe) = listing.files.iter().flat_map(|file| &file.probes).next() {
        let text =
            "A probe with a semaphore is reached only while somebody counts it, which the kernel tells the program.";
        let _ = writeln!(out, "\nCount one with --ops {}", visible(&probe.ops));
        let _ = writeln!(out, "{}", fit::wrap(text, width.unwrap_or(100)).join("\n"));
    }
    for note in &listing.notes {
        let _ = writeln!(out, "{}", fit::wrap(&visible(note), width.unwrap_or(100)).join("\n"));
    }
    out.into_bytes()
}

/// The control groups as a table.
pub(super) fn cgroups(groups: &[CgroupTotal]) -> Vec<u8> {
    let cpu = |group: &CgroupTotal| match group.cpu_ns {
        Some(used) => number::seconds(used as f64 * 1e-9).joined(),
        None => "-".to_string(),
    };
    let mut out = format!("{:>10}  {:>9}  control group\n", "CPU time", "processes");
    for group in groups {
        let _ = writeln!(out, "{:>10}  {:>9}  {}", cpu(group), group.processes, visible(&group.path));
    }
    out.into_bytes()
}
