//! Puts a page on the screen.
//! It never decides where anything stands.

use super::page::{Drawn, Item, Page, Piece};
use super::split::mark;
use super::words;
use crate::tui::panel::Cx;
use crate::view::overview::{Factor, Overview};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Before anything is known.
pub(super) fn waiting(cx: &Cx<'_>, area: Rect, buf: &mut Buffer) {
    if area.height > 0 {
        buf.set_stringn(area.x, area.y, " waiting for the first window", usize::from(area.width), cx.theme.dim);
    }
}

/// Draws the page, what is selected set off.
pub(super) fn draw(page: &Page, view: &Overview, selected: Option<&Item>, cx: &Cx<'_>, buf: &mut Buffer) {
    for piece in &page.pieces {
        let at = piece.at.intersection(buf.area);
        if at.area() > 0 {
            draw_piece(piece, at, view, cx, buf);
            if piece.item.is_some() && piece.item.as_ref() == selected {
                buf.set_style(at, cx.theme.selected);
            }
        }
    }
}

fn draw_piece(piece: &Piece, at: Rect, view: &Overview, cx: &Cx<'_>, buf: &mut Buffer) {
    match &piece.drawn {
        Drawn::Text(line) => _ = buf.set_line(at.x, at.y, line, at.width),
        Drawn::Rule => {
            for x in at.left()..at.right() {
                buf.set_stringn(x, at.y, cx.glyphs.rule, 1, cx.theme.dim);
            }
        }
        Drawn::Bar => bar(view, at, cx, buf),
        Drawn::Curve(name) => {
            if let Some(factor) = view.factor(name) {
                curve(factor, at, cx, buf);
            }
        }
        Drawn::Chart(name) => {
            if let Some(factor) = view.factor(name) {
                chart(factor, view, at, cx, buf);
            }
        }
    }
}

/// The parts one after the other; a part that is there has a cell at the least.
fn bar(view: &Overview, at: Rect, cx: &Cx<'_>, buf: &mut Buffer) {
    let parts = &view.split.parts;
    if let Some(why) = parts.iter().find_map(|part| part.value.why()) {
        buf.set_stringn(at.x, at.y, format!("{} {}", words::DASH, why.text()), usize::from(at.width), cx.theme.missing);
        return;
    }
    let known = parts.iter().map(|part| part.value.value().copied().unwrap_or(0.0));
    let widths = cells(&known.collect::<Vec<_>>(), at.width);
    let mut x = at.x;
    for (part, width) in parts.iter().zip(widths) {
        let (symbol, style) = mark(part.name, cx);
        for _ in 0..width {
            buf.set_stringn(x, at.y, symbol, 1, style);
            x += 1;
        }
    }
}

/// So many cells for each share: in all as many as there are, at least one for what is more than nothing where possible.
fn cells(shares: &[f64], width: u16) -> Vec<u16> {
    let total: f64 = shares.iter().map(|share| share.max(0.0)).sum();
    if total <= 0.0 {
        return vec![0; shares.len()];
    }
    let mut cells: Vec<u16> = Vec::with_capacity(shares.len());
    let mut left = width;
    let mut so_far = 0.0;
    for share in shares {
        so_far += share.max(0.0);
        let end = (so_far / total * f64::from(width)).round() as u16;
        let wanted = end.saturating_sub(width - left).max(u16::from(*share > 0.0));
        cells.push(wanted.min(left));
        left -= wanted.min(left);
    }
    cells
}

fn curve(factor: &Factor, at: Rect, cx: &Cx<'_>, buf: &mut Buffer) {
    let _ = (factor, at, cx, buf);
}
fn chart(factor: &Factor, view: &Overview, at: Rect, cx: &Cx<'_>, buf: &mut Buffer) {
    let _ = (factor, view, at, cx, buf);
}
