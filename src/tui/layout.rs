//! The layout of the terminal. It depends on the terminal's size alone, so drawing and mouse handling agree.

use ratatui::layout::Rect;

/// The minimum terminal size; a smaller terminal shows one line that reports this.
pub const LEAST: (u16, u16) = (40, 10);

/// The areas of the screen, from the top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Areas {
    /// The whole terminal.
    pub whole: Rect,
    /// The head line: target and data quality.
    pub head: Rect,
    /// The tabs.
    pub tabs: Rect,
    /// The line below them.
    pub rule: Rect,
    /// The open screen.
    pub body: Rect,
    /// The history.
    pub strip: Rect,
    /// The status line: selection, notice or typed text.
    pub status: Rect,
}

impl Areas {
    /// The areas of a terminal of that many columns and rows.
    #[must_use]
    pub fn of((width, height): (u16, u16)) -> Areas {
        let row = |y: u16, rows: u16| Rect::new(0, y.min(height), width, rows.min(height.saturating_sub(y)));
        let body = height.saturating_sub(5);
        Areas {
            whole: row(0, height),
            head: row(0, 1),
            tabs: row(1, 1),
            rule: row(2, 1),
            body: row(3, body),
            strip: row(3 + body, 1),
            status: row(4 + body, 1),
        }
    }

    /// The area of a screen without tabs and history strip: the picker.
    #[must_use]
    pub fn whole_body(&self) -> Rect {
        Rect::new(0, 1, self.whole.width, self.whole.height.saturating_sub(2)).intersection(self.whole)
    }

    /// Whether the terminal is large enough for a session.
    #[must_use]
    pub fn fits((width, height): (u16, u16)) -> bool {
        width >= LEAST.0 && height >= LEAST.1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_fill_the_terminal_without_overlap_at_any_size() {
        for size in [(0, 0), (1, 1), (40, 10), (80, 24), (300, 100), (65535, 3)] {
            let areas = Areas::of(size);
            let parts = [areas.head, areas.tabs, areas.rule, areas.body, areas.strip, areas.status];
            assert!(parts.iter().all(|part| areas.whole.intersection(*part).area() == part.area()), "{size:?}");
            assert!(parts.windows(2).all(|pair| pair[0].intersection(pair[1]).area() == 0), "{size:?}");
            if Areas::fits(size) {
                assert_eq!(parts.iter().map(|part| u32::from(part.height)).sum::<u32>(), u32::from(size.1));
            }
        }
    }
}
