//! A colocation as a page: the heat map, then everything in tables.

use super::page::{self, STYLE};
use crate::export::heat_map;
use crate::export::inert;
use crate::export::markup::escaped;
use crate::view::colocate::{CellView, ColocateView, words};
use crate::view::number::date;

const PAGE: &str = include_str!("../../../assets/html/colocate.html");

/// The result as an HTML page.
pub fn colocate(view: &ColocateView) -> Vec<u8> {
    let parts = [
        ("style", STYLE.to_string()),
        ("tool", escaped(&view.tool)),
        ("facts", facts(view)),
        ("notes", notes(view)),
        ("map", heat_map::drawing(view)),
        ("cells", table("Cells", &view.cells)),
        ("controls", table("The same cells without and with controls of the neighbour", &view.controls)),
        ("profiles", profiles(view)),
        ("gaps", gaps(view)),
    ];
    inert::document(page::fill(PAGE, &parts))
}

fn facts(view: &ColocateView) -> String {
    let stopped = if view.stopped { "; stopped early" } else { "" };
    let runs = format!(
        "{} repeats in random order (seed {}); {} of {} count, {} failed{stopped}",
        view.repeats, view.seed, view.runs.done, view.runs.planned, view.runs.failed
    );
    let rows = [
        ("Host", format!("{} {}", view.hostname, view.machine)),
        ("Started", date(view.started_unix_ns)),
        ("Runs", runs),
    ];
    let programs = |role: &'static str, all: &[crate::view::colocate::ProgramView]| {
        let each = all.iter().map(|known| (role, format!("{}: {}", known.name, known.command.join(" "))));
        each.collect::<Vec<_>>()
    };
    let all = rows.into_iter().chain(programs("Victim", &view.victims)).chain(programs("Neighbour", &view.neighbours));
    all.map(|(label, text)| format!("<dt>{label}</dt><dd>{}</dd>\n", escaped(&text))).collect()
}

fn notes(view: &ColocateView) -> String {
    let item = |note: &crate::model::Note| {
        let fix = note.fix.as_deref().map_or(String::new(), |fix| format!(" {}", escaped(fix)));
        format!("<li>{}{fix}</li>\n", escaped(&note.text))
    };
    match view.notes.is_empty() {
        true => String::new(),
        false => format!("<ul class=\"notes\">{}</ul>", view.notes.iter().map(item).collect::<String>()),
    }
}

fn table(title: &str, cells: &[CellView]) -> String {
    if cells.is_empty() {
        return String::new();
    }
    let row = |cell: &CellView| {
        let interval = cell.interval.map_or("-".to_string(), |(low, high)| format!("{low:.3} to {high:.3}"));
        let control = cell.control.map_or("", |control| control.name());
        let what = if cell.causes.is_empty() { words::remark(cell).to_string() } else { words::causes(cell) };
        let what = cell.missing.clone().unwrap_or(what);
        format!(
            "<tr><th class=\"name\">{}</th><td class=\"name\">{}</td><td>{}</td><td>{control}</td><td>{}</td><td>{}</td>\
             <td>{interval}</td><td>{}</td><td class=\"name\">{}</td></tr>\n",
            escaped(&cell.victim),
            escaped(&cell.neighbour),
            cell.load,
            cell.measure.label(),
            words::ratio(cell.slowdown),
            cell.pairs,
            escaped(&what)
        )
    };
    let rows: String = cells.iter().map(row).collect();
    format!(
        "<h2>{title}</h2><div class=\"scroll\"><table><thead><tr><th class=\"name\">victim</th><th class=\"name\">neighbour</th>\
         <th>load</th><th>control</th><th>measure</th><th>slowdown</th><th>95% interval</th><th>pairs</th>\
         <th class=\"name\">what lengthened an operation</th></tr></thead><tbody>{rows}</tbody></table></div>"
    )
}

fn profiles(view: &ColocateView) -> String {
    let Some(first) = view.profiles.first() else { return String::new() };
    let heads: String = first.values.iter().map(|value| format!("<th>{}</th>", escaped(value.label))).collect();
    let row = |profile: &crate::view::colocate::ProfileView| {
        let values = profile.values.iter().map(|value| words::value(value.value.value(), value.unit));
        let ends = [words::ratio(profile.pressure), words::ratio(profile.sensitivity)];
        let cells: String = values.chain(ends).map(|text| format!("<td>{}</td>", escaped(&text))).collect();
        format!("<tr><th class=\"name\">{}</th>{cells}</tr>\n", escaped(&profile.name))
    };
    let rows: String = view.profiles.iter().map(row).collect();
    let gaps: String =
        words::profile_gaps(view).iter().map(|gap| format!("<p class=\"about\">{}</p>", escaped(gap))).collect();
    format!(
        "<h2>Programs alone</h2><p class=\"about\">Pressure is the mean slowdown that a program causes, sensitivity the one \
         that it suffers.</p><div class=\"scroll\"><table><thead><tr><th class=\"name\">program</th>{heads}<th>pressure</th>\
         <th>sensitivity</th></tr></thead><tbody>{rows}</tbody></table></div>{gaps}"
    )
}

fn gaps(view: &ColocateView) -> String {
    let gaps: String = words::gaps(view).iter().map(|gap| format!("<li>{}</li>\n", escaped(gap))).collect();
    if gaps.is_empty() { gaps } else { format!("<h2>Missing</h2><ul class=\"notes\">{gaps}</ul>") }
}
