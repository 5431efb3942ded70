//! The table that performance engineers know, in as many blocks as the width requires.
//! A missing value is not shown as a number, and its reason is stated once.

use crate::export::column_format::ColumnFormat;
use crate::export::columns::{left, right, width};
use crate::export::text::page::{Ink, Page};
use crate::view::sweep::latency;
use crate::view::sweep::{Column, PointView, SweepView, Value, words};

/// Columns that show their interval; the intervals of the others follow from these.
const WITH_INTERVAL: [&str; 5] = ["ops_per_s", "speedup", "cpu_ns_per_op", "path_length", "cpi"];
const GAP: usize = 2;

/// A column laid out, except for colour.
struct Laid {
    label: &'static str,
    unit: String,
    cells: Vec<(String, String)>,
    number: usize,
    interval: usize,
}

impl Laid {
    fn width(&self) -> usize {
        self.number + self.interval
    }
}

pub(super) fn write(page: &mut Page, view: &SweepView) {
    let about = "means over the runs; ± is half the width of the 95% interval";
    page.heading("Scaling", about);
    if view.points.is_empty() {
        page.line("  - no run is over");
        return;
    }
    let (columns, gaps) = words::table(view);
    let laid: Vec<Laid> = columns.into_iter().map(|column| lay_out(view, column)).collect();
    let first = Stub::of(view);
    let mut rest = laid.as_slice();
    while !rest.is_empty() {
        let count = fitting(rest, page.width.saturating_sub(first.width));
        let (block, after) = rest.split_at(count);
        if rest.len() < laid.len() {
            page.line("");
        }
        block_of(page, &first, block);
        rest = after;
    }
    for gap in gaps {
        page.paragraph("  - ", &gap.text(), Some(Ink::Quiet));
    }
}

/// Latency against width and load.
pub(super) fn latency(page: &mut Page, view: &SweepView) {
    let Some(about) = latency::about(view) else { return };
    page.heading("Latency", &about);
    page.table(&latency::CAPTIONS, &latency::rows(view).iter().map(|row| row.to_vec()).collect::<Vec<_>>());
}

/// How many columns fit, at least one.
fn fitting(columns: &[Laid], room: usize) -> usize {
    let mut used = 0;
    let fits = columns.iter().take_while(|column| {
        used += GAP + column.width();
        used <= room
    });
    fits.count().max(1)
}

/// The row names: n, region and runs.
struct Stub {
    head: String,
    rows: Vec<String>,
    width: usize,
}

impl Stub {
    fn of(view: &SweepView) -> Stub {
        let region = |point: &PointView| point.region.label();
        let regions = view.points.iter().map(|point| width(&region(point))).max().unwrap_or(0).max(6);
        let row =
            |n: &str, region: &str, runs: &str| format!("{} {} {}", right(n, 5), left(region, regions), right(runs, 4));
        let rows = view.points.iter().map(|point| row(&point.n.to_string(), &region(point), &point.runs.to_string()));
        let head = row("n", "region", "runs");
        Stub { width: width(&head), rows: rows.collect(), head }
    }
}

fn lay_out(view: &SweepView, column: &Column) -> Laid {
    let values: Vec<_> = view.points.iter().map(|point| point.values.get(column.name)).collect();
    let shape = ColumnFormat::of(column.unit, values.iter().flatten().filter_map(Value::mean));
    let with_interval = WITH_INTERVAL.contains(&column.name);
    let cell = |value: &Option<Value>| match value {
        Some(Value::Known { mean, half }) => {
            let half = half.filter(|_| with_interval).map_or(String::new(), |half| format!(" ±{}", shape.show(half)));
            (shape.show(*mean), half)
        }
        _ => ("-".to_string(), String::new()),
    };
    let cells: Vec<_> = values.iter().map(cell).collect();
    let interval = cells.iter().map(|(_, interval)| width(interval)).max().unwrap_or(0);
    let numbers = cells.iter().map(|(number, _)| width(number)).max().unwrap_or(0);
    let unit = shape.unit.trim_end_matches("/s").to_string();
    let caption = width(column.label).max(width(&unit));
    // A caption spans the number and its interval.
    let number = numbers.max(caption.saturating_sub(interval));
    Laid { label: column.label, unit, cells, number, interval }
}

fn block_of(page: &mut Page, stub: &Stub, block: &[Laid]) {
    let gap = " ".repeat(GAP);
    let captions = |first: &str, of: fn(&Laid) -> &str| {
        let parts = block.iter().map(|column| format!("{gap}{}", right(of(column), column.width())));
        format!("{}{}", left(first, stub.width), parts.collect::<String>())
    };
    page.captions(&captions(&stub.head, |column| column.label));
    if block.iter().any(|column| !column.unit.is_empty()) {
        page.captions(&captions("", |column| &column.unit));
    }
    for (at, row) in stub.rows.iter().enumerate() {
        let cell = |column: &Laid| {
            let (number, interval) = &column.cells[at];
            let interval = page.paint(Ink::Quiet, &left(interval, column.interval));
            format!("{gap}{}{interval}", right(number, column.number))
        };
        let cells: String = block.iter().map(cell).collect();
        page.line(&format!("{row}{cells}"));
    }
}
