//! A colocation for people: a matrix for each load, then what the slow cells spend their time on, controls and profiles.

use super::Style;
use super::page::{Ink, Page};
use crate::view::colocate::{ColocateView, words};
use crate::view::number::{self, date};

/// The result as UTF-8 text.
#[must_use]
pub fn colocate(view: &ColocateView, style: Style) -> Vec<u8> {
    let mut page = Page::new(style);
    head(&mut page, view);
    for load in &view.loads {
        matrix(&mut page, view, *load);
    }
    notes(&mut page, view);
    measures(&mut page, view);
    controls(&mut page, view);
    profiles(&mut page, view);
    let gaps = words::gaps(view);
    if !gaps.is_empty() {
        page.heading("Missing", "runs that do not count, with the reason");
        gaps.iter().for_each(|gap| page.paragraph("  ", gap, None));
    }
    page.finish()
}

fn head(page: &mut Page, view: &ColocateView) {
    let title = page.paint(Ink::Heading, "ironlaw colocate");
    page.line(&format!("{title}  {} {}, {}", view.hostname, view.machine, date(view.started_unix_ns)));
    let stopped = if view.stopped { "; stopped early" } else { "" };
    let text = format!(
        "{} beside {}, {}, seed {}; {} of {} runs count{stopped}",
        number::several(view.victims.len() as u64, "victim"),
        number::several(view.neighbours.len() as u64, "neighbour"),
        number::several(u64::from(view.repeats), "repeat"),
        view.seed,
        view.runs.done,
        view.runs.planned,
    );
    page.paragraph("", &text, Some(Ink::Quiet));
}

fn notes(page: &mut Page, view: &ColocateView) {
    for (at, note) in view.notes.iter().enumerate() {
        if at == 0 {
            page.heading("Read with care", "");
        }
        let fix = note.fix.as_deref().map_or(String::new(), |fix| format!(". {fix}"));
        page.paragraph("  ! ", &format!("{}{fix}", note.text.trim_end_matches('.')), Some(Ink::Alert));
    }
}

fn matrix(page: &mut Page, view: &ColocateView, load: f64) {
    let about = format!("{}; 95% interval", words::measures(view));
    page.heading(&format!("Slowdown {}", words::load(load)), &about);
    let head: Vec<&str> =
        ["victim"].into_iter().chain(view.neighbours.iter().map(|known| known.name.as_str())).collect();
    let mut rows = Vec::new();
    for victim in &view.victims {
        let cell = |neighbour: &crate::view::colocate::ProgramView| view.cell(&victim.name, &neighbour.name, load);
        let numbers = view.neighbours.iter().map(|known| cell(known).map_or("-".to_string(), words::slowdown));
        rows.push([victim.name.clone()].into_iter().chain(numbers).collect::<Vec<_>>());
        let remarks = view
            .neighbours
            .iter()
            .map(|known| cell(known).map_or(String::new(), |cell| words::remark(cell).to_string()));
        rows.push([String::new()].into_iter().chain(remarks).collect());
    }
    page.table(&head, &rows);
}

/// Every measure of the slow cells, and their causes.
fn measures(page: &mut Page, view: &ColocateView) {
    let slow: Vec<_> = view.cells.iter().filter(|cell| !cell.causes.is_empty()).collect();
    if slow.is_empty() {
        return;
    }
    page.heading("Where the time went", "growth of the time per operation, of that alone");
    for cell in slow {
        let others = cell.measures.iter().filter(|known| known.measure != cell.measure && known.slowdown.is_some());
        let others = others.map(|known| format!("{} {}", known.measure.label(), words::ratio(known.slowdown)));
        let others = others.collect::<Vec<_>>().join(", ");
        let others = if others.is_empty() { others } else { format!(" ({others})") };
        let place =
            format!("{} beside {} {}: {}", cell.victim, cell.neighbour, words::load(cell.load), words::slowdown(cell));
        page.paragraph("  ", &format!("{place}; {}{others}", words::causes(cell)), None);
    }
}

fn controls(page: &mut Page, view: &ColocateView) {
    if view.controls.is_empty() {
        return;
    }
    page.heading("Controls of the neighbour", "the same cells again, without and with each");
    let rows = view.controls.iter().map(|cell| {
        let control = cell.control.map_or("none", |control| control.name());
        let place = format!("{} beside {} {}", cell.victim, cell.neighbour, words::load(cell.load));
        vec![place, control.to_string(), words::slowdown(cell), words::remark(cell).to_string()]
    });
    page.table(&["cell", "control", "slowdown", ""], &rows.collect::<Vec<_>>());
}

fn profiles(page: &mut Page, view: &ColocateView) {
    let Some(first) = view.profiles.first() else { return };
    page.heading("Programs", "alone at full load; pressure: mean slowdown caused, sensitivity: suffered");
    let known = |at: usize| {
        view.profiles.iter().any(|profile| profile.values.get(at).is_some_and(|value| value.value.value().is_some()))
    };
    let shown: Vec<usize> = (0..first.values.len()).filter(|at| known(*at)).collect();
    let labels = shown.iter().map(|at| first.values[*at].label);
    let head: Vec<&str> = ["program"].into_iter().chain(labels).chain(["pressure", "sensitivity"]).collect();
    let rows = view.profiles.iter().map(|profile| {
        let values = shown.iter().filter_map(|at| profile.values.get(*at));
        let values = values.map(|value| words::value(value.value.value(), value.unit));
        let ends = [words::ratio(profile.pressure), words::ratio(profile.sensitivity)];
        [profile.name.clone()].into_iter().chain(values).chain(ends).collect()
    });
    page.table(&head, &rows.collect::<Vec<_>>());
    for gap in words::profile_gaps(view) {
        page.paragraph("  ", &gap, Some(Ink::Quiet));
    }
}
