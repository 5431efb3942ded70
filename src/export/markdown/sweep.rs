//! A sweep for tickets and reviews: GitHub Markdown.
//! Names are in code spans, so they cannot act as markup.

use super::report::{findings, notes};
use super::spans::{code, plain};
use crate::export::column_format::{ColumnFormat, cost};
use crate::export::inert;
use crate::view::number::{date, percent};
use crate::view::sweep::latency;
use crate::view::sweep::{Column, LossRow, SliceKind, Stack, SweepReport, SweepView, Value, words};

/// Maximum rows of a table of losses.
const MOST: usize = 20;

/// The sweep as UTF-8 Markdown.
#[must_use]
pub fn sweep(report: &SweepReport) -> Vec<u8> {
    let view = &report.view;
    let mut out = format!("## ironlaw sweep: {}\n", code(&view.title));
    findings(&mut out, &view.findings);
    notes(&mut out, &view.notes);
    head(&mut out, report);
    table(&mut out, view);
    latencies(&mut out, view);
    law(&mut out, view);
    stack(&mut out, view);
    losses(&mut out, view);
    inert::document(out)
}

fn head(out: &mut String, report: &SweepReport) {
    let (view, meta) = (&report.view, &report.meta);
    let runs =
        format!("{} widths of {} x {}, seed {}", meta.widths.len(), words::width(meta.width), meta.repeats, meta.seed);
    let rows = [
        ("host", format!("{} {}", code(&meta.host.hostname), plain(&view.machine))),
        ("started", date(meta.started_unix_ns)),
        ("runs", runs),
        ("CPUs", view.placement.clone()),
        ("operations", view.ops.as_deref().map_or("not counted".to_string(), code)),
    ];
    out.push_str("\n### Runs\n\n| | |\n|---|---|\n");
    for (label, text) in rows {
        out.push_str(&format!("| {label} | {text} |\n"));
    }
}

fn table(out: &mut String, view: &SweepView) {
    out.push_str("\n### Scaling\n\n");
    let (present, gaps) = words::table(view);
    let shapes: Vec<ColumnFormat> = present.iter().map(|column| shape(view, column)).collect();
    let heads = present.iter().zip(&shapes).map(|(column, shape)| {
        let unit = shape.unit.trim_end_matches("/s");
        if unit.is_empty() { column.label.to_string() } else { format!("{}, {unit}", column.label) }
    });
    out.push_str(&format!("| n | region | runs | {} |\n", heads.collect::<Vec<_>>().join(" | ")));
    out.push_str(&format!("|---:|---|---:|{}\n", "---:|".repeat(present.len())));
    for point in &view.points {
        let cell = |(column, shape): (&&Column, &ColumnFormat)| match point.values.get(column.name) {
            Some(Value::Known { mean, half: Some(half) }) => format!("{} ±{}", shape.show(mean), shape.show(half)),
            Some(Value::Known { mean, half: None }) => shape.show(mean),
            _ => "-".to_string(),
        };
        let cells: Vec<_> = present.iter().zip(&shapes).map(cell).collect();
        out.push_str(&format!("| {} | {} | {} | {} |\n", point.n, point.region.label(), point.runs, cells.join(" | ")));
    }
    for gap in gaps {
        out.push_str(&format!("\n> {}\n", plain(&gap.text())));
    }
}

fn shape(view: &SweepView, column: &Column) -> ColumnFormat {
    let means = view.points.iter().filter_map(|point| point.values.get(column.name)?.mean());
    ColumnFormat::of(column.unit, means)
}

fn latencies(out: &mut String, view: &SweepView) {
    let Some(about) = latency::about(view) else { return };
    out.push_str(&format!("\n### Latency\n\n{about}\n\n| {} |\n", latency::CAPTIONS.join(" | ")));
    out.push_str(&format!("|{}\n", "---:|".repeat(latency::CAPTIONS.len())));
    for row in latency::rows(view) {
        out.push_str(&format!("| {} |\n", row.join(" | ")));
    }
}

fn law(out: &mut String, view: &SweepView) {
    let text = words::chosen(&view.fits).map_or("not fitted".to_string(), words::law);
    out.push_str(&format!("\nUniversal scalability law: {}\n", plain(&text)));
}

fn stack(out: &mut String, view: &SweepView) {
    let stacks: Vec<&Stack> = view.stacks.iter().filter(|stack| !stack.slices.is_empty()).collect();
    if stacks.is_empty() {
        return;
    }
    let shape = ColumnFormat::fixed(2);
    let row = |out: &mut String, label: &str, of: &dyn Fn(&Stack) -> String| {
        let cells: Vec<_> = stacks.iter().map(|stack| of(stack)).collect();
        out.push_str(&format!("| {label} | {} |\n", cells.join(" | ")));
    };
    out.push_str("\n### Where the cores went\n\n");
    row(out, "cores at n", &|stack| stack.n.to_string());
    out.push_str(&format!("|---|{}\n", "---:|".repeat(stacks.len())));
    row(out, "useful: the speed-up", &|stack| shape.show(stack.useful));
    for kind in words::kinds(&stacks) {
        row(out, &words::slice(kind), &|stack| cores(stack, kind).map_or("-".to_string(), |cores| shape.show(cores)));
    }
}

fn cores(stack: &Stack, kind: SliceKind) -> Option<f64> {
    stack.slices.iter().find(|slice| slice.kind == kind).map(|slice| slice.cores)
}

fn losses(out: &mut String, view: &SweepView) {
    let Some((loss, base)) = view.losses.last().zip(view.base) else { return };
    let what = if view.cost_unit == "ns" { "CPU time" } else { view.cost_unit };
    let title = |title: &str, what: &str| format!("{title}: {what} per op, n = {base} to {}", loss.n);
    loss_table(out, &title("Code that costs more", what), &loss.functions, view.cost_unit);
    if loss.blocked.is_some() {
        loss_table(out, &title("Waits that cost more", "time blocked"), &loss.waits, "ns");
    }
}

fn loss_table(out: &mut String, title: &str, rows: &[LossRow], unit: &str) {
    let real: Vec<&LossRow> = rows.iter().filter(|row| row.is_real()).collect();
    out.push_str(&format!("\n### {title}\n\n"));
    if real.is_empty() {
        out.push_str("Nothing beyond what chance may do.\n");
        return;
    }
    out.push_str("| growth | ± | base | here | of loss | function | module |\n|---:|---:|---:|---:|---:|---|---|\n");
    for row in real.iter().take(MOST) {
        let costs = [row.growth(), 2.0 * row.error, row.base, row.here].map(|value| cost(value, unit));
        let share = row.share.map_or("-".to_string(), |share| percent(share).joined());
        let (function, module) = (code(&row.function.name), code(&row.function.module));
        out.push_str(&format!("| {} | {share} | {function} | {module} |\n", costs.join(" | ")));
    }
    if real.len() > MOST {
        out.push_str(&format!("\nand {} more\n", real.len() - MOST));
    }
}
