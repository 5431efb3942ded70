//! The table of latencies.

use super::page::{Ink, Page};
use crate::export::columns;
use crate::view::latency::{CAPTIONS, LatencyRow, OperationLatencyView};
use crate::view::slow_operations::{CAPTIONS as CAUSES, SlowOperationsView};

/// The quantiles of the latency of operations, and how it varies, by label and text.
pub(super) fn write(page: &mut Page, view: &OperationLatencyView, variation: &[(&str, String)]) {
    page.heading("Latency", &view.about());
    if let Some(why) = view.nothing() {
        page.line(&format!("  - {why}"));
        return;
    }
    page.table(&CAPTIONS, &view.rows.iter().map(|row| LatencyRow::cells(row).to_vec()).collect::<Vec<_>>());
    for remark in view.remarks() {
        page.paragraph("  ", &remark, Some(Ink::Quiet));
    }
    for (label, text) in variation {
        page.paragraph("  - ", &format!("{label}: {text}"), None);
    }
    if let Some(slow) = &view.slow {
        slow_operations(page, slow);
    }
}

/// Why slow operations are slow.
fn slow_operations(page: &mut Page, view: &SlowOperationsView) {
    match view {
        SlowOperationsView::Known(slow) => {
            page.heading("Slow operations", &slow.about());
            page.captions(&slow_row(&CAUSES));
            for cause in &slow.causes {
                let cells = cause.cells();
                let lead = slow_row(&[&cells[0], &cells[1], &cells[2], &cells[3], ""]);
                let room = page.room_after(columns::width(&lead));
                page.line(&format!("{lead}{}", columns::chain(&cause.shown_places(), cause.joint(), room)));
            }
            slow.remarks().iter().for_each(|remark| page.paragraph("  ", remark, Some(Ink::Quiet)));
        }
        SlowOperationsView::Missing { missing } => {
            page.paragraph("  ", &format!("why slow operations are slow: {missing}"), Some(Ink::Quiet));
        }
    }
}

fn slow_row([cause, share, slow, others, place]: &[&str; 5]) -> String {
    let [share, slow, others] = [share, slow, others].map(|text| columns::right(text, 9));
    format!("  {}{share}  {slow}  {others}  {place}", columns::left(cause, 20))
}
