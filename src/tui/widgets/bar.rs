//! Shares as a bar, alone or stacked. Parts differ by their fill as well as their colour, and nothing is rounded up:
//! a part too small for an eighth of a column is left to the number beside the bar.

use super::{Pen, put};
use crate::tui::theme::Glyphs;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// A share of the whole, 0 to 1, and how it looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// Its share; what is no number counts as nothing.
    pub share: f64,
    /// Its colour, as a text style.
    pub style: Style,
}

/// Draws the parts one after the other over the first row of the area, whose width is the whole.
pub fn stacked(parts: &[Part], pen: Pen<'_>, area: Rect, buf: &mut Buffer) {
    let area = area.intersection(buf.area);
    let ends = ends(parts, u32::from(area.width) * 8);
    let last = ends.last().copied().unwrap_or(0);
    for column in 0..u32::from(area.width) {
        let (from, to) = (column * 8, column * 8 + 8);
        let begins = |at: usize| if at == 0 { 0 } else { ends[at - 1] };
        let inside = |at: usize| ends[at].min(to).saturating_sub(begins(at).max(from));
        // Of equal parts the first.
        let Some(most) = (0..ends.len()).rev().max_by_key(|at| inside(*at)).filter(|at| inside(*at) > 0) else {
            return;
        };
        // Only the solid fill can end within a column, and only before nothing.
        let ends_here = most == 0 && last < to && last - from == inside(0);
        let symbol = match inside(most) {
            eighths @ 1..8 if ends_here => pen.glyphs.eighths[eighths as usize - 1],
            _ => pen.glyphs.fills[most % pen.glyphs.fills.len()],
        };
        put(buf, area, (area.x + column as u16, area.y), symbol, parts[most].style);
    }
}

/// Where each part ends, in eighths of columns; the last never beyond the whole.
fn ends(parts: &[Part], whole: u32) -> Vec<u32> {
    let mut sum = 0.0;
    let end = |part: &Part| {
        sum += if part.share.is_finite() { part.share.max(0.0) } else { 0.0 };
        (sum.min(1.0) * f64::from(whole)).round() as u32
    };
    parts.iter().map(end).collect()
}

/// One share as text of so many columns, blank where it does not reach: for a column of a table.
#[must_use]
pub fn filled(share: f64, columns: usize, glyphs: &Glyphs) -> String {
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let eighths = (share * columns as f64 * 8.0).round() as usize;
    let (whole, rest) = (eighths / 8, eighths % 8);
    let mut bar = glyphs.full.repeat(whole);
    if rest > 0 {
        bar.push_str(glyphs.eighths[rest - 1]);
    }
    let blank = columns - whole - usize::from(rest > 0);
    bar + &" ".repeat(blank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::widgets::testing::drawn;
    use proptest::prelude::*;

    fn shown(shares: &[f64], width: u16, glyphs: &Glyphs) -> String {
        let parts: Vec<Part> = shares.iter().map(|share| Part { share: *share, style: Style::new() }).collect();
        drawn(width, 1, glyphs, |pen, area, buf| stacked(&parts, pen, area, buf))
    }

    #[test]
    fn parts_follow_each_other_with_a_fill_of_their_own() {
        for (shares, unicode, ascii) in [
            (&[1.0][..], "████████", "########"),
            (&[0.5, 0.25, 0.25], "████▓▓▒▒", "####==++"),
            (&[0.55], "████▍", "####"),
            (&[0.95, 0.04], "████████", "########"),
            (&[0.0, 1.0], "▓▓▓▓▓▓▓▓", "========"),
            (&[f64::NAN, -3.0, f64::INFINITY, 0.5], "░░░░", "----"),
            (&[0.9, 0.9], "███████▓", "#######="),
            (&[], "", ""),
        ] {
            assert_eq!(shown(shares, 8, &Glyphs::UNICODE), unicode, "{shares:?}");
            assert_eq!(shown(shares, 8, &Glyphs::ASCII), ascii, "{shares:?}");
        }
    }

    #[test]
    fn a_share_is_drawn_in_eighths_and_never_beyond_its_columns() {
        for (share, expected) in [
            (0.0, "    "),
            (0.03, "▏   "),
            (0.5, "██  "),
            (0.6, "██▍ "),
            (1.0, "████"),
            (7.0, "████"),
            (f64::NAN, "    "),
        ] {
            assert_eq!(filled(share, 4, &Glyphs::UNICODE), expected, "{share}");
        }
        assert_eq!(filled(0.5, 4, &Glyphs::ASCII), "##  ");
        assert_eq!(filled(0.5, 0, &Glyphs::UNICODE), "");
    }

    proptest! {
        #[test]
        fn it_can_be_drawn_at_any_size(
            shares in prop::collection::vec(prop::num::f64::ANY, 0..9),
            width in 0_u16..300,
        ) {
            shown(&shares, width, &Glyphs::UNICODE);
            prop_assert_eq!(filled(shares.first().copied().unwrap_or(0.3), usize::from(width), &Glyphs::ASCII).len(), usize::from(width));
        }
    }
}
