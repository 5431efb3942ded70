//! Pieces that screens are drawn with. A piece knows nothing of profiles, and stays within the area it is given.

pub mod bar;
pub mod chart;
pub mod interval;
pub mod names;
pub mod sparkline;
pub mod table;
pub mod text;

use super::theme::{Glyphs, Theme};
use crate::view::escape::visible;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// What a piece is drawn with.
#[derive(Debug, Clone, Copy)]
pub struct Pen<'a> {
    /// How things look.
    pub theme: &'a Theme,
    /// The characters to draw with.
    pub glyphs: &'a Glyphs,
}

/// Writes a text from a place on, as far as the area and the buffer go; gives the column after it.
pub fn put(buf: &mut Buffer, area: Rect, (x, y): (u16, u16), text: &str, style: Style) -> u16 {
    let area = area.intersection(buf.area);
    if x < area.left() || x >= area.right() || y < area.top() || y >= area.bottom() {
        return x;
    }
    buf.set_stringn(x, y, visible(text), usize::from(area.right() - x), style).0
}

/// A buffer to draw on and its text, for tests.
#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use crate::tui::theme::{Depth, Name};

    /// What `draw` makes of an empty buffer, a line per row.
    pub fn drawn(width: u16, height: u16, glyphs: &Glyphs, draw: impl FnOnce(Pen<'_>, Rect, &mut Buffer)) -> String {
        let area = Rect::new(0, 0, width, height);
        let mut buf = Buffer::empty(area);
        let theme = Theme::new(Name::Dark, Depth::True);
        draw(Pen { theme: &theme, glyphs }, area, &mut buf);
        crate::tui::testing::text(&buf)
    }

    /// Names that would break a screen that trusts them.
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
            let text = drawn(12, 3, &Glyphs::UNICODE, |pen, area, buf| {
                let inner = Rect::new(2, 1, 6, 1);
                put(buf, inner, (2, 1), name, pen.theme.text);
                for (x, y) in [(0, 0), (11, 2), (8, 1), (1, 1)] {
                    assert_eq!(put(buf, inner, (x, y), "outside", pen.theme.text), x);
                }
                for place in area.positions().filter(|place| !inner.contains(*place)) {
                    assert_eq!(buf[place].symbol(), " ", "{name:?} at {place}");
                }
            });
            assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{name:?}");
        }
    }
}
