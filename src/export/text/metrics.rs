//! The metrics in two columns, and the missing ones once per reason.
//! Missing values are not shown as numbers, and they are not left out.

use super::page::{Ink, Page};
use crate::export::columns;
use crate::model::Section;
use crate::view::number;
use crate::view::report::{MetricView, Report};

/// Above this coverage, scaling changes less than the digits shown.
const WHOLE: f64 = 0.9995;
/// Columns between the two blocks.
const GAP: usize = 4;
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

/// Two blocks side by side where the page has room for both, as it always has without a terminal.
pub(super) fn write(page: &mut Page, report: &Report) {
    page.heading("Metrics", "");
    let (left, right) = (block(page, report, &LEFT), block(page, report, &RIGHT));
    let width = |lines: &[Line]| lines.iter().map(|line| line.1).max().unwrap_or(0);
    let (beside, needed) = (width(&left) + GAP, width(&left) + GAP + width(&right));
    if needed > page.room {
        left.iter().chain(&right).for_each(|line| page.line(&line.0));
    } else {
        let mut right = right.into_iter();
        for Line(text, width) in left {
            let next = right.next().map_or(String::new(), |line| line.0);
            page.line(&format!("{text}{}{next}", " ".repeat(beside - width)));
        }
        right.for_each(|line| page.line(&format!("{}{}", " ".repeat(beside), line.0)));
    }
    scaled(page, report);
    for (reason, names) in report.missing() {
        page.paragraph("  - ", &format!("{}: {reason}", names.join(", ")), Some(Ink::Quiet));
    }
}

fn block(page: &Page, report: &Report, sections: &[(Section, &str)]) -> Vec<Line> {
    let of = |section: Section| {
        let known = report.metrics.iter().filter(move |metric| metric.section == section);
        known.filter_map(|metric| Some((metric, metric.value.known()?)))
    };
    let labels = sections.iter().flat_map(|(section, _)| of(*section)).map(|(metric, _)| columns::width(metric.label));
    let label = labels.max().unwrap_or(0);
    let mut lines = Vec::new();
    for (section, title) in sections {
        let rows: Vec<_> = of(*section).map(|(metric, known)| row(page, metric, known, label)).collect();
        if !rows.is_empty() {
            lines.push(Line(page.paint(Ink::Quiet, &format!("  {title}")), 2 + title.len()));
            lines.extend(rows);
        }
    }
    lines
}

fn row(page: &Page, metric: &MetricView, (value, coverage): (f64, f64), label: usize) -> Line {
    let shown = number::quantity(value, metric.unit);
    let mark = if coverage < WHOLE { "*" } else { "" };
    let unit = format!("{}{mark}", shown.unit);
    let text = format!("    {}  {}", columns::left(metric.label, label), columns::right(&shown.number, NUMBER));
    let width = columns::width(&text) + 1 + columns::width(&unit);
    Line(format!("{text} {}", page.paint(Ink::Quiet, &unit)), width)
}

/// Multiplexed counters did not count all the time: states for how long they did.
fn scaled(page: &mut Page, report: &Report) {
    let coverage = report.metrics.iter().filter_map(|metric| Some(metric.value.known()?.1));
    if let Some(lowest) = coverage.filter(|coverage| *coverage < WHOLE).reduce(f64::min) {
        let text = format!("scaled up: counted for {} of the time or more", number::percent(lowest).joined());
        page.paragraph("  * ", &text, Some(Ink::Quiet));
    }
}
