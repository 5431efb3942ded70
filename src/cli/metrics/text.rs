//! Formats the list as text.

use super::listing::{Event, Group, Listing, Missing, Row};
use crate::model::Unit;
use crate::view::escape::visible;
use std::fmt::Write;

/// All cores, one after the other.
pub(super) fn print(listings: &[Listing]) -> Vec<u8> {
    let blocks: Vec<String> = listings.iter().map(core).collect();
    blocks.join("\n").into_bytes()
}

fn core(listing: &Listing) -> String {
    let mut text = String::new();
    let pmu = listing.pmu.as_ref().map(|pmu| format!(", {pmu}: {} general counters free", listing.counters));
    let _ = writeln!(text, "{} ({}){}", listing.name, listing.uarch, pmu.unwrap_or_default());
    if !listing.cpus.is_empty() {
        let _ = writeln!(text, "  on {} CPUs, the first {}", listing.cpus.len(), listing.cpus[0]);
    }
    for remark in &listing.remarks {
        let _ = writeln!(text, "  {remark}");
    }
    if !listing.metrics.is_empty() {
        text.push_str("\nMetrics\n");
        listing.metrics.iter().for_each(|row| metric(&mut text, row));
    }
    if !listing.groups.is_empty() {
        text.push_str("\nGroups, each counted at once; the kernel takes turns where they are too many\n");
        listing.groups.iter().zip(1..).for_each(|(group, number)| together(&mut text, group, number));
    }
    if !listing.missing.is_empty() {
        text.push_str("\nNot available\n");
        absent(&mut text, &listing.missing);
    }
    if !listing.other_events.is_empty() {
        text.push_str("\nOther events\n");
        events(&mut text, &listing.other_events);
    }
    visible_lines(&text)
}

fn metric(text: &mut String, row: &Row) {
    let above = row.threshold.map(|threshold| match row.unit {
        Unit::Share => format!(", flagged above {}%", 100.0 * threshold),
        _ => format!(", flagged above {threshold}"),
    });
    let _ = writeln!(text, "  {:<24} {} ({}){}", row.name, row.label, row.unit.symbol(), above.unwrap_or_default());
    let _ = writeln!(text, "  {:<24} = {}  [group {}]", "", row.formula, row.group);
    if let Some(note) = &row.note {
        let _ = writeln!(text, "  {:<24} {note}", "");
    }
}

fn together(text: &mut String, group: &Group, number: usize) {
    let _ = writeln!(text, "  {number}");
    events(text, &group.events);
    let _ = writeln!(text, "    perf stat -e '{}'", group.perf);
}

fn events(text: &mut String, events: &[Event]) {
    let role = events.iter().map(|event| event.role.len()).max().unwrap_or(0);
    let name = events.iter().map(|event| event.name.len()).max().unwrap_or(0);
    for event in events {
        let note = event.note.as_ref().map(|note| format!("  ({note})")).unwrap_or_default();
        let _ = writeln!(text, "    {:<role$}  {:<name$}  {}{note}", event.role, event.name, event.perf);
    }
}

/// Metrics that are missing for the same reason share a line.
fn absent(text: &mut String, missing: &[Missing]) {
    let mut reasons: Vec<&str> = Vec::new();
    for row in missing {
        if reasons.contains(&row.why.as_str()) {
            continue;
        }
        reasons.push(&row.why);
        let same: Vec<&str> =
            missing.iter().filter(|other| other.why == row.why).map(|other| other.name.as_str()).collect();
        wrapped(text, &same);
        let _ = writeln!(text, "    {}", row.why);
    }
}

fn wrapped(text: &mut String, names: &[&str]) {
    let mut column = 0;
    for (at, name) in names.iter().enumerate() {
        if column == 0 || column + name.len() + 2 > 80 {
            text.push_str(if column == 0 { "  " } else { "\n  " });
            column = 2;
        }
        let end = if at + 1 < names.len() { ", " } else { "\n" };
        let _ = write!(text, "{name}{end}");
        column += name.len() + 2;
    }
}

/// Escapes text, because a user's table may contain anything.
fn visible_lines(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", visible(line.trim_end()))).collect()
}
