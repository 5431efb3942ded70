//! The speed of caches and memory, as one table for a log.
//! Missing measurements are not shown as numbers.

use super::page::{Ink, Page};
use crate::export::columns;
use crate::export::text::Style;
use crate::model::{Health, Unit};
use crate::view::escape::visible;
use crate::view::number;

/// The table as UTF-8 text.
#[must_use]
pub fn health(health: &Health, style: Style) -> Vec<u8> {
    let mut page = Page::new(style);
    let cpus = if health.cpus == 1 { "1 CPU".to_string() } else { format!("{} CPUs", health.cpus) };
    let took = number::seconds(health.seconds).joined();
    page.line(&format!("{}, {cpus}, measured in {took}", visible(&health.cpu_model)));
    caches(&mut page, health);
    latency(&mut page, health);
    bandwidth(&mut page, health);
    if !health.unknown.is_empty() {
        page.heading("Not known", "");
        health.unknown.iter().for_each(|text| page.paragraph("  - ", text, None));
    }
    page.finish()
}

fn caches(page: &mut Page, health: &Health) {
    page.heading("Caches", "as reported; step: load latency at twice the size over half the size");
    page.captions("  level      size  CPUs    step");
    for cache in &health.caches {
        let step = cache.step.map_or("-".to_string(), |step| format!("x{step:.1}"));
        let size = columns::right(&size(cache.bytes), 9);
        page.line(&format!("  {:>5} {size} {:>5} {}", cache.level, cache.shared_by, columns::right(&step, 7)));
    }
    if health.caches.is_empty() {
        page.line("      -");
    }
}

fn latency(page: &mut Page, health: &Health) {
    page.heading("Latency", "of one load, by the pages that are walked");
    page.captions("  level    walked     small      huge  translation");
    for row in &health.latency {
        page.line(&format!(
            "  {} {} {} {} {}",
            columns::right(&row.level, 5),
            columns::right(&size(row.bytes), 9),
            columns::right(&nanos(row.small_ns), 9),
            columns::right(&nanos(row.huge_ns), 9),
            columns::right(&nanos(row.translation_ns), 12)
        ));
    }
    for row in &health.nodes {
        page.line(&format!("  from node {} to node {}: {}", row.from, row.to, nanos(row.ns)));
    }
    let points: Vec<String> =
        health.curve.iter().map(|point| format!("{} {}", size(point.bytes), nanos(Some(point.ns)))).collect();
    if !points.is_empty() {
        page.paragraph("  by size: ", &points.join(", "), Some(Ink::Quiet));
    }
}

fn bandwidth(page: &mut Page, health: &Health) {
    page.heading("Bandwidth", "of five runs; a copied byte counts twice");
    page.captions("  stream  threads     median     slowest .. fastest");
    for row in &health.bandwidth {
        let rate = |value| number::quantity(value, Unit::BytesPerSecond).joined();
        let [least, most] = row.spread.map(rate);
        let range = format!("{least} .. {most}");
        let told = columns::right(&rate(row.bytes_per_s), 10);
        page.line(&format!("  {:6} {:>8} {told} {}", row.what, row.threads, columns::right(&range, 24)));
    }
}

/// Cache sizes use binary units.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_048_576 => format!("{} KiB", bytes >> 10),
        _ => format!("{} MiB", bytes >> 20),
    }
}

fn nanos(value: Option<f64>) -> String {
    value.map_or("-".to_string(), |value| number::quantity(value, Unit::Nanos).joined())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::model::{BandwidthRow, CacheHealth, LatencyRow, NodeRow};

    #[test]
    fn what_was_not_measured_is_a_dash_and_every_row_fits_its_columns() {
        let cache = |level, step| CacheHealth { level, bytes: 512 << 10, shared_by: 2, step };
        let told = Health {
            cpu_model: "AMD\u{1b}[31m EPYC".to_string(),
            cpus: 2,
            caches: vec![cache(2, Some(2.25)), cache(3, None)],
            latency: vec![LatencyRow {
                level: "DRAM".to_string(),
                bytes: 128 << 20,
                small_ns: Some(123.4),
                huge_ns: None,
                translation_ns: None,
            }],
            nodes: vec![NodeRow { from: 0, to: 1, ns: None }],
            curve: Vec::new(),
            bandwidth: vec![BandwidthRow {
                what: "copy".to_string(),
                threads: 2,
                bytes_per_s: 2e10,
                spread: [1e10, 3e10],
            }],
            unknown: vec!["something".to_string()],
            seconds: 2.5,
        };
        let text = String::from_utf8(health(&told, Style::default())).unwrap();
        assert!(!text.contains('\u{1b}') && text.lines().all(|line| line.chars().count() <= 80), "{text}");
        for row in [
            "      2   512 KiB     2    x2.2",
            "      3   512 KiB     2       -",
            "   DRAM   128 MiB    123 ns         -            -",
            "  from node 0 to node 1: -",
            "  copy          2  20.0 GB/s   10.0 GB/s .. 30.0 GB/s",
            "  - something",
        ] {
            assert!(text.lines().any(|line| line == row), "{row:?} is not in\n{text}");
        }
    }
}
