//! Layout of the screen, for drawing and keys: table and distribution above, heat map and quantiles over time below.
//! Rows that more than the bands need are left to the table of slow operations at the bottom.

use super::slow;
use crate::view::latency_history::{Band, LatencyView, QUANTILES};
use ratatui::layout::Rect;
use std::ops::Range;

/// Rows of the table: captions, five quantiles, the longest.
const TABLE: u16 = 7;
/// Columns of the table.
const TABLE_COLUMNS: u16 = 44;
/// Fewer columns show no distribution.
const NARROWEST: u16 = 16;
/// Columns left of the heat map: `p99.9 10.2 ms`.
pub(super) const GUTTER: u16 = 15;
/// Fewer rows show no heat map.
const LOWEST: u16 = 3;
/// Columns right of the quantiles over time for the heading that has no row of its own.
const BESIDE: u16 = 12;
/// Widest column of one window.
const WIDEST: u16 = 8;

/// The areas of the screen; what has no room is empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Areas {
    pub head: Rect,
    pub table: Rect,
    pub distribution: Rect,
    /// The heading of what is shown over time.
    pub over_time: Rect,
    /// The heat map, with its labels at the left.
    pub heat: Rect,
    /// The time axis below it.
    pub times: Rect,
    /// The quantiles over time, one row each.
    pub quantiles: Rect,
    /// Why slow operations are slow.
    pub slow: Rect,
}

impl Areas {
    /// `bands`: how many the heat map could show; `slow`: rows of the table of slow operations.
    pub fn of(area: Rect, bands: u16, quantiles: u16, slow: u16) -> Areas {
        let mut rows = area;
        let mut take = |height: u16| {
            let taken = Rect { height: height.min(rows.height), ..rows };
            rows = Rect { y: rows.y + taken.height, height: rows.height - taken.height, ..rows };
            taken
        };
        let head = take(1);
        let above = take(TABLE);
        let table = Rect { width: TABLE_COLUMNS.min(above.width), ..above };
        let right = above.width - table.width;
        let distribution = if right >= NARROWEST {
            Rect { x: table.right() + 1, width: right - 2, ..above }
        } else {
            Rect { width: 0, ..above }
        };
        let areas = Areas { head, table, distribution, ..Areas::default() };
        let left = area.height - head.height - above.height;
        // Heading and time axis; the quantiles go before the heat map is lower than it is worth.
        let room = left.saturating_sub(2 + quantiles);
        let heat = room.min(bands).min(room.saturating_sub(slow).max(LOWEST));
        if heat < LOWEST.min(bands) || left < 2 + quantiles {
            let over_time = take(u16::from(left > quantiles));
            return Areas { over_time, quantiles: take(quantiles), ..areas };
        }
        let (over_time, heat, times, quantiles) = (take(1), take(heat), take(1), take(quantiles));
        Areas { over_time, heat, times, quantiles, slow: take(slow), ..areas }
    }
}

/// How bands are put together so that they fit: groups of neighbours. Their edges do not depend on what is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Groups {
    base: u16,
    pub each: u16,
    pub count: u16,
}

impl Groups {
    pub fn of(bands: Range<u16>, most: u16) -> Groups {
        let most = most.max(1);
        let count = |each: u16| (bands.end.max(bands.start + 1) - bands.start / each * each).div_ceil(each);
        let each = (1..=bands.end.max(1)).find(|each| count(*each) <= most).unwrap_or(bands.end.max(1));
        Groups { base: bands.start / each * each, each, count: count(each) }
    }

    /// The group that a band belongs to; `None` outside of all.
    pub fn group(&self, band: Band) -> Option<u16> {
        let group = band.0.checked_sub(self.base)? / self.each;
        (group < self.count).then_some(group)
    }

    /// The bands of a group.
    pub fn bands(&self, group: u16) -> Range<u16> {
        let start = self.base + group * self.each;
        start..start + self.each
    }

    /// The sum of a group's values; `values` begin at the band `first`.
    pub fn sum(&self, group: u16, first: u16, values: &[f64]) -> f64 {
        let bands = self.bands(group);
        let index = |band: u16| usize::from(band.saturating_sub(first)).min(values.len());
        values[index(bands.start)..index(bands.end)].iter().sum()
    }
}

/// The columns of the heat map on the screen: each shows a run of the view's columns, and is that many cells wide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cells {
    count: usize,
    pub runs: usize,
    pub wide: u16,
}

impl Cells {
    pub fn of(columns: usize, room: u16) -> Cells {
        let runs = columns.min(usize::from(room));
        let wide = if runs == 0 { 1 } else { (room / runs as u16).clamp(1, WIDEST) };
        Cells { count: columns, runs, wide }
    }

    /// The view's columns in a run.
    pub fn run(&self, at: usize) -> Range<usize> {
        at * self.count / self.runs.max(1)..(at + 1) * self.count / self.runs.max(1)
    }

