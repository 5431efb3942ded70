//! Layout of table and detail: side by side on wide screens, stacked on narrower ones, one at a time on small ones.
//! It depends on the size alone.

use super::state::State;
use crate::view::GroupBy;
use ratatui::layout::Rect;

/// From this width on, table and detail are side by side.
const SIDE_BY_SIDE: u16 = 120;
/// From this height on, they are stacked.
const ONE_ABOVE_OTHER: u16 = 16;
/// Lines of the detail above its list: the function, its shares, the sections.
const DETAIL_HEAD: u16 = 3;
/// From this height on, there is a line of hints below a list.
const HINTS: u16 = 7;

/// The areas of the screen; hidden parts are empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Areas {
    /// The table with its heading.
    pub table: Rect,
    /// The table's description and keys.
    pub footer: Rect,
    /// Between table and detail.
    pub rule: Rect,
    /// The whole detail.
    pub pane: Rect,
    /// The function of the detail, its shares, and the sections.
    pub head: Rect,
    /// The open section's list with its heading.
    pub lines: Rect,
    /// The detail's keys.
    pub hints: Rect,
}

impl Areas {
    pub fn of(area: Rect, state: &State) -> Areas {
        let side_by_side = area.width >= SIDE_BY_SIDE && state.by == GroupBy::Function;
        match (side_by_side, state.pane.focus && state.by == GroupBy::Function) {
            (true, _) => {
                let left = area.width * 11 / 20;
                let rule = Rect { x: area.x + left, width: 1, ..area };
                let pane = Rect { x: rule.x + 1, width: area.width - left - 1, ..area };
                Areas { rule, ..Areas::default() }.with_table(Rect { width: left, ..area }).with_pane(pane)
            }
            (false, false) => Areas::default().with_table(area),
            (false, true) if area.height < ONE_ABOVE_OTHER => Areas::default().with_pane(area),
            (false, true) => {
                let above = area.height * 2 / 5;
                let rule = Rect { y: area.y + above, height: 1, ..area };
                let pane = Rect { y: rule.y + 1, height: area.height - above - 1, ..area };
                Areas { rule, table: Rect { height: above, ..area }, ..Areas::default() }.with_pane(pane)
            }
        }
    }

    fn with_table(self, area: Rect) -> Areas {
        let footer = u16::from(area.height >= HINTS);
        let table = Rect { height: area.height - footer, ..area };
        Areas { table, footer: Rect { y: table.bottom(), height: footer, ..area }, ..self }
    }

    fn with_pane(self, area: Rect) -> Areas {
        let head = DETAIL_HEAD.min(area.height);
        let hints = u16::from(area.height >= HINTS);
        let lines = Rect { y: area.y + head, height: area.height - head - hints, ..area };
        Areas {
            pane: area,
            head: Rect { height: head, ..area },
            lines,
            hints: Rect { y: lines.bottom(), height: hints, ..area },
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_fill_the_screen_without_overlap_at_any_size() {
        let mut focused = State::default();
        focused.pane.focus = true;
        for (state, width, height) in [State::default(), focused]
            .iter()
            .flat_map(|state| [0, 1, 40, 119, 120, 300].map(|width| (state, width)))
            .flat_map(|(state, width)| [0, 1, 2, 5, 7, 15, 16, 45].map(|height| (state, width, height)))
        {
            let area = Rect::new(3, 4, width, height);
            let areas = Areas::of(area, state);
            let parts = [areas.table, areas.footer, areas.rule, areas.head, areas.lines, areas.hints];
            let filled: u32 = parts.iter().map(|part| part.area()).sum();
            assert_eq!(filled, area.area(), "{width}x{height}");
            assert!(parts.iter().all(|part| part.is_empty() || area.union(*part) == area), "{width}x{height}");
        }
    }
}
