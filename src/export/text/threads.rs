//! The tables of processes and threads.
//! A value that was not read is shown as `-`.

use super::page::{Ink, Page};
use crate::export::columns;
use crate::model::Unit;
use crate::view::Measured;
use crate::view::escape::visible;
use crate::view::number;
use crate::view::report::{ProcessView, Report, ThreadView};

const NAME: usize = 15;

pub(super) fn write(page: &mut Page, report: &Report) {
    if report.processes.len() > 1 {
        page.heading("Processes", "");
        page.captions("      pid name              threads   samples    CPU time");
        report.processes.iter().for_each(|process| page.line(&process_line(process)));
        page.left_out(report.processes_left_out, "processes", "");
    }
    if report.threads.is_empty() {
        return;
    }
    page.heading("Threads", "shares of each thread's life; switches while blocking and by preemption");
    page.captions("      tid name             CPU time   busy  queued  samples  blocking preempted");
    report.threads.iter().for_each(|thread| page.line(&thread_line(thread)));
    page.left_out(report.threads_left_out, "threads", "");
    let blocked: Vec<String> = report
        .threads
        .iter()
        .filter(|thread| thread.is_blocked_throughout())
        .map(|thread| thread.tid.to_string())
        .collect();
    if !blocked.is_empty() {
        let text = format!("blocked throughout, without a switch: {}", blocked.join(", "));
        page.paragraph("  ", &text, Some(Ink::Quiet));
    }
    if report.threads.iter().any(|thread| thread.cpu_time.value().is_none()) {
        page.captions("  -  the thread started and ended between two readings, or was not read");
    }
}

fn process_line(process: &ProcessView) -> String {
    format!(
        "{} {}  {}  {}  {}",
        columns::right(&process.pid.to_string(), 9),
        columns::left(&columns::middle(&visible(&process.name), NAME), NAME),
        columns::right(&number::count(process.threads), 8),
        columns::right(&number::count(process.samples), 8),
        columns::right(&shown(&process.cpu_time, Unit::Seconds), 10),
    )
}

fn thread_line(thread: &ThreadView) -> String {
    format!(
        "{} {} {} {} {} {} {} {}",
        columns::right(&thread.tid.to_string(), 9),
        columns::left(&columns::middle(&visible(&thread.name), NAME), NAME),
        columns::right(&shown(&thread.cpu_time, Unit::Seconds), 9),
        columns::right(&shown(&thread.utilisation, Unit::Share), 6),
        columns::right(&shown(&thread.run_queue_delay, Unit::Share), 7),
        columns::right(&compact(thread.samples), 8),
        columns::right(&whole(&thread.voluntary_switches), 9),
        columns::right(&whole(&thread.involuntary_switches), 9),
    )
}

fn shown(value: &Measured, unit: Unit) -> String {
    value.value().map_or("-".to_string(), |value| number::quantity(value, unit).joined())
}

fn whole(value: &Measured) -> String {
    value.value().map_or("-".to_string(), |value| compact(value.round() as u64))
}

/// All digits where they fit into the column.
fn compact(value: u64) -> String {
    match value {
        0..10_000_000 => number::count(value),
        _ => number::quantity(value as f64, Unit::Count).joined(),
    }
}
