//! One line per quantity: current and usual value, and a small drawing of the current value in its band.
//! A mark in addition to the colour shows values outside their band.

use crate::tui::panel::PanelContext;
use crate::view::baseline::QuantityDeviation;
use crate::view::fit::{end, width};
use crate::view::number::three_digits;
use ratatui::text::{Line, Span};

/// Columns of the drawing, and the number of them that the band takes in the middle.
const DRAWING: usize = 15;
const BAND: usize = 9;
/// Minimum width of a label.
const LABEL: usize = 14;

/// The column widths of each line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ColumnWidths {
    label: usize,
    now: usize,
    expected: usize,
    change: usize,
    drawing: bool,
    deviations: bool,
}

impl ColumnWidths {
    pub fn of(rows: &[&QuantityDeviation], room: usize) -> ColumnWidths {
        let widest = |of: &dyn Fn(&QuantityDeviation) -> String, least: usize| {
            rows.iter().map(|row| width(&of(row))).max().unwrap_or(0).max(least)
        };
        let now = widest(&|row| row.format(row.now), 3);
        let expected = widest(&|row| row.format(row.expected), 5);
        let change = widest(&QuantityDeviation::change, 6);
        let label = widest(&|row| row.quantity.label.to_string(), LABEL);
        let numbers = 2 + now + expected + change + 6;
        let left = room.saturating_sub(numbers);
        let drawing = left >= LABEL + DRAWING + 2;
        let deviations = left >= label.min(30) + DRAWING + 2 + 15;
        let used = if drawing { DRAWING + 2 } else { 0 } + if deviations { 15 } else { 0 };
        let label = label.min(left.saturating_sub(used).max(8));
        ColumnWidths { label, now, expected, change, drawing, deviations }
    }
}

pub(super) fn heading(shape: &ColumnWidths, cx: &PanelContext<'_>) -> Line<'static> {
    let ColumnWidths { label, now, expected, change, drawing, deviations } = *shape;
    let mut text = format!("  {:<label$}  {:>now$}  {:>expected$}  {:>change$}", "quantity", "now", "usual", "change");
    if drawing {
        text += &format!("  {:^DRAWING$}", "low usual high");
    }
    if deviations {
        text += &format!("  {:>13}", "away, outside");
    }
    Line::styled(text, cx.theme.heading)
}

pub(super) fn line(
    row: &QuantityDeviation,
    primary: bool,
    shape: &ColumnWidths,
    cx: &PanelContext<'_>,
) -> Line<'static> {
    let ColumnWidths { label, now, expected, change, drawing, deviations } = *shape;
    let style = match (row.moved, primary) {
        (true, _) => cx.theme.accent2,
        (false, true) => cx.theme.heading,
        (false, false) => cx.theme.text,
    };
    let mark = if row.moved { "! " } else { "  " };
    let name = end(row.quantity.label, label, cx.glyphs.ellipsis);
    let pad = " ".repeat(label.saturating_sub(width(&name)));
    let mut spans = vec![
        Span::styled(format!("{mark}{name}{pad}"), style),
        Span::styled(format!("  {}", aligned(&row.format(row.now), now)), style),
        Span::styled(format!("  {}", aligned(&row.format(row.expected), expected)), cx.theme.dim),
        Span::styled(format!("  {}", aligned(&row.change(), change)), style),
    ];
    if drawing {
        spans.push(Span::raw("  "));
        spans.extend(band(row, cx));
    }
    if deviations {
        let away = format!("{}{}", if row.deviations > 0.0 { "+" } else { "" }, three_digits(row.deviations));
        spans.push(Span::styled(format!("  {away:>7} {:>5}", format!("{}x", row.windows_outside)), cx.theme.dim));
    }
    Line::from(spans)
}

fn aligned(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The band as a line with its middle marked, and the current value on it: `o` inside, `!` outside, an arrow beyond the
/// range of the drawing.
fn band(row: &QuantityDeviation, cx: &PanelContext<'_>) -> Vec<Span<'static>> {
    let first = (DRAWING - BAND) / 2;
    let at = place(row);
    let inside = row.band.0 <= row.now && row.now <= row.band.1;
    (0..DRAWING)
        .map(|column| match column {
            column if Some(column) == at => {
                let glyph = match (inside, column) {
                    (true, _) => "o",
                    (false, 0) => cx.glyphs.left,
                    (false, last) if last == DRAWING - 1 => cx.glyphs.right,
                    (false, _) => "!",
                };
                Span::styled(glyph, if inside { cx.theme.good } else { cx.theme.bad })
            }
            column if column == DRAWING / 2 => Span::styled(cx.glyphs.bar, cx.theme.dim),
            column if (first..first + BAND).contains(&column) => Span::styled(cx.glyphs.rule, cx.theme.dim),
            _ => Span::raw(" "),
        })
        .collect()
}

/// The column of the current value; `None` without a band.
fn place(row: &QuantityDeviation) -> Option<usize> {
    let half = (row.band.1 - row.band.0) / 2.0;
    let away = (row.now - row.expected) / half;
    if !away.is_finite() {
        return None;
    }
    let column = DRAWING as f64 / 2.0 - 0.5 + away * (BAND as f64 / 2.0 - 0.5);
    let column = column.round().clamp(0.0, (DRAWING - 1) as f64) as usize;
    let (first, last) = ((DRAWING - BAND) / 2, (DRAWING + BAND) / 2 - 1);
    // Rounding must not move a value from outside the band onto it.
    Some(match column {
        column if row.now > row.band.1 => column.max(last + 1),
        column if row.now < row.band.0 => column.min(first - 1),
        column => column.clamp(first, last),
    })
}
