//! Draws why slow operations are slow.

use crate::tui::panel::PanelContext;
use crate::tui::widgets::{put, put_line};
use crate::view::fit::{end, width};
use crate::view::latency_history::LatencyView;
use crate::view::slow_operations::{CAPTIONS, SlowOperationsView, SlowView};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Causes that are shown.
const MOST: usize = 5;
/// Columns where each of the numbers ends, and where the place begins.
const ENDS: [u16; 3] = [30, 41, 52];
const PLACE: u16 = 54;

fn known(view: &LatencyView) -> Option<&SlowView> {
    match view.total.as_ref()?.slow.as_ref()? {
        SlowOperationsView::Known(slow) => Some(slow),
        SlowOperationsView::Missing { .. } => None,
    }
}

/// Rows of the table: an empty one, what is compared, the captions, the causes.
pub(super) fn height(view: &LatencyView) -> u16 {
    known(view).map_or(0, |slow| 3 + slow.causes.len().min(MOST) as u16)
}

/// Draws the table.
pub(super) fn draw(view: &LatencyView, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let Some(slow) = known(view) else { return };
    let room = usize::from(area.width.saturating_sub(2));
    let line = |at: u16| Rect { y: area.y + at, height: u16::from(at < area.height), ..area };
    let about = end(&format!("Slow operations: {}", slow.about()), room, cx.glyphs.ellipsis);
    put_line(buf, line(1), area.x + 1, &about, cx.theme.heading);
    let right = |text: &str, end: u16| area.x + end.saturating_sub(width(text) as u16);
    let captions = line(2);
    put(buf, captions, (area.x + 1, captions.y), CAPTIONS[0], cx.theme.dim);
    for (caption, end) in CAPTIONS[1..4].iter().zip(ENDS) {
        put(buf, captions, (right(caption, end), captions.y), caption, cx.theme.dim);
    }
    put(buf, captions, (area.x + PLACE, captions.y), CAPTIONS[4], cx.theme.dim);
    for (cause, at) in slow.causes.iter().take(MOST).zip(3..area.height) {
        let (row, cells) = (line(at), cause.cells());
        put(buf, row, (area.x + 1, row.y), &cells[0], cx.theme.text);
        for (cell, end) in cells[1..4].iter().zip(ENDS) {
            put(buf, row, (right(cell, end), row.y), cell, cx.theme.text);
        }
        let place = end(&cells[4], room.saturating_sub(usize::from(PLACE)), cx.glyphs.ellipsis);
        put(buf, row, (area.x + PLACE, row.y), &place, cx.theme.dim);
    }
}
