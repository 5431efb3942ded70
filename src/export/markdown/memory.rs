//! Sampled memory accesses and shared cache lines of a report.

use super::spans::code;
use crate::view::Measured;
use crate::view::number;
use crate::view::report::{LineView, MemoryView};

pub(super) fn write(out: &mut String, view: &MemoryView) {
    out.push_str("\n### Memory accesses\n\n");
    out.push_str("| where the data was | samples | share | of latency | mean cycles | median |\n|---|---:|---:|---:|---:|---:|\n");
    let percent = |share| number::percent(share).joined();
    for row in &view.levels {
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            row.place.label(),
            number::count(row.samples),
            percent(row.share),
            row.latency_share.value().map_or("-".to_string(), percent),
            cycles(row.latency.mean_cycles),
            cycles(row.latency.median_cycles)
        ));
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

fn cycles(value: Measured) -> String {
    value.value().map_or("-".to_string(), number::three_digits)
}
