//! The tables of sampled memory accesses and of shared cache lines.

use super::page::{Ink, Page};
use crate::export::columns;
use crate::model::Unit;
use crate::view::Measured;
use crate::view::escape::visible;
use crate::view::number;
use crate::view::report::{LatencyView, LevelView, LineView, MemoryView, PlacesView, UseView};

/// Threads of a line's user that are named.
const NAMED: usize = 3;

/// Where memory is and threads run.
pub(super) fn places(page: &mut Page, view: &PlacesView) {
    let many = if view.processes == 1 { "process" } else { "processes" };
    let at = view.at_s.map_or("not read".to_string(), |at| number::seconds(at).joined());
    page.heading("Memory by node", &format!("pages of {} {many} at {at}", number::count(view.processes as u64)));
    let rows = view.nodes.iter().map(|node| {
        let shown =
            |value: Measured, unit| value.value().map_or("-".to_string(), |it| number::quantity(it, unit).joined());
        let bytes = [node.anonymous_bytes, node.file_bytes, node.huge_bytes].map(|it| shown(it, Unit::Bytes));
        let threads = [number::count(node.threads as u64), shown(node.cpu_share, Unit::Share)];
        [vec![format!("node {}", node.node)], bytes.to_vec(), threads.to_vec()].concat()
    });
    page.table(&["", "anonymous", "files and shared", "huge pages", "threads", "samples"], &rows.collect::<Vec<_>>());
    page.paragraph("  ", &view.text(), Some(Ink::Quiet));
}

pub(super) fn write(page: &mut Page, view: &MemoryView) {
    let counts = format!(
        "{} sampled: {} loads, {} stores; shares are of these, which hardware chooses",
        number::count(view.accesses),
        number::count(view.loads),
        number::count(view.stores)
    );
    page.heading("Memory accesses", &counts);
    if view.accesses == 0 {
        page.line("  - none of the selected threads in the selected time");
        return;
    }
    let rows: Vec<Vec<String>> = view.levels.iter().map(level).collect();
    page.table(&["where the data was", "samples", "share", "of latency", "mean", "median cycles"], &rows);
    page.paragraph("  ", &rest(view), Some(Ink::Quiet));
    nodes(page, view);
    lines(page, view);
}

fn level(row: &LevelView) -> Vec<String> {
    let percent = |share| number::percent(share).joined();
    vec![
        row.place.label(),
        number::count(row.samples),
        percent(row.share),
        row.latency_share.value().map_or("-".to_string(), percent),
        cycles(row.latency.mean_cycles),
        cycles(row.latency.median_cycles),
    ]
}

fn cycles(value: Measured) -> String {
    value.value().map_or("-".to_string(), number::three_digits)
}

/// What the levels do not tell.
fn rest(view: &MemoryView) -> String {
    let tlb = view.tlb_miss_share.value().map_or("-".to_string(), |share| number::percent(share).joined());
    let mut text = format!("all: {}; TLB misses {tlb}; locked {}", took(&view.latency), number::count(view.locked));
    if view.without_address > 0 {
        text.push_str(&format!("; without an address {}", number::count(view.without_address)));
    }
    text
}

fn took(latency: &LatencyView) -> String {
    match latency.mean_cycles {
        Measured::Known { value, .. } => {
            format!("{} cycles, median {}", number::three_digits(value), cycles(latency.median_cycles))
        }
        Measured::Missing { reason, .. } => format!("latency {reason}"),
    }
}

fn nodes(page: &mut Page, view: &MemoryView) {
    if view.nodes.is_empty() {
        return;
    }
    page.heading("Accesses by NUMA node", "those of the CPUs of each node, by who answered");
    let rows = view.nodes.iter().map(|row| {
        let remote = row.remote_cache + row.remote_dram;
        let all = row.local + remote;
        let share = if all == 0 { "-".to_string() } else { number::percent(remote as f64 / all as f64).joined() };
        let counts = [row.local, row.remote_cache, row.remote_dram, row.unknown].map(number::count);
        [vec![format!("node {}", row.node)], counts.to_vec(), vec![share]].concat()
    });
    page.table(&["CPUs of", "local", "remote cache", "remote DRAM", "unknown", "remote"], &rows.collect::<Vec<_>>());
}

fn lines(page: &mut Page, view: &MemoryView) {
    let about = format!("{} bytes each; HITM: loads of a line that another core had modified", view.line_bytes);
    page.heading("Shared cache lines", &about);
    if view.lines.is_empty() {
        let count = number::count(view.lines_of_one_thread as u64);
        page.line(&format!("  - none: one thread alone used each of {count} sampled lines"));
    }
    for line in &view.lines {
        page.line(&head(line));
        page.paragraph("    ", line.verdict(), Some(Ink::Quiet));
        page.captions("      offset   loads  stores    HITM  cycles  who");
        line.uses.iter().for_each(|it| use_line(page, it));
    }
    page.left_out(view.lines_left_out, "shared lines", " (--limit 0 shows all)");
    if view.stores == 0 {
        let text = "no store was sampled, so writers are missing: `perf c2c record` samples them where the CPU can";
        page.paragraph("  ", text, Some(Ink::Quiet));
    }
}

fn head(line: &LineView) -> String {
    let of = line.pid.map_or("kernel".to_string(), |pid| format!("pid {pid}"));
    format!(
        "  {} of {of}: HITM {} local, {} remote; {} loads, {} stores of {} threads; {}",
        line.address,
        number::count(line.hitm_local),
        number::count(line.hitm_remote),
        number::count(line.loads),
        number::count(line.stores),
        line.threads,
        took(&line.latency)
    )
}

fn use_line(page: &mut Page, it: &UseView) {
    let counts =
        [it.loads, it.stores, it.hitm_local + it.hitm_remote].map(|count| columns::right(&number::count(count), 6));
    let offset = format!("+{:#04x}", it.offset);
    let mean = columns::right(&cycles(it.latency.mean_cycles), 6);
    let lead = format!("      {}  {}  {mean}  ", columns::right(&offset, 6), counts.join("  "));
    let mut threads = it.threads.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    if it.threads.len() > NAMED {
        threads.push_str(&format!(" and {} more", it.threads.len() - NAMED));
    }
    let module = it.module.trim_end_matches(" (deleted)").rsplit('/').next().unwrap_or_default();
    let who = format!("{} ({module}) by {threads}", it.function).replace(" ()", "");
    let room = page.room_after(columns::width(&lead));
    page.line(&format!("{lead}{}", columns::end(&visible(&who), room)));
}
