//! The distribution as a histogram on a logarithmic axis of latency, with its quantiles marked.

use super::State;
use super::layout::{Groups, bands};
use super::words::time;
use crate::tui::panel::PanelContext;
use crate::tui::widgets::{put, put_line};
use crate::view::fit::{end, width};
use crate::view::latency_history::{Band, LatencyView};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Quantiles in the order in which their labels get room.
const FIRST: [&str; 6] = ["p50", "p99", "max", "p99.9", "p90", "p99.99"];
/// Widest bar.
const WIDEST: u16 = 3;

/// The bars: groups of bands, each that many cells wide.
struct Bars {
    groups: Groups,
    wide: u16,
}

impl Bars {
    fn of(view: &LatencyView, room: u16) -> Bars {
        let groups = Groups::of(bands(view), room);
        Bars { wide: (room / groups.count.max(1)).clamp(1, WIDEST), groups }
    }

    fn width(&self) -> u16 {
        self.groups.count * self.wide
    }
}

/// Draws a heading, the bars, the axis and the names of the quantiles.
pub(super) fn draw(state: &State, view: &LatencyView, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let (Some(lowest), Some(highest)) = (view.bands.first(), view.bands.last()) else { return };
    if area.height < 4 {
        return;
    }
    let heading = format!("operations by latency, {} to {}", time(lowest.low), time(highest.high));
    put_line(buf, area, area.x, &end(&heading, usize::from(area.width), cx.glyphs.ellipsis), cx.theme.dim);
    let bars = Bars::of(view, area.width);
    let plot = Rect { y: area.y + 1, height: area.height - 3, width: bars.width().min(area.width), ..area };
    let counts: Vec<f64> = view.bands.iter().map(|band| band.count).collect();
    let sums: Vec<f64> = (0..bars.groups.count).map(|group| bars.groups.sum(group, lowest.band.0, &counts)).collect();
    let top = sums.iter().copied().fold(0.0, f64::max);
    let chosen = |group: u16| {
        let bands = bars.groups.bands(group);
        state.cursor.is_some_and(|cursor| bands.start < cursor.end.0 && bands.end > cursor.band.0)
    };
    for (group, sum) in (0..).zip(&sums) {
        let at = Rect { x: plot.x + group * bars.wide, width: bars.wide, ..plot };
        bar(*sum / top, cx, at.intersection(plot), buf);
        if chosen(group) {
            buf.set_style(at.intersection(plot), cx.theme.selected);
        }
    }
    for x in plot.left()..plot.right() {
        put(buf, area, (x, plot.bottom()), cx.glyphs.rule, cx.theme.dim);
    }
    marks(view, &bars, cx, Rect { y: plot.bottom(), height: 2, ..area }, buf);
}

/// Draws a bar from the bottom up. Any operation shows: the tail is what one looks for.
fn bar(share: f64, cx: &PanelContext<'_>, at: Rect, buf: &mut Buffer) {
    let mut level = ((share * 8.0 * f64::from(at.height)).round() as u16).max(u16::from(share > 0.0));
    for y in (at.top()..at.bottom()).rev() {
        let here = level.min(8);
        level -= here;
        if here > 0 {
            for x in at.left()..at.right() {
                put(buf, at, (x, y), cx.glyphs.sparks[usize::from(here) - 1], cx.theme.accent);
            }
        }
    }
}

/// Marks the quantiles on the axis, and names those that have room.
fn marks(view: &LatencyView, bars: &Bars, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let rows = view.total.iter().flat_map(|total| &total.rows);
    let mut taken: Vec<(u16, u16)> = Vec::new();
    let rank = |label: &str| FIRST.iter().position(|first| *first == label);
    let mut rows: Vec<_> = rows.collect();
    rows.sort_by_key(|row| rank(row.label).unwrap_or(FIRST.len()));
    for row in rows {
        let Some(value) = row.value else { continue };
        let Some(group) = bars.groups.group(Band::of(value)) else { continue };
        let x = area.x + group * bars.wide + bars.wide / 2;
        put(buf, area, (x, area.y), cx.glyphs.axes[2], cx.theme.accent2);
        let wide = width(row.label) as u16;
        let start = x.saturating_sub(wide / 2).max(area.x).min(area.right().saturating_sub(wide));
        let ends = (start, start + wide);
        if taken.iter().all(|(from, to)| ends.0 > *to || ends.1 < *from) {
            put(buf, area, (start, area.y + 1), row.label, cx.theme.accent2);
            taken.push(ends);
        }
    }
}
