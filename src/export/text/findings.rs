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
        page.line(&format!("  - {}", view.no_findings()));
    }
    for finding in &view.found {
        found(page, finding);
    }
    for (why, rules) in view.undecided_by_reason() {
        page.paragraph("  - ", &format!("undecided, {}: {}", why.text(), rules.join(", ")), Some(Ink::Quiet));
    }
}

fn found(page: &mut Page, finding: &FindingView) {
    let of = finding.share_of.words();
    let share = finding.share.map_or(String::new(), |share| format!("{} {of}, ", number::percent(share).joined()));
    let sure = format!("{share}confidence {}", finding.confidence.word());
    page.line(&format!("  ! {}  {}", page.paint(Ink::Alert, finding.title), page.paint(Ink::Quiet, &sure)));
    page.paragraph(INDENT, &finding.claim, None);
    let evidence: Vec<_> = finding.evidence.iter().filter_map(evidence).collect();
    page.paragraph(INDENT, &evidence.join("; "), Some(Ink::Quiet));
    if let Some(text) = finding.place.as_ref().and_then(|place| place_text(place, page.room)) {
        page.line(&format!("{INDENT}{text}"));
    }
    page.paragraph("    > ", &finding.next_step, None);
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
    let lead_out = INDENT.len() + lead.len() + off_cpu.len();
    let names: Vec<_> = parts.into_iter().map(|part| visible(part)).collect();
    let room = if room == usize::MAX { room } else { room.saturating_sub(lead_out) };
    (!names.is_empty()).then(|| format!("{lead}{}{off_cpu}", columns::chain(&names, glue, room)))
}
