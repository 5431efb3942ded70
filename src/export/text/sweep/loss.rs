//! Where the cores of each width went, by cause, and the code that became more expensive at the widest point, on the
//! CPU and blocked. Growth that chance alone may explain is left out.

use crate::export::column_format::{ColumnFormat, cost};
use crate::export::columns::{function, left, middle, right, width};
use crate::export::text::page::Page;
use crate::view::CodeKind;
use crate::view::escape::visible;
use crate::view::number::percent;
use crate::view::sweep::{LossRow, Stack, SweepView, words};

/// Columns of the name of a cause.
const LABEL: usize = 28;
const MOST: usize = 12;
const MODULE: usize = 16;

/// A table of rows on one axis.
struct Table<'a> {
    title: &'a str,
    /// The quantity, printed before its unit.
    what: &'a str,
    unit: &'a str,
    /// The base width, and the width shown.
    widths: (u32, u32),
    totals: (f64, f64),
    rows: &'a [LossRow],
}

pub(super) fn stacks(page: &mut Page, view: &SweepView) {
    let stacks: Vec<&Stack> = view.stacks.iter().filter(|stack| !stack.slices.is_empty()).collect();
    let Some(base) = view.base.filter(|_| !stacks.is_empty()) else { return };
    page.heading("Where the cores went", &format!("cores lost against n = {base}, by cause; below 0: gained"));
    let numbers = stacks.iter().flat_map(|stack| stack.slices.iter().map(|slice| slice.cores).chain([stack.useful]));
    // Two decimals show a hundredth of a core.
    let shape = ColumnFormat::fixed(2);
    let column = numbers.map(|cores| width(&shape.show(cores))).max().unwrap_or(0).max(6) + 2;
    let fit = ((page.width.saturating_sub(LABEL + 2)) / column).max(1);
    for (at, block) in stacks.chunks(fit).enumerate() {
        if at > 0 {
            page.line("");
        }
        let row = |label: &str, of: &dyn Fn(&Stack) -> String| {
            let cells: String = block.iter().map(|stack| right(&of(stack), column)).collect();
            format!("  {}{cells}", left(label, LABEL))
        };
        page.captions(&row("n", &|stack| stack.n.to_string()));
        page.line(&row("useful: the speed-up", &|stack| shape.show(stack.useful)));
        for kind in words::kinds(&stacks) {
            let cores = |stack: &Stack| {
                let slice = stack.slices.iter().find(|slice| slice.kind == kind);
                slice.map_or("-".to_string(), |slice| shape.show(slice.cores))
            };
            page.line(&row(&words::slice(kind), &cores));
        }
    }
}

pub(super) fn code(page: &mut Page, view: &SweepView) {
    let Some((loss, base)) = view.losses.last().zip(view.base) else { return };
    let widths = (base, loss.n);
    let code = Table {
        title: "Code that costs more",
        what: if view.cost_unit == "ns" { "CPU " } else { "" },
        unit: view.cost_unit,
        widths,
        totals: (loss.base, loss.here),
        rows: &loss.functions,
    };
    table(page, &code);
    if let Some(totals) = loss.blocked {
        let title = "Waits that cost more";
        table(page, &Table { title, what: "blocked ", unit: "ns", widths, totals, rows: &loss.waits });
    }
}

fn table(page: &mut Page, table: &Table<'_>) {
    let Table { title, what, unit, widths: (base, n), totals: (before, here), rows } = table;
    let real: Vec<&LossRow> = rows.iter().filter(|row| row.is_real()).collect();
    let shown = &real[..real.len().min(MOST)];
    let shape = ColumnFormat::cost(unit, shown.iter().map(|row| row.growth()));
    let legend = [('k', "; k: kernel"), ('j', "; j: JIT")].into_iter();
    let legend: String =
        legend.filter(|(letter, _)| shown.iter().any(|row| mark(row) == *letter)).map(|(_, text)| text).collect();
    let (before, here) = (cost(*before, unit), cost(*here, unit));
    page.heading(title, &format!("{what}{}/op, n = {base} -> {n}: {before} -> {here}{legend}", shape.unit));
    if real.is_empty() {
        page.line("  - nothing beyond what chance may do");
        return;
    }
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
    page.left_out(rows.len() - real.len(), "within what chance may do", "");
}

fn cells(row: &LossRow, shape: &ColumnFormat) -> [String; 5] {
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
    let mark = mark(row);
    let shown = function(&visible(&row.function.name), name);
    format!(" {mark} {}  {}", left(&shown, name), middle(&visible(&row.function.module), modules))
}

fn mark(row: &LossRow) -> char {
    match row.function.kind {
        CodeKind::Kernel => 'k',
        CodeKind::Jit => 'j',
        CodeKind::User | CodeKind::Heading => ' ',
    }
}
