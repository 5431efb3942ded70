//! The report on a recording.

use super::spans::{code, plain, prose};
use super::{baseline, memory};
use crate::export::columns::capital;
use crate::export::inert;
use crate::model::{Note, Unit};
use crate::view::Measured;
use crate::view::code_ipc::cell;
use crate::view::findings::{EvidenceView, FindingsView, PlaceView};
use crate::view::latency::CAPTIONS;
use crate::view::number;
use crate::view::report::{FunctionRow, NeighboursView, OffCpuView, OperationLatencyView, Report, key_values};
use crate::view::slow_operations::{self, SlowOperationsView};

/// The report as UTF-8 Markdown.
#[must_use]
pub fn report(report: &Report) -> Vec<u8> {
    let mut out = format!("## ironlaw report: {}\n", code(&report.target));
    if let Some(view) = &report.baseline_comparison {
        baseline::write(&mut out, view);
    }
    findings(&mut out, &report.findings);
    notes(&mut out, report.cautions());
    head(&mut out, report);
    if let Some(view) = &report.latency {
        latency(&mut out, view, &report.latency_variation());
    }
    metrics(&mut out, report);
    functions(&mut out, report);
    threads(&mut out, report);
    if let Some(view) = &report.off_cpu {
        off_cpu(&mut out, view);
    }
    if let Some(view) = &report.places {
        memory::places(&mut out, view);
    }
    if let Some(view) = &report.memory {
        memory::write(&mut out, view);
    }
    if let Some(view) = &report.neighbours {
        neighbours(&mut out, view);
    }
    inert::document(out)
}

fn latency(out: &mut String, view: &OperationLatencyView, variation: &[(&str, String)]) {
    out.push_str(&format!("\n### Latency\n\n{}\n\n", code(&view.about())));
    if let Some(why) = view.nothing() {
        return out.push_str(&format!("{why}\n"));
    }
    memory::table(out, &CAPTIONS, view.rows.iter().map(|row| row.cells().to_vec()));
    for remark in view.remarks() {
        out.push_str(&format!("\n{remark}\n"));
    }
    if view.count > 0 {
        out.push('\n');
        variation.iter().for_each(|(label, text)| out.push_str(&format!("- {label}: {}\n", plain(text))));
    }
    match &view.slow {
        Some(SlowOperationsView::Known(slow)) => {
            out.push_str(&format!("\n### Slow operations\n\n{}\n\n", slow.about()));
            memory::table(out, &slow_operations::CAPTIONS, slow.causes.iter().map(|row| row.cells().to_vec()));
            slow.remarks().iter().for_each(|remark| out.push_str(&format!("\n{remark}\n")));
        }
        Some(SlowOperationsView::Missing { missing }) => {
            out.push_str(&format!("\nWhy slow operations are slow: {missing}\n"));
        }
        None => {}
    }
}

fn head(out: &mut String, report: &Report) {
    let samples = &report.samples;
    let stacks = match (samples.complete_share, samples.truncated_share, samples.broken_share) {
        (Some(complete), Some(truncated), Some(broken)) => format!(
            "{} complete, {} truncated, {} broken",
            number::percent(complete).joined(),
            number::percent(truncated).joined(),
            number::percent(broken).joined()
        ),
        _ => "none taken".to_string(),
    };
    let host = &report.host;
    let selection = &report.selection;
    let rows = [
        (
            "host",
            format!(
                "{}, Linux {} {}, {} CPUs",
                code(&host.hostname),
                code(&host.kernel),
                code(&host.arch),
                host.cpus.len()
            ),
        ),
        (
            "recorded",
            format!("{}, {}", number::date(report.started_unix_ns), number::seconds(report.duration_s).joined()),
        ),
        (
            "selected",
            format!("{} to {}", number::seconds(selection.from_s).joined(), number::seconds(selection.to_s).joined()),
        ),
        (
            "samples",
            format!(
                "{} of {}, {} of the CPU time sampled, lost {}, throttled {}",
                number::count(samples.count),
                code(&selection.event),
                samples.coverage.value().map_or("-".to_string(), |share| number::percent(share).joined()),
                samples.lost,
                samples.throttled
            ),
        ),
        ("stacks", stacks),
    ];
    out.push_str("\n### Recording\n\n| | |\n|---|---|\n");
    let gaps = report.gaps().into_iter().map(|gap| ("missing", plain(&gap)));
    for (label, text) in rows.into_iter().chain(gaps) {
        out.push_str(&format!("| {label} | {text} |\n"));
    }
}

