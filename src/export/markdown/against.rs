//! A recording compared with its baseline, for tickets and reviews.
//! Every suspect is labelled as a correlation.

use super::{code, plain};
use crate::view::against::AgainstView;
use crate::view::number;

pub(super) fn write(out: &mut String, view: &AgainstView) {
    out.push_str("\n### Against the baseline\n\n");
    for (at, sentence) in view.verdict.iter().enumerate() {
        let sentence = plain(sentence);
        out.push_str(&if at == 0 { format!("**{sentence}**\n") } else { format!("{sentence}\n") });
    }
    quantities(out, view);
    if !view.evidence.is_empty() {
        out.push('\n');
    }
    for row in &view.evidence {
        let share = row.share.map_or(String::new(), |share| format!("{}, ", number::percent(share).joined()));
        let (cause, sure) = (row.cause.label(), row.confidence.word());
        out.push_str(&format!("- **{cause}** ({share}confidence {sure}): {}\n", plain(&row.text)));
    }
    suspects(out, view);
    if view.alarms.len() > 1 {
        out.push_str("\n| alarm from | to | cause | worst | suspect |\n|---:|---:|---|---:|---|\n");
        for row in &view.alarms {
            let time = |seconds: f64| number::seconds(seconds).joined();
            let to = if row.on { "on".to_string() } else { time(row.to_s) };
            let who = row.suspect.as_deref().map_or(String::new(), code);
            let cause = row.cause.label();
            out.push_str(&format!("| {} | {to} | {cause} | x{:.2} | {who} |\n", time(row.from_s), row.worst));
        }
    }
    let baseline = view.baseline.stale.iter().map(|stale| &stale.text).chain(&view.baseline.wanting);
    for sentence in view.unknown.iter().chain(baseline) {
        out.push_str(&format!("\n> {}\n", plain(sentence)));
    }
}

fn quantities(out: &mut String, view: &AgainstView) {
    out.push_str("\n| | now | usually | band | change |\n|---|---:|---:|---:|---:|\n");
    for row in view.telling() {
        let label = if row.moved { format!("**{}**", row.label) } else { row.label.to_string() };
        let [now, usual, low, high] = [row.now, row.expected, row.low, row.high].map(|value| row.shown(value));
        out.push_str(&format!("| {label} | {now} | {usual} | {low} - {high} | {} |\n", row.change()));
    }
}

fn suspects(out: &mut String, view: &AgainstView) {
    if view.suspects.is_empty() {
        return;
    }
    out.push_str("\n| correlated, not proven | score | CPUs while slow | before | |\n|---|---:|---:|---:|---|\n");
    for row in &view.suspects {
        let [cores, before] = [row.cores, row.cores_before].map(number::three_digits);
        let more: Vec<String> = row.evidence.iter().skip(1).map(|text| plain(text)).collect();
        let title = code(&row.title());
        out.push_str(&format!("| {title} | {:.2} | {cores} | {before} | {} |\n", row.score, more.join(" ")));
    }
}
