//! A sweep as a page: its machine, its key numbers, then charts, tables and flame graphs.

use super::page::{self, STYLE};
use super::{chart, findings, flames, stack, tables};
use crate::error::Result;
use crate::export::diff_flamegraph;
use crate::export::inert;
use crate::export::markup::escaped;
use crate::model::{RunState, Unit};
use crate::view::number::{date, percent, quantity, three_digits};
use crate::view::sweep::{PointView, SweepReport, SweepView, words};

const PAGE: &str = include_str!("../../../assets/html/sweep.html");

/// The sweep as an HTML page.
///
/// # Errors
/// Those of [`crate::export::svg::render`].
pub fn sweep(report: &SweepReport) -> Result<Vec<u8>> {
    let view = &report.view;
    let parts = [
        ("style", STYLE.to_string()),
        ("script", diff_flamegraph::SCRIPT.to_string()),
        ("title", escaped(&view.title)),
        ("tool", escaped(&report.meta.tool)),
        ("facts", facts(report)),
        ("tiles", tiles(view)),
        ("notes", notes(view)),
        ("findings", findings::section(&view.findings)),
        ("scaling", chart::section(view)),
        ("table", tables::points(view) + &tables::latencies(view)),
        ("stack", stack::section(view)),
        ("loss", tables::losses(view)),
        ("differences", flames::differences(report)),
        ("flames", flames::section(report)?),
    ];
    Ok(inert::document(page::fill(PAGE, &parts)))
}

/// What was swept, on which machine.
fn facts(report: &SweepReport) -> String {
    let (view, meta) = (&report.view, &report.meta);
    let is = |wanted: fn(&RunState) -> bool| meta.runs.iter().filter(|run| wanted(&run.state)).count();
    let done = is(|state| matches!(state, RunState::Done { .. }));
    let failed = is(|state| matches!(state, RunState::Failed { .. }));
    let runs = format!(
        "{} widths of {} x {}, in random order (seed {}); {done} of {} count, {failed} failed",
        meta.widths.len(),
        words::width(meta.width),
        meta.repeats,
        meta.seed,
        meta.runs.len()
    );
    let rows = [
        ("Host", format!("{} {}", meta.host.hostname, view.machine)),
        ("Started", date(meta.started_unix_ns)),
        ("Runs", runs),
        ("CPUs", view.placement.clone()),
        ("Operations", view.ops.clone().unwrap_or_else(|| "not counted".to_string())),
    ];
    rows.iter().map(|(label, text)| format!("<dt>{label}</dt><dd>{}</dd>\n", escaped(text))).collect()
}

/// The key numbers.
fn tiles(view: &SweepView) -> String {
    let value = |point: &PointView, name: &str| point.values.get(name).and_then(|value| value.mean());
    let mut tiles: Vec<(String, String)> = Vec::new();
    let best = view.points.iter().filter_map(|point| Some((point.n, value(point, "ops_per_s")?)));
    if let Some((n, x)) = best.max_by(|a, b| a.1.total_cmp(&b.1)) {
        tiles.push((format!("most throughput, at n = {n}"), quantity(x, Unit::PerSecond).joined()));
    }
    if let Some(widest) = view.points.last().filter(|point| view.base != Some(point.n)) {
        let n = widest.n;
        if let Some(speedup) = value(widest, "speedup") {
            tiles.push((format!("speed-up at n = {n}"), three_digits(speedup)));
        }
        if let Some(efficiency) = value(widest, "efficiency") {
            tiles.push((format!("efficiency at n = {n}"), percent(efficiency).joined()));
        }
    }
    if let Some(Ok(law)) = words::chosen(&view.fits).map(|fit| fit.law.as_ref()) {
        tiles.push(("by the scalability law".to_string(), words::peak_at(law)));
    }
    let item = |(label, number): &(String, String)| format!("<li><span>{label}</span><strong>{number}</strong></li>");
    match tiles.is_empty() {
        true => String::new(),
        false => format!("<ul class=\"tiles\">{}</ul>", tiles.iter().map(item).collect::<String>()),
    }
}

fn notes(view: &SweepView) -> String {
    let item = |note: &crate::model::Note| {
        let fix = note.fix.as_deref().map_or(String::new(), |fix| format!(" {}", escaped(fix)));
        format!("<li>{}{fix}</li>\n", escaped(&note.text))
    };
    match view.notes.is_empty() {
        true => String::new(),
        false => format!("<ul class=\"notes\">{}</ul>", view.notes.iter().map(item).collect::<String>()),
    }
}
