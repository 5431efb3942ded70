//! The findings, each with its numbers, its place and the next step.
//! Rules that could not be decided are listed too.

use crate::export::columns::capital;
use crate::export::markup::escaped;
use crate::view::findings::{EvidenceView, FindingView, FindingsView, PlaceView};
use crate::view::number::{percent, quantity};

pub(super) fn section(view: &FindingsView) -> String {
    let mut out = String::from("<section><h2>Findings</h2>");
    out.push_str("<p class=\"about\">What keeps it from scaling, most important first.</p>");
    if view.found.is_empty() {
        out.push_str(&format!("<p>{}.</p>", capital(&view.no_findings())));
    }
    view.found.iter().for_each(|finding| out.push_str(&found(finding)));
    for (why, rules) in view.undecided_by_reason() {
        let (why, rules) = (escaped(why.text()), escaped(&rules.join(", ")));
        out.push_str(&format!("<p class=\"undecided\">Undecided, {why}: {rules}</p>"));
    }
    out + "</section>"
}

fn found(finding: &FindingView) -> String {
    let of = finding.share_of.words();
    let share = finding.share.map_or(String::new(), |share| format!("{} {of}, ", percent(share).joined()));
    let sure = format!("{share}confidence {}", finding.confidence.word());
    let evidence: Vec<_> = finding.evidence.iter().map(evidence).collect();
    let place = finding.place.as_ref().map_or(String::new(), place);
    format!(
        "<article class=\"finding\"><h3>{} <span class=\"sure\">{sure}</span></h3><p>{}</p>\
         <p class=\"evidence\">{}</p>{place}<p><strong>Next:</strong> {}</p>\
         <p class=\"evidence\">Refuted by: {}</p></article>\n",
        escaped(finding.title),
        prose(&finding.claim),
        evidence.join("; "),
        prose(&finding.next_step),
        escaped(finding.refuted_by)
    )
}

fn evidence(row: &EvidenceView) -> String {
    let shown = |value| quantity(value, row.unit).joined();
    let limit = row.threshold.map_or(String::new(), |threshold| format!(" (limit {})", shown(threshold)));
    escaped(&format!("{} {}{limit}", row.label, shown(row.value)))
}

/// The innermost functions, or the threads.
fn place(place: &PlaceView) -> String {
    const MOST: usize = 6;
    let code = |name: &String| format!("<code>{}</code>", escaped(name));
    let (parts, glue): (Vec<_>, _) = match place.frames.is_empty() {
        true => (place.threads.iter().take(MOST).map(code).collect(), ", "),
        false => (place.frames.iter().rev().take(MOST).map(code).collect(), " &larr; "),
    };
    let off_cpu = if place.off_cpu { " (off the CPU)" } else { "" };
    if parts.is_empty() { String::new() } else { format!("<p>at {}{off_cpu}</p>", parts.join(glue)) }
}

/// A sentence with its names between backticks.
fn prose(text: &str) -> String {
    let part = |(at, part): (usize, &str)| match at % 2 {
        1 => format!("<code>{}</code>", escaped(part)),
        _ => escaped(part),
    };
    text.split('`').enumerate().map(part).collect()
}
