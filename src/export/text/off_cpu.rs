//! The tables of off-CPU time.
//! Time in the run queue and time blocked are not summed.

use super::page::{Ink, Page};
use crate::export::columns;
use crate::view::escape::visible;
use crate::view::number;
use crate::view::report::{OffCpuView, PathRow};

const LABEL: usize = 30;

pub(super) fn write(page: &mut Page, view: &OffCpuView) {
    page.heading("Off the CPU", "all selected threads together");
    if view.causes.is_empty() {
        page.line("  - no thread left the CPU");
        return;
    }
    page.captions(&row("", "total", "count", "mean", "longest"));
    let time = |seconds: f64| number::seconds(seconds).joined();
    for cause in &view.causes {
        let (mean, max) = (time(cause.mean_s), time(cause.max_s));
        page.line(&row(cause.label, &time(cause.total_s), &number::count(cause.count), &mean, &max));
    }
    let queue = &view.queued_after_wake;
    if queue.count > 0 {
        let mean = time(queue.total_s / queue.count as f64);
        let count = number::count(queue.count);
        page.line(&row("woken, waiting for a CPU", &time(queue.total_s), &count, &mean, &time(queue.max_s)));
    }
    if view.without_wakeup > 0 {
        let spans = if view.without_wakeup == 1 {
            "1 span".to_string()
        } else {
            format!("{} spans", number::count(view.without_wakeup))
        };
        let text = format!("the wake-up of {spans} was not seen: their run-queue time is part of the lines above");
        page.paragraph("  ", &text, Some(Ink::Quiet));
    }
    if let Some(text) = view.coverage.text() {
        page.paragraph("  ", &text, Some(Ink::Quiet));
    }
    paths(page, view);
}

fn row(label: &str, total: &str, count: &str, mean: &str, max: &str) -> String {
    let [total, count, mean, max] = [total, count, mean, max].map(|text| columns::right(text, 10));
    format!("  {}{total}  {count}  {mean}  {max}", columns::left(label, LABEL))
}

fn paths(page: &mut Page, view: &OffCpuView) {
    if view.paths.is_empty() {
        return;
    }
    page.heading("Blocked longest", "by call path, innermost function first");
    page.captions("       total       count  why and where");
    for path in &view.paths {
        let lead = format!(
            "{}  {}  ",
            columns::right(&number::seconds(path.total_s).joined(), 12),
            columns::right(&number::count(path.count), 10)
        );
        let room = page.room_after(columns::width(&lead));
        let why = path.age().map_or(path.cause.label().to_string(), |age| format!("{}, {age}", path.cause.label()));
        page.line(&format!("{lead}{}", columns::middle(&why, room)));
        page.line(&format!("{}{}", " ".repeat(columns::width(&lead)), chain(path, room)));
    }
    page.left_out(view.paths_left_out, "paths", "");
}

fn chain(path: &PathRow, room: usize) -> String {
    let names: Vec<_> = path.frames.iter().map(|frame| visible(frame)).collect();
    if names.is_empty() { "[no stack]".to_string() } else { columns::chain(&names, " < ", room) }
}
