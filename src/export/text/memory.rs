//! The tables of sampled memory accesses and of shared cache lines.

use super::page::{Ink, Page};
use crate::export::columns;
use crate::view::escape::visible;
use crate::view::memory::{self, LineView, MemoryView, UseView, cycles};
use crate::view::number;
use crate::view::places::{self, PlacesView};

/// Threads of a line's user that are named.
const NAMED: usize = 3;

/// Where memory is and threads run.
pub(super) fn places(page: &mut Page, view: &PlacesView) {
    page.heading("Memory by node", &view.about());
    page.table(&places::NODE_CAPTIONS, &view.nodes.iter().map(|node| node.cells().to_vec()).collect::<Vec<_>>());
    page.paragraph("  ", &view.text(), Some(Ink::Quiet));
    if let Some((captions, rows)) = view.expected_table() {
        page.heading(places::EXPECTED_HEADING.0, places::EXPECTED_HEADING.1);
        page.table(&captions.iter().map(String::as_str).collect::<Vec<_>>(), &rows);
    }
}

pub(super) fn write(page: &mut Page, view: &MemoryView) {
    page.heading("Memory accesses", &view.about());
    if view.accesses == 0 {
        page.line("  - none of the selected threads in the selected time");
        return;
    }
    page.table(&memory::LEVEL_CAPTIONS, &view.levels.iter().map(|row| row.cells().to_vec()).collect::<Vec<_>>());
    page.paragraph("  ", &view.rest(), Some(Ink::Quiet));
    if !view.nodes.is_empty() {
        page.heading(memory::NODE_HEADING.0, memory::NODE_HEADING.1);
        page.table(&memory::NODE_CAPTIONS, &view.nodes.iter().map(|row| row.cells().to_vec()).collect::<Vec<_>>());
    }
    if !view.pairs.is_empty() {
        page.heading(memory::PAIR_HEADING.0, memory::PAIR_HEADING.1);
        page.table(&memory::PAIR_CAPTIONS, &view.pairs.iter().map(|row| row.cells().to_vec()).collect::<Vec<_>>());
    }
    lines(page, view);
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
        let text = "no store was sampled, so writers are missing: `record --mem` samples them where the CPU can";
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
        line.latency.text()
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
