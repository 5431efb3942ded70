//! The metrics in two columns, and the missing ones once per reason.
//! Missing values are not shown as numbers, and they are not left out.

use super::page::{Ink, Page};
use crate::export::columns;
use crate::model::Why;
use crate::view::Measured;
use crate::view::Section;
use crate::view::number;
use crate::view::report::{MetricView, Report};

/// Two blocks of 37 columns with a gap fit into 80 columns.
const BLOCK: usize = 37;
/// Above this coverage, scaling changes less than the digits shown.
const WHOLE: f64 = 0.9995;
const GAP: usize = 4;
const LABEL: usize = 23;
const NUMBER: usize = 8;

const LEFT: [(Section, &str); 5] = [
    (Section::Operation, "per operation"),
    (Section::Cpu, "CPU"),
    (Section::Hardware, "hardware counters"),
    (Section::Memory, "memory"),
    (Section::Tool, "ironlaw itself"),
];
const RIGHT: [(Section, &str); 4] = [
    (Section::Scheduler, "scheduler"),
    (Section::Cgroup, "control group"),
    (Section::Host, "machine"),
    (Section::Probe, "canaries: one load"),
];

/// A line of a block: with colour, and its width without.
struct Line(String, usize);

pub(super) fn write(page: &mut Page, report: &Report) {
    page.heading("Metrics", "");
    let mut right = blocks(page, report, &RIGHT).into_iter();
    for Line(text, width) in blocks(page, report, &LEFT) {
        // A label too long for its block gets a line of its own.
        let beside = if width < BLOCK + GAP { right.next() } else { None };
        let gap = " ".repeat((BLOCK + GAP).saturating_sub(width));
        page.line(&format!("{text}{gap}{}", beside.map_or(String::new(), |line| line.0)));
    }
    for Line(text, _) in right {
        page.line(&format!("{}{text}", " ".repeat(BLOCK + GAP)));
    }
    scaled(page, report);
    missing(page, report);
}

fn blocks(page: &Page, report: &Report, sections: &[(Section, &str)]) -> Vec<Line> {
    let mut lines = Vec::new();
    for (section, title) in sections {
        let known = report.metrics.iter().filter(|metric| metric.section == *section);
        let rows: Vec<_> = known.filter_map(|metric| row(page, metric)).collect();
        if !rows.is_empty() {
            lines.push(Line(page.paint(Ink::Quiet, &format!("  {title}")), 2 + title.len()));
            lines.extend(rows);
        }
    }
    lines
}

fn row(page: &Page, metric: &MetricView) -> Option<Line> {
    let Measured::Known { value, coverage } = metric.value else { return None };
    let shown = number::quantity(value, metric.unit);
    let mark = if coverage < WHOLE { "*" } else { "" };
    let unit = format!("{}{mark}", shown.unit);
    let text = format!("    {} {}", columns::left(metric.label, LABEL - 3), columns::right(&shown.number, NUMBER));
    let width = columns::width(&text) + 1 + columns::width(&unit);
    Some(Line(format!("{text} {}", page.paint(Ink::Quiet, &unit)), width))
}

/// Multiplexed counters did not count all the time: states for how long they did.
fn scaled(page: &mut Page, report: &Report) {
    let coverage = report.metrics.iter().filter_map(|metric| match metric.value {
        Measured::Known { coverage, .. } if coverage < WHOLE => Some(coverage),
        _ => None,
    });
    if let Some(lowest) = coverage.reduce(f64::min) {
        let text = format!("scaled up: counted for {} of the time or more", number::percent(lowest).joined());
        page.paragraph("  * ", &text, Some(Ink::Quiet));
    }
}

/// Every missing metric, once per reason. Without operations there is no cost per operation: one entry for all.
fn missing(page: &mut Page, report: &Report) {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    let operations = report.metric("operations").and_then(reason);
    reasons.extend(operations.clone().map(|reason| (reason, vec!["operations and what one costs"])));
    for metric in report.telling() {
        let Some(reason) = reason(metric) else { continue };
        if metric.section == Section::Operation && operations.is_some() {
            continue;
        }
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(metric.name),
            None => reasons.push((reason, vec![metric.name])),
        }
    }
    for (reason, names) in reasons {
        page.paragraph("  - ", &format!("{}: {reason}", names.join(", ")), Some(Ink::Quiet));
    }
}

fn reason(metric: &MetricView) -> Option<String> {
    let Measured::Missing { reason, missing } = metric.value else { return None };
    Some(match &metric.detail {
        None => reason.to_string(),
        // A precise detail needs no general reason.
        Some(detail) if missing != Why::Suspect => detail.clone(),
        Some(detail) => format!("{reason}: {detail}"),
    })
}
