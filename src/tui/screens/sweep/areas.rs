//! Layout of the screen: all parts if there is room, else some, with the others a key away.
//! It depends on the terminal's size and the number of points only.

use ratatui::layout::Rect;

/// The part that keys move through, and the visible one if not all fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Page {
    /// The table, one row per point.
    #[default]
    Points,
    /// Throughput against width.
    Chart,
    /// Where the cores went.
    Stack,
    /// The functions, by their losses.
    Functions,
}

impl Page {
    pub fn title(self) -> &'static str {
        match self {
            Page::Points => "Points",
            Page::Chart => "Throughput",
            Page::Stack => "Cores",
            Page::Functions => "Functions",
        }
    }
}

/// From this size on, table and functions are both visible.
const ALL: (u16, u16) = (110, 34);
/// From this width on, chart and stack are side by side.
const SIDE_BY_SIDE: u16 = 76;
/// From this height on, something is below them.
const ABOVE_AND_BELOW: u16 = 15;

/// The areas of the screen; hidden parts are empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Areas {
    pub chart: Rect,
    pub stack: Rect,
    /// The page names and the total loss of the functions.
    pub tabs: Rect,
    pub points: Rect,
    /// The line above the functions, if they are below the points.
    pub rule: Rect,
    pub losses: Rect,
    /// The pages that the left and right keys cycle through.
    pub pages: &'static [Page],
}

impl Areas {
    pub fn of(area: Rect, page: Page, points: usize) -> Areas {
        let wide = area.width >= SIDE_BY_SIDE;
        if area.height < ABOVE_AND_BELOW {
            return Areas::one(area, page);
        }
        let all = area.width >= ALL.0 && area.height >= ALL.1;
        let above = if all { area.height * 2 / 5 } else { area.height * 11 / 20 };
        let figures = Rect { height: above, ..area };
        let below = Rect { y: area.y + above, height: area.height - above, ..area };
        let areas = if wide { Areas::side_by_side(figures) } else { Areas::either(figures, page) };
        if all { areas.all_below(below, points) } else { areas.one_below(below, page) }
    }

    /// A single part with the names of all pages.
    fn one(area: Rect, page: Page) -> Areas {
        let tabs = u16::from(area.height > 2);
        let rest = Rect { y: area.y + tabs, height: area.height - tabs, ..area };
        let pages = &[Page::Points, Page::Chart, Page::Stack, Page::Functions];
        let areas = Areas { tabs: Rect { height: tabs, ..area }, pages, ..Areas::default() };
        match page {
            Page::Points => Areas { points: rest, ..areas },
            Page::Chart => Areas { chart: rest, ..areas },
            Page::Stack => Areas { stack: rest, ..areas },
            Page::Functions => Areas { losses: rest, ..areas },
        }
    }

    fn side_by_side(area: Rect) -> Areas {
        let chart = Rect { width: area.width / 2, ..area };
        let stack = Rect { x: area.x + chart.width, width: area.width - chart.width, ..area };
        Areas { chart, stack, pages: &[Page::Points, Page::Functions], ..Areas::default() }
    }

    fn either(area: Rect, page: Page) -> Areas {
        let pages = &[Page::Points, Page::Stack, Page::Functions];
        match page {
            Page::Stack => Areas { stack: area, pages, ..Areas::default() },
            _ => Areas { chart: area, pages, ..Areas::default() },
        }
    }

    fn one_below(self, area: Rect, page: Page) -> Areas {
        let rest = Rect { y: area.y + 1, height: area.height - 1, ..area };
        let areas = Areas { tabs: Rect { height: 1, ..area }, ..self };
        if page == Page::Functions { Areas { losses: rest, ..areas } } else { Areas { points: rest, ..areas } }
    }

    fn all_below(self, area: Rect, points: usize) -> Areas {
        // Names, heading, rows, and a few lines for the law and the missing values.
        let wanted = u16::try_from(points).unwrap_or(u16::MAX).saturating_add(6);
        let table = wanted.min(area.height / 2);
        let points = Rect { y: area.y + 1, height: table - 1, ..area };
        let rule = Rect { y: points.bottom(), height: 1, ..area };
        let losses = Rect { y: rule.bottom(), height: area.height - table - 1, ..area };
        Areas { tabs: Rect { height: 1, ..area }, points, rule, losses, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_fill_the_screen_without_overlap_at_any_size() {
        for page in [Page::Points, Page::Chart, Page::Stack, Page::Functions] {
            for (width, height, points) in [0, 1, 40, 75, 76, 110, 300].into_iter().flat_map(|width| {
                [0, 1, 2, 5, 14, 15, 19, 34, 45, 95]
                    .into_iter()
                    .flat_map(move |height| [0, 7, 99].map(|points| (width, height, points)))
            }) {
                let area = Rect::new(3, 4, width, height);
                let areas = Areas::of(area, page, points);
                let parts = [areas.chart, areas.stack, areas.tabs, areas.points, areas.rule, areas.losses];
                let filled: u32 = parts.iter().map(|part| part.area()).sum();
                assert_eq!(filled, area.area(), "{page:?} {width}x{height}");
                assert!(
                    parts.iter().all(|part| part.is_empty() || area.union(*part) == area),
                    "{page:?} {width}x{height}"
                );
            }
        }
    }
}
