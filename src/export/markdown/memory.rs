//! Memory by node, sampled memory accesses and shared cache lines of a report.

use super::spans::code;
use crate::view::memory::{self, LineView, MemoryView, cycles};
use crate::view::number;
use crate::view::places::{self, PlacesView};

pub(super) fn places(out: &mut String, view: &PlacesView) {
    out.push_str(&format!("\n### Memory by node\n\n{}: {}\n\n", view.about(), view.text()));
    table(out, &places::NODE_CAPTIONS, view.nodes.iter().map(|node| node.cells().to_vec()));
    if let Some((captions, rows)) = view.expected_table() {
        let (heading, about) = places::EXPECTED_HEADING;
        out.push_str(&format!("\n### {heading}\n\n{about}\n\n"));
        table(out, &captions, rows.into_iter());
    }
}

pub(super) fn write(out: &mut String, view: &MemoryView) {
    out.push_str(&format!("\n### Memory accesses\n\n{}\n\n", view.about()));
    if view.accesses == 0 {
        return;
    }
    table(out, &memory::LEVEL_CAPTIONS, view.levels.iter().map(|row| row.cells().to_vec()));
    out.push_str(&format!("\n{}\n", view.rest()));
    if !view.nodes.is_empty() {
        out.push_str("\n### Accesses by NUMA node\n\n");
        table(out, &memory::NODE_CAPTIONS, view.nodes.iter().map(|row| row.cells().to_vec()));
    }
    if !view.pairs.is_empty() {
        let (heading, about) = memory::PAIR_HEADING;
        out.push_str(&format!("\n### {heading}\n\n{about}\n\n"));
        table(out, &memory::PAIR_CAPTIONS, view.pairs.iter().map(|row| row.cells().to_vec()));
    }
    let alone = number::count(view.lines_of_one_thread as u64);
    out.push_str(&format!("\n### Shared cache lines\n\n{alone} more sampled lines were used by one thread each.\n"));
    view.lines.iter().for_each(|shared| line(out, shared));
    if view.lines_left_out > 0 {
        out.push_str(&format!("\nand {} more\n", view.lines_left_out));
    }
}

fn line(out: &mut String, line: &LineView) {
    let of = line.pid.map_or("the kernel".to_string(), |pid| format!("process {pid}"));
    let (local, remote) = (number::count(line.hitm_local), number::count(line.hitm_remote));
    out.push_str(&format!(
        "\n{} of {of}: {}; HITM {local} local, {remote} remote\n\n",
        code(&line.address),
        line.verdict()
    ));
    out.push_str(
        "| offset | loads | stores | HITM | cycles | function | threads |\n|---:|---:|---:|---:|---:|---|---|\n",
    );
    for it in &line.uses {
        let threads: Vec<_> = it.threads.iter().map(|thread| code(thread)).collect();
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | {} |\n",
            it.offset,
            number::count(it.loads),
            number::count(it.stores),
            number::count(it.hitm_local + it.hitm_remote),
            cycles(it.latency.mean_cycles),
            code(&it.function),
            threads.join(", ")
        ));
    }
}

/// A table of plain words and numbers; the first column is left-aligned.
pub(super) fn table(out: &mut String, captions: &[impl AsRef<str>], rows: impl Iterator<Item = Vec<String>>) {
    let captions: Vec<&str> = captions.iter().map(AsRef::as_ref).collect();
    out.push_str(&format!("| {} |\n|---|{}\n", captions.join(" | "), "---:|".repeat(captions.len() - 1)));
    rows.for_each(|row| out.push_str(&format!("| {} |\n", row.join(" | "))));
}
