//! Drawing widgets. They know nothing of profiles and draw only within the given area.

pub(crate) mod bar;
pub(crate) mod chart;
pub(crate) mod interval;
pub(crate) mod sparkline;
pub(crate) mod table;

use super::theme::{Glyphs, Theme};
use crate::view::escape::visible;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// The styles and characters of a widget.
#[derive(Debug, Clone, Copy)]
pub struct WidgetContext<'a> {
    /// The styles.
    pub theme: &'a Theme,
    /// The characters to draw with.
    pub glyphs: &'a Glyphs,
}

/// Writes a text at a position, clipped to area and buffer; returns the column after it.
pub fn put(buf: &mut Buffer, area: Rect, (x, y): (u16, u16), text: &str, style: Style) -> u16 {
    let area = area.intersection(buf.area);
    if x < area.left() || x >= area.right() || y < area.top() || y >= area.bottom() {
        return x;
    }
    buf.set_stringn(x, y, visible(text), usize::from(area.right() - x), style).0
}

/// Writes a text on the first line of an area; returns the column after it.
pub fn put_line(buf: &mut Buffer, area: Rect, x: u16, text: &str, style: Style) -> u16 {
    if area.height == 0 || x >= area.right() {
        return x;
    }
    // Text that ends at the right may be wider than the area.
    let x = x.max(area.left());
    let room = usize::from(area.right() - x);
    buf.set_stringn(x, area.y, text, room, style).0
}

/// Draws a rule over the width of an area.
pub fn rule(context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
    for x in area.left()..area.right() {
        put_line(buf, area, x, context.glyphs.rule, context.theme.dim);
    }
}

/// Helpers for tests: a buffer to draw on, and its text.
#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use crate::tui::theme::{ColourDepth, ThemeName};

    /// Runs `draw` on an empty buffer and returns its text, one line per row.
    pub fn drawn(
        width: u16,
        height: u16,
        glyphs: &Glyphs,
        draw: impl FnOnce(WidgetContext<'_>, Rect, &mut Buffer),
    ) -> String {
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        let theme = Theme::new(ThemeName::Dark, ColourDepth::True);
        draw(WidgetContext { theme: &theme, glyphs }, area, &mut buf);
        crate::tui::testing::text(&buf)
    }

    /// Names that break a screen without escaping.
    pub const HOSTILE: [&str; 8] = [
        "\x1b[2J\x1b]0;gone\x07",
        "tab\tand\nline",
        "日本語の関数名",
        "e\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}",
        "\u{202e}gnp.exe",
        "שלום 123",
        "👩🏽‍💻 coder",
        "",
    ];
}

#[cfg(test)]
mod tests {
    use super::testing::{HOSTILE, drawn};
    use super::*;

    #[test]
    fn a_text_stays_within_its_area_whatever_it_holds() {
        for name in HOSTILE {
            let text = drawn(12, 3, &Glyphs::UNICODE, |context, area, buf| {
                let inner = Rect::new(2, 1, 6, 1);
                put(buf, inner, (2, 1), name, context.theme.text);
                for (x, y) in [(0, 0), (11, 2), (8, 1), (1, 1)] {
                    assert_eq!(put(buf, inner, (x, y), "outside", context.theme.text), x);
                }
                for place in area.positions().filter(|place| !inner.contains(*place)) {
                    assert_eq!(buf[place].symbol(), " ", "{name:?} at {place}");
                }
            });
            assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{name:?}");
        }
    }
}
