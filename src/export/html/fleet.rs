//! What a data set says of many machines as a page: every table whole.

use super::page::{self, STYLE};
use super::tables::Html;
use crate::export::inert;
use crate::export::markup::escaped;
use crate::view::fleet::{FleetView, headline, sections};

const PAGE: &str = include_str!("../../../assets/html/fleet.html");

/// The answers as an HTML page.
#[must_use]
pub fn fleet(view: &FleetView) -> Vec<u8> {
    let tables: String = sections(view, 0)
        .iter()
        .map(|section| {
            let mut table = Html::table(&section.about);
            table.head(section.head.iter().map(|text| escaped(text)), section.names);
            for row in &section.rows {
                let (first, others) =
                    row.split_first().map_or(("", &row[..]), |(first, others)| (first.as_str(), others));
                table.row(first, others.iter().map(|cell| escaped(cell)));
            }
            let remarks: String = section.remarks.iter().map(|text| format!("<p>{}</p>\n", escaped(text))).collect();
            format!("<h2>{}</h2>\n{}\n{remarks}", escaped(section.title), table.finish())
        })
        .collect();
    let notes: String = view
        .notes
        .iter()
        .map(|note| {
            let fix = note.fix.as_deref().unwrap_or("");
            format!("<li>{}. {}</li>\n", escaped(&note.text), escaped(fix))
        })
        .collect();
    let parts = [
        ("style", STYLE.to_string()),
        ("tool", escaped(&view.facts.tool)),
        (
            "facts",
            format!(
                "<dt>Data set</dt><dd>{}</dd>\n<dt>Holds</dt><dd>{}</dd>\n",
                escaped(&view.facts.dataset),
                escaped(&headline(view))
            ),
        ),
        ("notes", if notes.is_empty() { notes } else { format!("<ul class=\"notes\">{notes}</ul>") }),
        ("tables", tables),
    ];
    inert::document(page::fill(PAGE, &parts))
}
