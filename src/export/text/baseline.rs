//! A recording compared with its baseline: the verdict, then the evidence.
//! Every suspect is labelled as a correlation.

use super::page::{Ink, Page};
use crate::export::columns;
use crate::units::Nanos;
use crate::view::baseline::words::several;
use crate::view::baseline::{Alarm, BaselineComparisonView, QuantityDeviation, Suspect};
use crate::view::escape::visible;
use crate::view::number;

const LABEL: usize = 32;
/// Maximum sentences about a suspect, and alarms, that are shown.
const MOST: usize = 5;

pub(super) fn write(page: &mut Page, view: &BaselineComparisonView) {
    let head = &view.baseline;
    let about = format!(
        "{}, {}, {} of load",
        several(head.sources, "recording"),
        several(head.windows, "window"),
        several(head.known_levels, "known level")
    );
    page.heading("Compared with the baseline", &about);
    let slow = !view.assessment.alarms.is_empty() || view.assessment.diagnosis.unusual.is_some();
    for (at, sentence) in view.verdict.iter().enumerate() {
        let (lead, ink) = match at {
            0 if slow => ("  ! ", Some(Ink::Alert)),
            0 => ("  - ", None),
            _ => ("    ", None),
        };
        page.paragraph(lead, sentence, ink);
    }
    quantities(page, view);
    evidence(page, view);
    suspects(page, view);
    alarms(page, view);
    for sentence in &view.assessment.diagnosis.unknown {
        page.paragraph("  ? ", sentence, Some(Ink::Quiet));
    }
    for sentence in head.stale.iter().map(|stale| &stale.text).chain(&head.weaknesses) {
        page.paragraph("  ? ", &format!("baseline: {}", visible(sentence)), Some(Ink::Quiet));
    }
}

fn quantities(page: &mut Page, view: &BaselineComparisonView) {
    let mut rows = view.notable().peekable();
    if rows.peek().is_none() {
        return;
    }
    page.captions(&line("", "now", "usually", "band", "change"));
    for row in rows {
        let text = quantity(row);
        let text = if row.moved { page.paint(Ink::Alert, &text) } else { text };
        page.line(&text);
    }
}

fn quantity(row: &QuantityDeviation) -> String {
    let mark = if row.moved { "!" } else { " " };
    let label = format!("{mark} {}", row.quantity.label);
    let band = format!("{} - {}", row.format(row.band.0), row.format(row.band.1));
    line(&columns::middle(&label, LABEL), &row.format(row.now), &row.format(row.expected), &band, &row.change())
}

fn line(label: &str, now: &str, usual: &str, band: &str, change: &str) -> String {
    let [now, usual] = [now, usual].map(|text| columns::right(text, 10));
    format!(
        "  {}{now} {usual} {} {}",
        columns::left(label, LABEL),
        columns::right(band, 22),
        columns::right(change, 12)
    )
}

fn evidence(page: &mut Page, view: &BaselineComparisonView) {
    for row in &view.assessment.diagnosis.evidence {
        let share =
            row.share.map_or(String::new(), |share| format!("{} of the slowdown, ", number::percent(share).joined()));
        let sure = format!("{share}confidence {}", row.confidence.word());
        page.line(&format!("  > {}  {}", row.cause.label(), page.paint(Ink::Quiet, &sure)));
        page.paragraph("    ", &row.text, None);
    }
}

fn suspects(page: &mut Page, view: &BaselineComparisonView) {
    if view.assessment.diagnosis.suspects.is_empty() {
        return;
    }
    page.captions(&suspect_line("correlated, not proven", "score", "CPUs slow", "before"));
    for row in view.assessment.diagnosis.suspects.iter().take(MOST) {
        suspect(page, row);
    }
    page.left_out(view.assessment.diagnosis.suspects.len().saturating_sub(MOST), "neighbours", "");
}

fn suspect(page: &mut Page, row: &Suspect) {
    let score = format!("{:.2}{}", row.score, if row.above_threshold { "!" } else { " " });
    let title = columns::middle(&visible(&row.title()), LABEL + 8);
    let [cores, before] = [row.cores, row.cores_before].map(number::three_digits);
    page.line(&suspect_line(&title, &score, &cores, &before));
    for sentence in row.evidence.iter().skip(1).take(MOST) {
        page.paragraph("      ", sentence, Some(Ink::Quiet));
    }
}

fn suspect_line(title: &str, score: &str, cores: &str, before: &str) -> String {
    let [score, cores, before] = [score, cores, before].map(|text| columns::right(text, 10));
    format!("  {}{score} {cores} {before}", columns::left(title, LABEL + 8))
}

fn alarms(page: &mut Page, view: &BaselineComparisonView) {
    let all = &view.assessment.alarms;
    if all.len() < 2 {
        return;
    }
    page.captions("  alarms");
    for row in all.iter().rev().take(MOST).rev() {
        page.line(&alarm(row));
    }
    page.left_out(all.len().saturating_sub(MOST), "earlier alarms", "");
}

fn alarm(row: &Alarm) -> String {
    let time = |at: Nanos| number::seconds(at.seconds()).joined();
    let to = if row.active { "on".to_string() } else { time(row.window.to) };
    let who = row.suspect.as_ref().map_or(String::new(), |name| format!(", {}", visible(name)));
    format!("  {} - {to}: {} (x{:.2}){who}", time(row.window.from), row.cause.label(), row.worst)
}
