//! What was profiled, in the first line; and below the findings on which machine, how well, what to heed and what is missing.

use super::page::{Ink, Page};
use crate::export::columns;
use crate::model::{MetricId, Note};
use crate::view::escape::visible;
use crate::view::number;
use crate::view::report::Report;

const LABEL: usize = 12;

/// The target, and the part of the recording that the report covers.
pub(super) fn title(page: &mut Page, report: &Report) {
    target(page, report);
    if let Some(selected) = selected(report) {
        field(page, "selected", &selected);
    }
}

/// Where and how it was recorded, and what is missing.
pub(super) fn recording(page: &mut Page, report: &Report) {
    page.heading("Recording", "");
    field(page, "host", &host(report));
    let recorded = format!(
        "{}, {}, ironlaw {}",
        number::date(report.started_unix_ns),
        number::seconds(report.duration_s).joined(),
        visible(&report.tool)
    );
    field(page, "recorded", &recorded);
    if let Some(source) = &report.operation_source {
        field(page, "ops", &visible(source));
    }
    field(page, "samples", &samples(report));
    field(page, "stacks", &stacks(report));
    field(page, "own cost", &own_cost(report));
    for (at, gap) in report.gaps().iter().enumerate() {
        field(page, if at == 0 { "missing" } else { "" }, &visible(gap));
    }
}

fn target(page: &mut Page, report: &Report) {
    let mut target = visible(&report.target).into_owned();
    // A command contains its name; an id does not.
    let names: Vec<_> = report.process_names.iter().filter(|name| !target.contains(name.as_str())).collect();
    if let Some(first) = names.first() {
        let more = if names.len() > 1 { format!(" and {} more", names.len() - 1) } else { String::new() };
        target = format!("{target} ({}{more})", visible(first));
    }
    let room = page.room_after(columns::width("ironlaw report  "));
    let title = page.paint(Ink::Heading, &columns::middle(&target, room));
    page.line(&format!("{}  {title}", page.paint(Ink::Quiet, "ironlaw report")));
}

pub(super) fn field(page: &mut Page, label: &str, text: &str) {
    let lead = page.paint(Ink::Quiet, &columns::left(&format!("  {label}"), LABEL));
    let indent = " ".repeat(LABEL);
    for (at, part) in columns::wrap(text, page.width - LABEL).iter().enumerate() {
        page.line(&format!("{}{part}", if at == 0 { &lead } else { &indent }));
    }
}

fn host(report: &Report) -> String {
    let host = &report.host;
    let cpus = match host.cpus.len() {
        0 => String::new(),
        1 => ", 1 CPU".to_string(),
        n => format!(", {n} CPUs"),
    };
    let model = if host.cpu_model.is_empty() { String::new() } else { format!(", {}", host.cpu_model) };
    let machine = if host.virtual_machine { ", virtual machine" } else { "" };
    visible(&format!("{}, Linux {} {}{cpus}{model}{machine}", host.hostname, host.kernel, host.arch)).into_owned()
}

