//! Draws the CPUs, the table and the selected thread's waits.

use super::state::{Order, State};
use crate::model::Measure;
use crate::tui::panel::PanelContext;
use crate::tui::widgets;
use crate::tui::widgets::bar::{Part, stacked};
use crate::tui::widgets::sparkline::sparkline;
use crate::tui::widgets::table::{Cell, Column, Cut, Table, places};
use crate::tui::widgets::{WidgetContext, put};
use crate::view::escape::visible;
use crate::view::fit::{end, width};
use crate::view::number;
use crate::view::query::LineKey;
use crate::view::threads::{CpuLine, ThreadLine, ThreadsView, WaitLine};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Width of one CPU in the strip: its number, a bar, its share.
const CPU_WIDTH: u16 = 18;
/// Maximum number of rows of the strip; more CPUs get one column each.
const CPU_ROWS: u16 = 3;
/// Rows of the waits below the table.
const DETAIL_ROWS: u16 = 10;

const RUN_BAR: usize = 4;
const HISTORY: usize = 12;

const COLUMNS: [Column<'static>; 13] = [
    Column { title: "tid", least: 7, grows: 0, right: true, rank: 3, cut: Cut::End },
    Column { title: "thread", least: 14, grows: 1, right: false, rank: 0, cut: Cut::Middle },
    Column { title: "run", least: 6, grows: 0, right: true, rank: 0, cut: Cut::End },
    Column { title: "change", least: 7, grows: 0, right: true, rank: 2, cut: Cut::End },
    Column { title: "run queue blocked", least: 17, grows: 1, right: false, rank: 5, cut: Cut::End },
    Column { title: "queue", least: 6, grows: 0, right: true, rank: 1, cut: Cut::End },
    Column { title: "blocked", least: 7, grows: 0, right: true, rank: 1, cut: Cut::End },
    Column { title: "mostly", least: 15, grows: 0, right: false, rank: 4, cut: Cut::End },
    Column { title: "IPC", least: 5, grows: 0, right: true, rank: 6, cut: Cut::End },
    Column { title: "switch/s", least: 8, grows: 0, right: true, rank: 6, cut: Cut::End },
    Column { title: "migr/s", least: 7, grows: 0, right: true, rank: 8, cut: Cut::End },
    Column { title: "CPU", least: 6, grows: 0, right: true, rank: 7, cut: Cut::End },
    Column { title: "run, over time", least: 14, grows: 1, right: false, rank: 9, cut: Cut::End },
];

/// The areas of the screen.
pub(super) struct Parts {
    cpus: Rect,
    pub table: Rect,
    detail: Rect,
}

pub(super) fn parts(state: &State, area: Rect) -> Parts {
    let cpus = state.view.as_ref().map_or(0, |view| view.cpus.len());
    let per_row = usize::from((area.width / CPU_WIDTH).max(1));
    let rows = if cpus == 0 { 0 } else { (cpus.div_ceil(per_row) as u16).min(CPU_ROWS) };
    let rows = rows.min(area.height / 4);
    let below = if state.detail { DETAIL_ROWS.min(area.height / 2) } else { 0 };
    let table = area.height.saturating_sub(rows + below);
    Parts {
        cpus: Rect { height: rows, ..area },
        table: Rect { y: area.y + rows, height: table, ..area },
        detail: Rect { y: area.y + rows + table, height: below, ..area },
    }
}

/// Draws the screen.
pub(super) fn draw(state: &State, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let Some(view) = &state.view else {
        widgets::put_line(buf, area, area.x + 1, "waiting for the first window", cx.theme.dim);
        return;
    };
    let parts = parts(state, area);
    cpus(view, cx, parts.cpus, buf);
    if view.threads.is_empty() {
        widgets::put_line(buf, parts.table, area.x + 1, "no thread was alive in this time", cx.theme.dim);
        return;
    }
    table(state, view, cx, parts.table, buf);
    detail(state, view, cx, parts.detail, buf);
}

/// Draws the target's share of each CPU; with many CPUs, one column for each.
fn cpus(view: &ThreadsView, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    if area.height == 0 {
        return;
    }
    let per_row = (area.width / CPU_WIDTH).max(1);
    if view.cpus.len() > usize::from(per_row * CPU_ROWS) {
        return cpu_columns(view, cx, area, buf);
    }
    let context = WidgetContext { theme: cx.theme, glyphs: cx.glyphs };
    for (at, cpu) in view.cpus.iter().enumerate() {
        let (x, y) = (area.x + 1 + at as u16 % per_row * CPU_WIDTH, area.y + at as u16 / per_row);
        if y >= area.bottom() {
            return;
        }
        let start = put(buf, area, (x, y), &format!("{:>3} ", place(cpu, &view.cpus)), cx.theme.dim);
        let bar = Rect { x: start, y, width: 7, height: 1 }.intersection(area);
        stacked(&[Part { share: cpu.share, style: cx.theme.accent }], context, bar, buf);
        put(buf, area, (start + 7, y), &format!("{:>6}", number::percent(cpu.share).joined()), cx.theme.text);
    }
}