pub(super) fn notes<'a>(out: &mut String, notes: impl IntoIterator<Item = &'a Note>) {
    for note in notes {
        let fix = note.fix.as_deref().map_or(String::new(), |fix| format!(" {}", plain(fix)));
        out.push_str(&format!("\n> {}{fix}\n", plain(&note.text)));
    }
}

pub(super) fn findings(out: &mut String, view: &FindingsView) {
    out.push_str("\n### Findings\n\n");
    if view.found.is_empty() {
        out.push_str(&format!("{}.\n", capital(&view.no_findings())));
    } else {
        out.push_str("| finding | share | sure | evidence | where | next |\n|---|---:|---|---|---|---|\n");
    }
    for finding in &view.found {
        let share = finding.share.map_or("-".to_string(), |share| number::percent(share).joined());
        let evidence: Vec<_> = finding.evidence.iter().map(evidence).collect();
        out.push_str(&format!(
            "| **{}**: {} | {share} | {} | {} | {} | {} |\n",
            finding.title,
            prose(&finding.claim),
            finding.confidence.word(),
            evidence.join("; "),
            finding.place.as_ref().map_or(String::new(), place),
            plain(&finding.next_step)
        ));
    }
    for (why, rules) in view.undecided_by_reason() {
        out.push_str(&format!("\n> Undecided, {}: {}\n", plain(why.text()), rules.join(", ")));
    }
}

fn evidence(row: &EvidenceView) -> String {
    let shown = |value| number::quantity(value, row.unit).joined();
    let limit = row.threshold.map_or(String::new(), |threshold| format!(" (limit {})", shown(threshold)));
    format!("{} {}{limit}", row.label, shown(row.value))
}

/// The innermost functions, or the threads.
fn place(place: &PlaceView) -> String {
    const MOST: usize = 5;
    let off_cpu = if place.off_cpu { " (off-CPU)" } else { "" };
    let (parts, glue): (Vec<_>, _) = match place.frames.is_empty() {
        true => (place.threads.iter().take(MOST).map(|thread| code(thread)).collect(), ", "),
        false => (place.frames.iter().rev().take(MOST).map(|frame| code(frame)).collect(), " < "),
    };
    format!("{}{off_cpu}", parts.join(glue))
}

fn metrics(out: &mut String, report: &Report) {
    out.push_str("\n### Metrics\n\n| metric | value | from |\n|---|---:|---|\n");
    for metric in &report.metrics {
        let Some((value, coverage)) = metric.value.known() else { continue };
        let mut shown = number::quantity(value, metric.unit).joined();
        if coverage < 1.0 {
            shown += &format!(" (counted {} of the time)", number::percent(coverage).joined());
        }
        out.push_str(&format!("| {} | {shown} | {} |\n", code(metric.name), code(&metric.formula)));
    }
    for (reason, names) in report.missing() {
        out.push_str(&format!("\n> Missing, {}: {}\n", plain(&reason), names.join(", ")));
    }
}

fn functions(out: &mut String, report: &Report) {
    let (what, rows, left_out) = match &report.groups {
        Some(groups) => (groups.by.as_str(), &groups.rows, groups.left_out),
        None => ("function", &report.functions, report.functions_left_out),
    };
    let module = if what.contains(',') { "" } else { " module |" };
    let (heads, lines) = match report.row_ipc() {
        Some(_) => (" IPC | MPKI |", "---:|---:|"),
        None => ("", ""),
    };
    out.push_str(&format!("\n### By {}\n\n| self | ± | total |{heads}", what.replace(',', ", ")));
    what.split(',').for_each(|key| out.push_str(&format!(" {key} |")));
    out.push_str(&format!("{module}\n|---:|---:|---:|{lines}{}\n", "---|".repeat(what.split(',').count().max(2))));
    rows.iter().for_each(|row| out.push_str(&function(what, row)));
    if left_out > 0 {
        out.push_str(&format!("\nand {left_out} more\n"));
    }
    if let Some(note) = report.late_samples() {
        out.push_str(&format!("\n{}\n", plain(&note.text)));
    }
}

