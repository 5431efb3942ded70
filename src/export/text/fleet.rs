//! What a data set says of many machines, for people.

use super::Style;
use super::page::{Ink, Page};
use crate::export::columns::width;
use crate::view::fleet::{FleetView, headline, sections};

/// The answers as UTF-8 text, each table with at most `limit` rows (0: all).
#[must_use]
pub fn fleet(view: &FleetView, limit: usize, style: Style) -> Vec<u8> {
    let mut page = Page::new(style);
    let title = page.paint(Ink::Heading, "ironlaw fleet");
    page.line(&format!("{title}  {}", view.facts.dataset));
    page.paragraph("", &headline(view), Some(Ink::Quiet));
    for note in &view.notes {
        let fix = note.fix.as_deref().map_or(String::new(), |fix| format!(". {fix}"));
        page.paragraph("note: ", &format!("{}{fix}", note.text), Some(Ink::Alert));
    }
    for section in sections(view, limit) {
        if page.room_after(width(section.title) + 2) < width(&section.about) {
            page.heading(section.title, "");
            page.paragraph("  ", &section.about, Some(Ink::Quiet));
        } else {
            page.heading(section.title, &section.about);
        }
        if !section.rows.is_empty() {
            let gone = page.fitted_table(&section.head, section.names, &section.rows, |at| section.rank(at));
            if !gone.is_empty() {
                let text = format!("too narrow for: {}. A wider terminal or a file (-o) has them.", gone.join("; "));
                page.paragraph("  ", &text, Some(Ink::Quiet));
            }
        }
        page.left_out(section.left_out, "rows", " (--limit 0 shows all)");
        for remark in &section.remarks {
            page.paragraph("  ", remark, Some(Ink::Quiet));
        }
    }
    page.finish()
}
