//! Layout of the screen, and drawing of its rows. The selected row is always visible.

use super::rows::Row;
use super::words::Key;
use crate::tui::panel::PanelContext;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

/// From this width on, the explanation is next to the deviations.
const SIDE_BY_SIDE: u16 = 130;
const GAP: u16 = 3;

/// The areas of the screen; a narrow screen uses only the left one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Areas {
    pub left: Rect,
    pub right: Rect,
}

impl Areas {
    pub fn of(area: Rect) -> Areas {
        let margin = u16::from(area.width > 50);
        let area = Rect { x: area.x + margin, width: area.width - margin, ..area };
        if area.width < SIDE_BY_SIDE {
            return Areas { left: area, right: Rect::default() };
        }
        let left = area.width * 11 / 20;
        let right = Rect { x: area.x + left + GAP, width: area.width - left - GAP, ..area };
        Areas { left: Rect { width: left, ..area }, right }
    }

    pub fn is_split(&self) -> bool {
        !self.right.is_empty()
    }
}

/// The first visible row: 0, until the selected row would be below the end.
pub(super) fn top(rows: &[Row], selected: Option<&Key>, height: u16) -> usize {
    let last = rows.iter().rposition(|row| row.key.is_some() && row.key.as_ref() == selected).unwrap_or(0);
    let height = usize::from(height);
    // Selecting the last selectable row scrolls to the end of the rows below it.
    let end = if rows.iter().skip(last + 1).all(|row| row.key.is_none()) && last > 0 { rows.len() } else { last + 1 };
    let top = end.saturating_sub(height);
    let first = rows.iter().position(|row| row.key.is_some() && row.key.as_ref() == selected).unwrap_or(0);
    top.min(first)
}

/// Draws rows into their area.
pub(super) fn rows(
    rows: &[Row],
    top: usize,
    selected: Option<&Key>,
    cx: &PanelContext<'_>,
    area: Rect,
    buf: &mut Buffer,
) {
    let shown = rows.iter().skip(top).take(usize::from(area.height));
    for (at, row) in shown.enumerate() {
        put(buf, area, at as u16, &row.line);
        if row.key.is_some() && row.key.as_ref() == selected {
            let place = Rect { y: area.y.saturating_add(at as u16), height: 1, ..area };
            buf.set_style(place.intersection(buf.area), cx.theme.selected);
        }
    }
    if rows.len() > top + usize::from(area.height) && area.height > 0 {
        let corner = Rect { x: area.right().saturating_sub(1), width: 1, ..area };
        put(buf, corner, area.height - 1, &Line::styled(cx.glyphs.down, cx.theme.dim));
    }
}

/// Draws lines from the top.
pub(super) fn lines(lines: &[Line<'static>], area: Rect, buf: &mut Buffer) {
    for (at, line) in lines.iter().take(usize::from(area.height)).enumerate() {
        put(buf, area, at as u16, line);
    }
}

fn put(buf: &mut Buffer, area: Rect, row: u16, line: &Line<'_>) {
    let at = Rect { y: area.y.saturating_add(row), height: 1, ..area }.intersection(area).intersection(buf.area);
    if at.area() > 0 {
        buf.set_line(at.x, at.y, line, at.width);
    }
}
