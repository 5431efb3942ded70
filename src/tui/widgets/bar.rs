//! Bars of shares, single or stacked. Parts differ by fill and colour. Small parts are not rounded up: for a part below
//! an eighth of a column, read the number next to the bar.

use super::{WidgetContext, put};
use crate::tui::theme::Glyphs;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// A share of the whole, 0 to 1, and its style.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    /// The share; a value that is not finite counts as zero.
    pub share: f64,
    /// The colour, as a text style.
    pub style: Style,
}

/// Draws the parts one after another in the first row of the area; the area's width is the whole.
pub fn stacked(parts: &[Part], context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
    let area = area.intersection(buf.area);
    let ends = ends(parts, u32::from(area.width) * 8);
    let last = ends.last().copied().unwrap_or(0);
    for column in 0..u32::from(area.width) {
        let (from, to) = (column * 8, column * 8 + 8);
        let begins = |at: usize| if at == 0 { 0 } else { ends[at - 1] };
        let inside = |at: usize| ends[at].min(to).saturating_sub(begins(at).max(from));
        // Ties go to the first part.
        let Some(most) = (0..ends.len()).rev().max_by_key(|at| inside(*at)).filter(|at| inside(*at) > 0) else {
            return;
        };
        // Only the solid fill can end within a column, and only if nothing follows it.
        let ends_here = most == 0 && last < to && last - from == inside(0);
        let symbol = match inside(most) {
            eighths @ 1..8 if ends_here => context.glyphs.eighths[eighths as usize - 1],
            _ => context.glyphs.fills[most % context.glyphs.fills.len()],
        };
        put(buf, area, (area.x + column as u16, area.y), symbol, parts[most].style);
    }
}

/// The end of each part, in eighths of columns, at most `whole`.
fn ends(parts: &[Part], whole: u32) -> Vec<u32> {
    let mut sum = 0.0;
    let end = |part: &Part| {
        sum += if part.share.is_finite() { part.share.max(0.0) } else { 0.0 };
        (sum.min(1.0) * f64::from(whole)).round() as u32
    };
    parts.iter().map(end).collect()
}

/// One share as text of `columns` columns, padded with blanks, for a table column.
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
        drawn(width, 1, glyphs, |context, area, buf| stacked(&parts, context, area, buf))
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
