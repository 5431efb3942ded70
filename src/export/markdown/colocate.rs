//! A colocation for tickets and reviews: GitHub Markdown.

use super::report::notes;
use super::spans::{code, plain};
use crate::export::inert;
use crate::view::colocate::{ColocateView, words};
use crate::view::number::date;

/// The result as UTF-8 Markdown.
#[must_use]
pub fn colocate(view: &ColocateView) -> Vec<u8> {
    let mut out = String::from("## ironlaw colocate\n\n| | |\n|---|---|\n");
    let runs = format!(
        "{} repeats, seed {}; {} of {} runs count{}",
        view.repeats,
        view.seed,
        view.runs.done,
        view.runs.planned,
        if view.stopped { "; stopped early" } else { "" }
    );
    let host = format!("{} {}", code(&view.hostname), plain(&view.machine));
    for (label, text) in [("host", host), ("started", date(view.started_unix_ns)), ("runs", runs)] {
        out.push_str(&format!("| {label} | {text} |\n"));
    }
    view.loads.iter().for_each(|load| matrix(&mut out, view, *load));
    notes(&mut out, &view.notes);
    causes(&mut out, view);
    controls(&mut out, view);
    profiles(&mut out, view);
    let gaps = words::gaps(view);
    if !gaps.is_empty() {
        out.push_str("\n### Missing\n\n");
        gaps.iter().for_each(|gap| out.push_str(&format!("- {}\n", plain(gap))));
    }
    inert::document(out)
}

fn matrix(out: &mut String, view: &ColocateView, load: f64) {
    out.push_str(&format!("\n### Slowdown {}: {}\n\n", words::load(load), plain(&words::measures(view))));
    let names: Vec<String> = view.neighbours.iter().map(|known| code(&known.name)).collect();
    out.push_str(&format!("| victim | {} |\n|---|{}\n", names.join(" | "), "---:|".repeat(names.len())));
    for victim in &view.victims {
        let cells = view.neighbours.iter().map(|known| match view.cell(&victim.name, &known.name, load) {
            Some(cell) => format!("{}<br>{}", words::slowdown(cell), words::remark(cell)),
            None => "-".to_string(),
        });
        out.push_str(&format!("| {} | {} |\n", code(&victim.name), cells.collect::<Vec<_>>().join(" | ")));
    }
}

fn causes(out: &mut String, view: &ColocateView) {
    let slow: Vec<_> = view.cells.iter().filter(|cell| !cell.causes.is_empty()).collect();
    if !slow.is_empty() {
        out.push_str("\n### Where the time went\n\n");
    }
    for cell in slow {
        let (victim, neighbour) = (code(&cell.victim), code(&cell.neighbour));
        let number = words::slowdown(cell);
        out.push_str(&format!(
            "- {victim} beside {neighbour} {}: {number}; {}\n",
            words::load(cell.load),
            words::causes(cell)
        ));
    }
}

fn controls(out: &mut String, view: &ColocateView) {
    if view.controls.is_empty() {
        return;
    }
    out.push_str("\n### Controls of the neighbour\n\n| victim | neighbour | load | control | slowdown | |\n");
    out.push_str("|---|---|---:|---|---:|---|\n");
    for cell in &view.controls {
        let control = cell.control.map_or("none", |control| control.name());
        let (victim, neighbour) = (code(&cell.victim), code(&cell.neighbour));
        let (number, remark) = (words::slowdown(cell), words::remark(cell));
        out.push_str(&format!("| {victim} | {neighbour} | {} | {control} | {number} | {remark} |\n", cell.load));
    }
}

fn profiles(out: &mut String, view: &ColocateView) {
    let Some(first) = view.profiles.first() else { return };
    let labels: Vec<&str> = first.values.iter().map(|value| value.label).collect();
    out.push_str("\n### Programs alone\n\n");
    out.push_str(&format!("| program | {} | pressure | sensitivity |\n", labels.join(" | ")));
    out.push_str(&format!("|---|{}\n", "---:|".repeat(labels.len() + 2)));
    for profile in &view.profiles {
        let values = profile.values.iter().map(|value| words::value(value.value.value(), value.unit));
        let ends = [words::ratio(profile.pressure), words::ratio(profile.sensitivity)];
        let cells: Vec<String> = values.chain(ends).collect();
        out.push_str(&format!("| {} | {} |\n", code(&profile.name), cells.join(" | ")));
    }
    for gap in words::profile_gaps(view) {
        out.push_str(&format!("\n> {}\n", plain(&gap)));
    }
}