fn function(what: &str, row: &FunctionRow) -> String {
    let error = row.self_error.map_or("-".to_string(), |error| format!("{:.2}", error * 100.0));
    let module = (!what.contains(',')).then_some(row.module.as_str());
    let cells: Vec<String> = key_values(what, &row.name).into_iter().chain(module).map(code).collect();
    let (own, total) = (row.self_share * 100.0, row.total_share * 100.0);
    let rates = row.rates.map_or(String::new(), |rates| format!(" {} | {} |", cell(rates.ipc), cell(rates.mpki)));
    format!("| {own:.2}% | {error} | {total:.2}% |{rates} {} |\n", cells.join(" | "))
}

fn threads(out: &mut String, report: &Report) {
    out.push_str(
        "\n### Threads\n\n| tid | name | CPU time | busy | queued | samples |\n|---:|---|---:|---:|---:|---:|\n",
    );
    let shown = |value: &Measured, unit| value.value().map_or("-".to_string(), |v| number::quantity(v, unit).joined());
    for thread in &report.threads {
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            thread.tid,
            code(&thread.name),
            shown(&thread.cpu_time, Unit::Seconds),
            shown(&thread.utilisation, Unit::Share),
            shown(&thread.run_queue_delay, Unit::Share),
            number::count(thread.samples)
        ));
    }
    if report.threads_left_out > 0 {
        out.push_str(&format!("\nand {} more\n", report.threads_left_out));
    }
}

fn neighbours(out: &mut String, view: &NeighboursView) {
    out.push_str("\n### Neighbours\n\n| pid | name | CPU time | CPUs | storage |\n|---:|---|---:|---:|---:|\n");
    for row in &view.rows {
        let time = row.cpu_s.map_or("-".to_string(), |cpu| number::seconds(cpu).joined());
        let cpus = row.busy_cpus.map_or("-".to_string(), |cpus| format!("{cpus:.2}"));
        let bytes = |bytes: u64| number::quantity(bytes as f64, Unit::Bytes).joined();
        let storage = row.io_bytes.map_or("-".to_string(), bytes);
        let pid = row.pid.map_or(String::new(), |pid| pid.to_string());
        out.push_str(&format!("| {pid} | {} | {time} | {cpus} | {storage} |\n", code(&row.name)));
    }
    if view.left_out > 0 {
        out.push_str(&format!("\nand {} more\n", view.left_out));
    }
}

fn off_cpu(out: &mut String, view: &OffCpuView) {
    out.push_str("\n### Off the CPU\n\n| cause | total | count | mean | longest |\n|---|---:|---:|---:|---:|\n");
    let time = |seconds: f64| number::seconds(seconds).joined();
    for cause in &view.causes {
        let (total, mean, max) = (time(cause.total_s), time(cause.mean_s), time(cause.max_s));
        out.push_str(&format!("| {} | {total} | {} | {mean} | {max} |\n", cause.label, number::count(cause.count)));
    }
    let queue = &view.queued_after_wake;
    if queue.count > 0 {
        let mean = time(queue.total_s / queue.count as f64);
        let (total, count, max) = (time(queue.total_s), number::count(queue.count), time(queue.max_s));
        out.push_str(&format!("| woken, waiting for a CPU | {total} | {count} | {mean} | {max} |\n"));
    }
    if let Some(text) = view.coverage.text() {
        out.push_str(&format!("\n{text}\n"));
    }
    if view.paths.is_empty() {
        return;
    }
    out.push_str("\n| blocked | count | cause | path, innermost first |\n|---:|---:|---|---|\n");
    for path in &view.paths {
        let frames: Vec<_> = path.frames.iter().map(|frame| code(frame)).collect();
        let (total, count) = (time(path.total_s), number::count(path.count));
        let why = path.age().map_or(path.cause.label().to_string(), |age| format!("{}, {age}", path.cause.label()));
        out.push_str(&format!("| {total} | {count} | {why} | {} |\n", frames.join(" < ")));
    }
}
