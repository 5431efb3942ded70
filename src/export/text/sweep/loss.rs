//! Which code lost at the widest point, on the CPU and blocked.
//! It never lists a growth that chance alone may explain.

use crate::export::columns::{function, left, middle, right, width};
use crate::export::shape::Shape;
use crate::export::text::page::Page;
use crate::view::CodeKind;
use crate::view::escape::visible;
use crate::view::number::{percent, three_digits};
use crate::view::scaling::{Loss, LossRow, ScalingView};

const MOST: usize = 12;
const MODULE: usize = 16;

/// A table of rows on one axis.
struct Table<'a> {
    title: &'a str,
    about: String,
    rows: &'a [LossRow],
}

pub(super) fn write(page: &mut Page, view: &ScalingView) {
    let Some((loss, base)) = view.losses.last().zip(view.base) else { return };
    let Loss { n, base: before, here, blocked, functions, waits } = loss;
    let totals = |unit: &str, before: f64, here: f64| {
        format!("{unit}/op, n = {base} -> {n}: {} -> {}", three_digits(before), three_digits(here))
    };
    let unit = if view.cost_unit == "cycles" { "cycles" } else { "CPU ns" };
    let about = format!("{}; k: kernel, j: JIT", totals(unit, *before, *here));
    table(page, &Table { title: "Code that costs more", about, rows: functions });
    if let Some((before, here)) = blocked {
        let about = totals("ns blocked", *before, *here);
        table(page, &Table { title: "Waits that cost more", about, rows: waits });
    }
}

fn table(page: &mut Page, table: &Table<'_>) {
    page.heading(table.title, &table.about);
    let real: Vec<&LossRow> = table.rows.iter().filter(|row| row.is_real()).collect();
    if real.is_empty() {
        page.line("  - nothing beyond what chance may do");
        return;
    }
    let shown = &real[..real.len().min(MOST)];
    let shape = Shape::plain(shown.iter().map(|row| row.growth()));
    let cells: Vec<[String; 5]> = shown.iter().map(|row| cells(row, &shape)).collect();
    let captions = ["growth", "±", "base", "here", "of loss"].map(str::to_string);
    let wide = |at: usize| cells.iter().chain([&captions]).map(|row| width(&row[at])).max().unwrap_or(0);
    let line = |row: &[String; 5]| {
        let parts = row.iter().enumerate().map(|(at, cell)| format!("  {}", right(cell, wide(at))));
        parts.collect::<String>()
    };
    let numbers = width(&line(&captions));
    let modules = shown.iter().map(|row| width(&visible(&row.function.module))).max().unwrap_or(0).clamp(6, MODULE);
    let name = page.width.saturating_sub(numbers + 4 + modules + 2);
    page.captions(&format!("{}    {}  module", line(&captions), left("function", name)));
    for (row, cells) in shown.iter().zip(&cells) {
        page.line(&format!("{} {}", line(cells), place(row, name, modules)));
    }
    page.left_out(real.len() - shown.len(), "functions that cost more or less", "");
    page.left_out(table.rows.len() - real.len(), "within what chance may do", "");
}

fn cells(row: &LossRow, shape: &Shape) -> [String; 5] {
    let sign = if row.growth() > 0.0 { "+" } else { "" };
    [
        format!("{sign}{}", shape.show(row.growth())),
        shape.show(2.0 * row.error),
        shape.show(row.base),
        shape.show(row.here),
        row.share.map_or("-".to_string(), |share| percent(share).joined()),
    ]
}

fn place(row: &LossRow, name: usize, modules: usize) -> String {
    let mark = match row.function.kind {
        CodeKind::Kernel => 'k',
        CodeKind::Jit => 'j',
        CodeKind::User | CodeKind::Heading => ' ',
    };
    let shown = function(&visible(&row.function.name), name);
    format!(" {mark} {}  {}", left(&shown, name), middle(&visible(&row.function.module), modules))
}