    /// The run that shows a column of the view.
    pub fn of_column(&self, column: usize) -> Option<usize> {
        (0..self.runs).find(|at| self.run(*at).contains(&column))
    }

    /// Columns of the terminal.
    pub fn width(&self) -> u16 {
        self.runs as u16 * self.wide
    }
}

/// The layout of a view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub areas: Areas,
    /// The rows of the heat map, from the bottom.
    pub rows: Groups,
    pub cells: Cells,
}

impl Layout {
    pub fn of(view: &LatencyView, area: Rect) -> Layout {
        let bands = bands(view);
        let (quantiles, slow) = (QUANTILES.len() as u16, slow::height(view));
        let most = Areas::of(area, bands.end - bands.start, quantiles, slow).heat.height;
        // Groups of bands seldom fill the room exactly: what is below the map moves up.
        let rows = Groups::of(bands, most);
        let areas = Areas::of(area, rows.count.min(most), quantiles, slow);
        let beside = if areas.over_time.is_empty() { BESIDE } else { 0 };
        let cells = Cells::of(view.columns.len(), area.width.saturating_sub(GUTTER + 1 + beside));
        Layout { areas, rows, cells }
    }
}

/// The bands of a view.
pub(super) fn bands(view: &LatencyView) -> Range<u16> {
    let first = view.bands.first().map_or(0, |band| band.band.0);
    first..first + view.bands.len() as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_usual_terminal_has_all_parts_and_a_low_one_the_most_important() {
        let of = |width, height, slow| Areas::of(Rect::new(0, 3, width, height), 100, 3, slow);
        let usual = of(80, 19, 0);
        assert_eq!((usual.heat.height, usual.quantiles.height, usual.times.y), (6, 3, 3 + 15));
        assert!(usual.distribution.width > 30 && usual.slow.is_empty());
        let low = of(80, 11, 0);
        assert_eq!((low.table.height, low.quantiles.height, low.heat.height), (7, 3, 0));
        let slow = of(120, 35, 9);
        assert_eq!((slow.slow.height, slow.heat.height), (9, 13), "the heat map leaves room to the table below it");
        assert!(of(50, 19, 0).distribution.is_empty());
    }

    #[test]
    fn neighbouring_bands_are_put_together_at_edges_that_stay() {
        let groups = Groups::of(83..120, 10);
        assert_eq!((groups.each, groups.count, groups.bands(0)), (4, 10, 80..84));
        assert_eq!((groups.group(Band(82)), groups.group(Band(84)), groups.group(Band(79))), (Some(0), Some(1), None));
        let sum = groups.sum(0, 83, &[5.0, 7.0, 1.0]);
        assert_eq!((sum, groups.sum(1, 83, &[5.0, 7.0, 1.0]), groups.sum(9, 83, &[5.0])), (5.0, 8.0, 0.0));
        assert_eq!(Groups::of(83..121, 10).bands(0), 80..85, "coarser where they do not fit");
    }

    #[test]
    fn few_columns_are_wide_and_many_are_put_together() {
        assert_eq!((Cells::of(10, 64).wide, Cells::of(10, 64).width()), (6, 60));
        let many = Cells::of(240, 64);
        assert_eq!((many.runs, many.wide, many.run(0), many.run(63).end), (64, 1, 0..3, 240));
        assert_eq!(many.of_column(239), Some(63));
        assert_eq!((Cells::of(0, 64).runs, Cells::of(5, 0).runs), (0, 0));
    }

    proptest! {
        #[test]
        fn the_parts_do_not_overlap_at_any_size((width, height) in (0_u16..300, 0_u16..100), bands in 0_u16..513, slow in 0_u16..20) {
            let area = Rect::new(2, 3, width, height);
            let areas = Areas::of(area, bands, 3, slow);
            let Areas { head, table, distribution, over_time, heat, times, quantiles, slow } = areas;
            let parts = [head, table, distribution, over_time, heat, times, quantiles, slow];
            for (at, part) in parts.iter().enumerate() {
                prop_assert!(part.is_empty() || area.union(*part) == area, "{areas:?}");
                prop_assert!(parts[at + 1..].iter().all(|other| part.intersection(*other).is_empty()), "{areas:?}");
            }
        }

        #[test]
        fn every_band_and_every_column_is_shown_once(first in 0_u16..505, length in 0_u16..200, most in 0_u16..60, columns in 0_usize..241) {
            let groups = Groups::of(first..first + length, most);
            prop_assert!(groups.count <= most.max(1));
            for band in first..first + length {
                let group = groups.group(Band(band));
                prop_assert!(group.is_some_and(|group| groups.bands(group).contains(&band)));
            }
            let cells = Cells::of(columns, most);
            let covered: usize = (0..cells.runs).map(|run| cells.run(run).len()).sum();
            prop_assert!(covered == columns || most == 0);
            prop_assert!(cells.width() <= most.max(1));
        }
    }
}
