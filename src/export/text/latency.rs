//! The table of latencies.

use super::page::{Ink, Page};
use crate::view::latency::{CAPTIONS, INDEPENDENT, LatencyRow, OperationLatencyView};

/// The quantiles of the latency of operations.
pub(super) fn write(page: &mut Page, view: &OperationLatencyView) {
    page.heading("Latency", &view.about());
    if view.count == 0 {
        page.line("  - none ended in the selected time");
        return;
    }
    page.table(&CAPTIONS, &view.rows.iter().map(|row| LatencyRow::cells(row).to_vec()).collect::<Vec<_>>());
    if view.independent {
        page.paragraph("  ", INDEPENDENT, Some(Ink::Quiet));
    }
}