/// The selection; `None` when the report covers everything.
fn selected(report: &Report) -> Option<String> {
    let selection = &report.selection;
    let mut parts = Vec::new();
    if selection.from_s > 0.0 || selection.to_s < report.duration_s {
        let span =
            |from: f64, to: f64| format!("{} to {}", number::seconds(from).joined(), number::seconds(to).joined());
        parts.push(span(selection.from_s, selection.to_s));
        if (selection.metrics_from_s, selection.metrics_to_s) != (selection.from_s, selection.to_s) {
            parts.push(format!("metrics {}", span(selection.metrics_from_s, selection.metrics_to_s)));
        }
    }
    if !selection.threads.is_empty() {
        parts.push(format!("threads {}", visible(&selection.threads.join(", "))));
    }
    if !selection.pids.is_empty() {
        let pids: Vec<_> = selection.pids.iter().map(u32::to_string).collect();
        parts.push(format!("processes {}", pids.join(", ")));
    }
    if !selection.cpus.is_empty() {
        let cpus: Vec<_> = selection.cpus.iter().map(u32::to_string).collect();
        parts.push(format!("samples on CPUs {} (metrics and waits: all CPUs)", cpus.join(", ")));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn samples(report: &Report) -> String {
    let samples = &report.samples;
    let event = visible(&report.selection.event);
    let what = match samples.waits {
        Some(waits) => format!("{} spans off the CPU", number::count(waits)),
        None => format!("{} of {event} at {}", number::count(samples.count), report.rate),
    };
    let others = report.events.iter().filter(|row| row.name != report.selection.event && row.samples > 0);
    let others: Vec<_> =
        others.map(|row| format!("{} of {}", number::count(row.samples), visible(&row.name))).collect();
    let covered = covered(report).map_or(String::new(), |share| format!(", {share} of the CPU time"));
    let (lost, throttled) = (number::count(samples.lost), number::count(samples.throttled));
    let mut text = format!("{what}{covered}, lost {lost}, throttled {throttled}");
    for loss in samples.losses.iter().filter(|loss| loss.lost > 0 && !loss.kind.is_samples()) {
        let share = loss.share.map_or(String::new(), |share| format!(" ({})", number::percent(share).joined()));
        text.push_str(&format!(", {} lost {}{share}", loss.kind.text(), number::count(loss.lost)));
    }
    if samples.off_cpu_lost > 0 {
        text.push_str(&format!(", spans lost {}", number::count(samples.off_cpu_lost)));
    }
    if !others.is_empty() {
        text.push_str(&format!("; also {}", others.join(", ")));
    }
    text
}

/// The share of CPU time that the samples represent; `None` where it is unknown, and for off-CPU time.
fn covered(report: &Report) -> Option<String> {
    let share = report.samples.coverage.value().filter(|_| report.selection.event != "off-cpu")?;
    Some(number::percent(share).joined())
}

fn stacks(report: &Report) -> String {
    let samples = &report.samples;
    match (samples.complete_share, samples.truncated_share, samples.broken_share) {
        (Some(complete), Some(truncated), Some(broken)) => format!(
            "{} complete, {} truncated, {} broken (call graph {})",
            number::percent(complete).joined(),
            number::percent(truncated).joined(),
            number::percent(broken).joined(),
            report.call_graph
        ),
        _ => "none taken".to_string(),
    }
}

fn own_cost(report: &Report) -> String {
    let shown = |id| {
        let metric = report.metric(id)?;
        Some(number::quantity(metric.value.value()?, metric.unit).joined())
    };
    let own = match (shown(MetricId::ToolCpuShare), shown(MetricId::ToolMemory)) {
        (Some(cpu), Some(memory)) => format!("{cpu} of one CPU, {memory}"),
        (Some(cpu), None) => format!("{cpu} of one CPU"),
        (None, _) => "-  not recorded".to_string(),
    };
    let parts = [
        (MetricId::SamplingShare, "samples"),
        (MetricId::CountingShare, "counters"),
        (MetricId::WaitStacksShare, "waits"),
        (MetricId::LatencyProbesShare, "probes"),
    ];
    let paid = parts.into_iter().filter_map(|(id, by)| Some(format!("{by} {}", shown(id)?)));
    let paid = paid.collect::<Vec<_>>().join(", ");
    if paid.is_empty() { own } else { format!("{own}; of the target's time: {paid}") }
}

/// Notes in full, each with what to do.
pub(super) fn notes<'a>(page: &mut Page, notes: impl IntoIterator<Item = &'a Note>) {
    for (at, note) in notes.into_iter().enumerate() {
        if at == 0 {
            page.heading("Read with care", "");
        }
        let lead = format!("  {} ", page.paint(Ink::Alert, "!"));
        for (at, part) in columns::wrap(&visible(&note.text), page.width - 4).iter().enumerate() {
            page.line(&format!("{}{part}", if at == 0 { &lead } else { "    " }));
        }
        if let Some(fix) = &note.fix {
            page.paragraph("    ", fix, Some(Ink::Quiet));
        }
    }
}