/// The CPU's number, with the node if there are several.
fn place(cpu: &CpuLine, all: &[CpuLine]) -> String {
    if all.iter().any(|other| other.node != cpu.node) {
        format!("{}/{}", cpu.node, cpu.cpu)
    } else {
        cpu.cpu.to_string()
    }
}

fn cpu_columns(view: &ThreadsView, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let x = put(buf, area, (area.x + 1, area.y), "CPUs ", cx.theme.dim);
    let room = usize::from(area.right().saturating_sub(x + 1)).max(1);
    let together = view.cpus.len().div_ceil(room).max(1);
    for (at, chunk) in view.cpus.chunks(together).enumerate() {
        let share = chunk.iter().map(|cpu| cpu.share).sum::<f64>() / chunk.len() as f64;
        put(buf, area, (x + at as u16, area.y), cx.glyphs.spark(share, 1.0), cx.theme.accent);
    }
    let text = format!("{} CPUs, the target's part {} (sampled), from CPU 0", view.cpus.len(), view.cpu_share_of);
    put(buf, area, (area.x + 1, area.y + 1), &text, cx.theme.dim);
}

/// The columns that have something to show.
fn columns(view: &ThreadsView, cx: &PanelContext<'_>) -> Vec<usize> {
    let shown = |at: &usize| match COLUMNS[*at].title {
        "change" => cx.compared,
        "mostly" => view.has_waits,
        _ => true,
    };
    (0..COLUMNS.len()).filter(shown).collect()
}

/// The heading of a column where rows stand for something else than threads.
fn title(of_threads: &'static str, by: LineKey) -> &'static str {
    match (of_threads, by) {
        ("thread", by) => by.label(),
        ("tid", LineKey::Process) => "pid",
        ("tid", LineKey::Cgroup) => "threads",
        ("tid", LineKey::Cpu) => "",
        (title, _) => title,
    }
}

fn sorted(order: Order) -> &'static str {
    match order {
        Order::Running => "run",
        Order::Queued => "queue",
        Order::Blocked => "blocked",
        Order::Switches => "switch/s",
        Order::Migrations => "migr/s",
        Order::Ipc => "IPC",
        Order::Name => "thread",
        Order::Tid => "tid",
    }
}

fn table(state: &State, view: &ThreadsView, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let (rows, list_rows) = (state.rows(), state.list_rows());
    let kept = columns(view, cx);
    let name = sorted(state.order);
    let at = kept.iter().position(|at| COLUMNS[*at].title == name);
    let columns: Vec<_> =
        kept.iter().map(|at| Column { title: title(COLUMNS[*at].title, view.by), ..COLUMNS[*at] }).collect();
    let ascending = matches!(state.order, Order::Name | Order::Tid);
    let table = Table {
        columns: &columns,
        sorted: at.map(|at| (at, state.reversed == ascending)),
        rows: rows.len(),
        selected: state.list.at(&list_rows),
        top: state.list.top(&list_rows, area.height),
    };
    let context = WidgetContext { theme: cx.theme, glyphs: cx.glyphs };
    let row = |at: usize| &view.threads[rows[at]];
    table.draw(|at, column| cell(state, row(at), COLUMNS[kept[column]].title, cx), context, area, buf);
    // Bars and histories are drawn over their cells, which the table has left blank.
    let inner = Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area };
    let placed = places(&columns, inner.width);
    for (at, y) in (table.top..rows.len()).zip(area.y + 1..area.bottom()) {
        for place in &placed {
            let cell = Rect { x: inner.x + place.x, y, width: place.width, height: 1 };
            match kept[place.column] {
                RUN_BAR => split(row(at), cx, context, cell, buf),
                HISTORY => sparkline(&row(at).history, Some(1.0), cx.theme.accent, context, cell, buf),
                _ => {}
            }
        }
    }
}

/// The thread's time as one bar: running, queued, and the rest blocked.
fn split(row: &ThreadLine, cx: &PanelContext<'_>, context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
    let value = |measure: Measure<f64>| measure.value().copied().unwrap_or(0.0);
    // Several threads together come to more than one CPU's time.
    let all = [row.running, row.queued, row.blocked].into_iter().map(value).sum::<f64>().max(1.0);
    let share = |measure: Measure<f64>| value(measure) / all;
    let parts = [
        Part { share: share(row.running), style: cx.theme.accent },
        Part { share: share(row.queued), style: cx.theme.bad },
        Part { share: share(row.blocked), style: cx.theme.dim },
    ];
    stacked(&parts, context, area, buf);
}

