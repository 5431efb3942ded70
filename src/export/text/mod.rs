//! The report for people: one page of aligned columns that fits the terminal.
//! Width and colour are arguments; the terminal is not queried.

mod annotate;
mod baseline;
mod checklist;
mod colocate;
mod findings;
mod fleet;
mod functions;
mod header;
mod health;
mod latency;
mod limits;
mod memory;
mod metrics;
mod neighbours;
mod off_cpu;
pub(super) mod page;
mod sweep;
mod threads;

use super::columns;
use crate::view::report::Report;
pub use annotate::{annotation, mix};
pub use checklist::{Item, Mark, checklist};
pub use colocate::colocate;
pub use fleet::fleet;
pub use health::health;
pub use limits::limits;
use page::Page;
pub use sweep::sweep;

/// Layout of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Columns of the terminal; terminals narrower than 80 get lines of 80. `None` without a terminal: tables are as wide
    /// as their content, and nothing is cut.
    pub width: Option<usize>,
    /// Whether ANSI colours may be used. No information depends on colour alone.
    pub colour: bool,
}

impl Default for Style {
    fn default() -> Self {
        Style { width: Some(80), colour: false }
    }
}

/// The report as UTF-8 text.
#[must_use]
pub fn report(report: &Report, style: Style) -> Vec<u8> {
    let mut page = Page::new(style);
    header::title(&mut page, report);
    if let Some(view) = &report.baseline_comparison {
        baseline::write(&mut page, view);
    }
    findings::write(&mut page, &report.findings, "what holds the selected threads back, most important first");
    header::notes(&mut page, report.cautions());
    header::recording(&mut page, report);
    if let Some(view) = &report.latency {
        latency::write(&mut page, view, &report.latency_variation());
    }
    metrics::write(&mut page, report);
    functions::write(&mut page, report);
    if let Some(view) = &report.instructions {
        annotate::write_mix(&mut page, view);
    }
    threads::write(&mut page, report);
    if let Some(off_cpu) = &report.off_cpu {
        off_cpu::write(&mut page, off_cpu);
    }
    if let Some(view) = &report.places {
        memory::places(&mut page, view);
    }
    if let Some(view) = &report.memory {
        memory::write(&mut page, view);
    }
    if let Some(view) = &report.neighbours {
        neighbours::write(&mut page, view);
    }
    page.finish()
}
