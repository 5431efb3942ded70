//! The findings, printed before any table, each with its numbers, its place and the next step.
//! Rules that could not be decided are listed too.

use super::page::{Ink, Page};
use crate::export::columns;
use crate::view::escape::visible;
use crate::view::findings::{EvidenceView, FindingView, FindingsView, PlaceView};
use crate::view::number;

const INDENT: &str = "    ";

/// `about` states what the findings refer to.
pub(super) fn write(page: &mut Page, view: &FindingsView, about: &str) {
    page.heading("Findings", about);
    if view.found.is_empty() {
        page.line(&format!("  - nothing found: {} rules clear", view.clear.len()));
    }
    for finding in &view.found {
        found(page, finding);
    }
    for (why, rules) in view.undecided_by_reason() {
        page.paragraph("  - ", &format!("undecided, {}: {}", why.text(), rules.join(", ")), Some(Ink::Quiet));
    }
}

fn found(page: &mut Page, finding: &FindingView) {
    let share = finding.share.map_or("-".to_string(), |share| number::percent(share).joined());
    let sure = format!("{share}, confidence {}", finding.confidence.word());
    page.line(&format!("  ! {}  {}", page.paint(Ink::Alert, finding.title), page.paint(Ink::Quiet, &sure)));
    page.paragraph(INDENT, &visible(&finding.claim), None);
    let evidence: Vec<_> = finding.evidence.iter().filter_map(evidence).collect();
    page.paragraph(INDENT, &evidence.join("; "), Some(Ink::Quiet));
    if let Some(text) = finding.place.as_ref().and_then(|place| place_text(place, page.room)) {
        page.line(&format!("{INDENT}{text}"));
    }
    page.paragraph("    > ", &visible(&finding.next_step), None);
}

/// `mean wait 3.20 ms (limit 100 us)`; the page has no space for numbers that only explain.
fn evidence(row: &EvidenceView) -> Option<String> {
    let shown = |value| number::quantity(value, row.unit).joined();
    row.threshold.map(|threshold| format!("{} {} (limit {})", row.label, shown(row.value), shown(threshold)))
}

/// The innermost functions that fit, or the threads.
fn place_text(place: &PlaceView, room: usize) -> Option<String> {
    let (lead, parts, glue): (_, Vec<&String>, _) = if place.frames.is_empty() {
        ("in ", place.threads.iter().collect(), ", ")
    } else {
        ("at ", place.frames.iter().rev().collect(), " < ")
    };
    let off_cpu = if place.off_cpu && !place.frames.is_empty() { "  (off-CPU)" } else { "" };
    // Without a terminal, names are whole.
    let (first, others) = if room == usize::MAX { (room, room) } else { (48, 28) };
    let room = room.saturating_sub(INDENT.len() + lead.len() + off_cpu.len());
    let first = columns::function(&visible(parts.first()?), room.min(first));
    let mut out = format!("{lead}{first}");
    for part in &parts[1..] {
        let name = columns::function(&visible(part), others);
        if columns::width(&out) + columns::width(glue) + columns::width(&name) > room {
            break;
        }
        out = format!("{out}{glue}{name}");
    }
    Some(format!("{out}{off_cpu}"))
}