fn cell<'a>(state: &'a State, row: &'a ThreadLine, column: &str, cx: &PanelContext<'_>) -> Cell<'a> {
    let missing = || Cell::new("-", cx.theme.missing);
    let share = |measure: Measure<f64>| match measure.value() {
        // Three digits of such a small value do not fit and carry no information.
        Some(value) if *value > 0.0 && *value < 1e-4 => Cell::new("<0.01%", cx.theme.text),
        Some(value) => Cell::new(number::percent(*value).joined(), cx.theme.text),
        None => missing(),
    };
    let rate = |measure: Measure<f64>| match measure.value() {
        Some(value) => Cell::new(number::three_digits(*value), cx.theme.text),
        None => missing(),
    };
    match column {
        "tid" if state.by == LineKey::Cgroup => Cell::new(row.threads.to_string(), cx.theme.dim),
        "tid" => Cell::new(row.tid.to_string(), cx.theme.dim),
        "thread" => {
            let name = state.name_in_tree(row);
            match (state.matches(row), row.alive) {
                (true, _) => Cell::new(name, cx.theme.found),
                (false, true) => Cell::new(name, cx.theme.text),
                (false, false) => Cell::new(format!("{name} (ended)"), cx.theme.dim),
            }
        }
        "run" => share(row.running),
        "change" => match row.change {
            Some(change) => Cell::new(format!("{:+.1}", change * 100.0), cx.theme.accent2),
            None => missing(),
        },
        "queue" => match row.queued.value() {
            Some(value) if *value > 0.05 => Cell::new(number::percent(*value).joined(), cx.theme.warn),
            _ => share(row.queued),
        },
        "blocked" => share(row.blocked),
        "mostly" => Cell::new(row.waits.first().map_or("", |wait| wait.cause), cx.theme.dim),
        "switch/s" => rate(row.voluntary),
        "migr/s" => rate(row.migrations),
        "IPC" => rate(row.ipc),
        "CPU" => match (row.cpu, row.node) {
            (Some(cpu), Some(node)) if node > 0 => Cell::new(format!("{node}/{cpu}"), cx.theme.text),
            (Some(cpu), _) => Cell::new(cpu.to_string(), cx.theme.text),
            (None, _) => missing(),
        },
        _ => Cell::new("", cx.theme.text),
    }
}

/// Draws where the selected thread waits, and for what.
fn detail(state: &State, view: &ThreadsView, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let (Some(row), true) = (state.chosen(), area.height > 1) else { return };
    let line = |at: u16| Rect { y: area.y + at, height: 1, ..area };
    let text = |wait: &WaitLine| format!("{} {}", wait.cause, number::percent(wait.share).joined());
    let causes: Vec<_> = row.held_up.iter().chain(&row.waits).map(text).collect();
    let title = match view.by {
        LineKey::Thread => format!("Waits of {} {}", visible(&row.name), row.tid),
        _ => format!("Waits of {}", visible(&row.name)),
    };
    let x = widgets::put_line(buf, line(0), area.x + 1, &title, cx.theme.heading);
    widgets::put_line(buf, line(0), x + 2, &causes.join(&format!(" {} ", cx.glyphs.dot)), cx.theme.dim);
    if !view.has_waits {
        widgets::put_line(buf, line(1), area.x + 1, "waits were not recorded: start with --off-cpu", cx.theme.dim);
    } else if view.paths.is_empty() {
        widgets::put_line(buf, line(1), area.x + 1, "it did not wait in this time", cx.theme.dim);
    }
    for (path, at) in view.paths.iter().zip(1..area.height) {
        let total = number::seconds(path.total_s).joined();
        let x = widgets::put_line(
            buf,
            line(at),
            area.x + 1,
            &format!("{total:>8} {:>9}x  ", number::count(path.count)),
            cx.theme.text,
        );
        let x = widgets::put_line(buf, line(at), x, &format!("{:<20}", path.cause), cx.theme.accent);
        let frames: Vec<_> = path.frames.iter().map(|frame| visible(frame)).collect();
        let text = frames.join(&format!(" {} ", cx.glyphs.left));
        let room = usize::from(area.right().saturating_sub(x + 1));
        let style = if width(&text) > 0 { cx.theme.text } else { cx.theme.missing };
        let text = if text.is_empty() { "[the stack is not known]".to_string() } else { text };
        widgets::put_line(buf, line(at), x, &end(&text, room, cx.glyphs.ellipsis), style);
    }
}
