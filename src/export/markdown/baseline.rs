//! A recording compared with its baseline, for tickets and reviews.
//! Every suspect is labelled as a correlation.

use super::spans::{code, plain};
use crate::units::Nanos;
use crate::view::baseline::BaselineComparisonView;
use crate::view::number;

pub(super) fn write(out: &mut String, view: &BaselineComparisonView) {
    out.push_str("\n### Compared with the baseline\n\n");
    for (at, sentence) in view.verdict.iter().enumerate() {
        let sentence = plain(sentence);
        out.push_str(&if at == 0 { format!("**{sentence}**\n") } else { format!("{sentence}\n") });
    }
    quantities(out, view);
    if !view.assessment.diagnosis.evidence.is_empty() {
        out.push('\n');
    }
    for row in &view.assessment.diagnosis.evidence {
        let share =
            row.share.map_or(String::new(), |share| format!("{} of the slowdown, ", number::percent(share).joined()));
        let (cause, sure) = (row.cause.label(), row.confidence.word());
        out.push_str(&format!("- **{cause}** ({share}confidence {sure}): {}\n", plain(&row.text)));
    }
    suspects(out, view);
    if view.assessment.alarms.len() > 1 {
        out.push_str("\n| alarm from | to | cause | worst | suspect |\n|---:|---:|---|---:|---|\n");
        for row in &view.assessment.alarms {
            let time = |at: Nanos| number::seconds(at.seconds()).joined();
            let to = if row.active { "on".to_string() } else { time(row.window.to) };
            let who = row.suspect.as_deref().map_or(String::new(), code);
            let cause = row.cause.label();
            out.push_str(&format!("| {} | {to} | {cause} | x{:.2} | {who} |\n", time(row.window.from), row.worst));
        }
    }
    let baseline = view.baseline.stale.iter().map(|stale| &stale.text).chain(&view.baseline.weaknesses);
    for sentence in view.assessment.diagnosis.unknown.iter().chain(baseline) {
        out.push_str(&format!("\n> {}\n", plain(sentence)));
    }
}

fn quantities(out: &mut String, view: &BaselineComparisonView) {
    out.push_str("\n| | now | usually | band | change |\n|---|---:|---:|---:|---:|\n");
    for row in view.notable() {
        let label = if row.moved { format!("**{}**", row.quantity.label) } else { row.quantity.label.to_string() };
        let [now, usual, low, high] = [row.now, row.expected, row.band.0, row.band.1].map(|value| row.format(value));
        out.push_str(&format!("| {label} | {now} | {usual} | {low} - {high} | {} |\n", row.change()));
    }
}

fn suspects(out: &mut String, view: &BaselineComparisonView) {
    if view.assessment.diagnosis.suspects.is_empty() {
        return;
    }
    out.push_str("\n| correlated, not proven | score | CPUs while slow | before | |\n|---|---:|---:|---:|---|\n");
    for row in &view.assessment.diagnosis.suspects {
        let [cores, before] = [row.cores, row.cores_before].map(number::three_digits);
        let more: Vec<String> = row.evidence.iter().skip(1).map(|text| plain(text)).collect();
        let title = code(&row.title());
        out.push_str(&format!("| {title} | {:.2} | {cores} | {before} | {} |\n", row.score, more.join(" ")));
    }
}
