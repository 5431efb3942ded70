//! The layout of the overview, computed once for drawing, keys and the mouse.
//! If there is not enough room, the least important parts are dropped.

use super::page::{Drawing, Item, Page, Rows};
use super::{below, latency, rates, split, tiles};
use crate::model::MetricId;
use crate::tui::panel::PanelContext;
use crate::view::overview::Overview;
use ratatui::layout::Rect;

/// Minimum number of rows for functions and findings, reserved before rates and charts.
const BELOW: u16 = 4;
/// From this height on, there are charts.
const CHARTED: u16 = 30;
/// Below this width, a chart would only be a framed sparkline.
const NARROWEST: u16 = 36;
/// Minimum height, for the same reason.
const LOWEST: u16 = 5;
/// Columns between two charts.
const GAP: u16 = 3;

/// The charted factors, most informative first.
const ORDER: [MetricId; 9] = [
    MetricId::Throughput,
    MetricId::CpuUtilisation,
    MetricId::PathLength,
    MetricId::Cpi,
    MetricId::Ipc,
    MetricId::RunQueueDelay,
    MetricId::VoluntarySwitches,
    MetricId::InvoluntarySwitches,
    MetricId::HostBusy,
];

/// Lays out the page of a view.
pub(super) fn layout(view: &Overview, cx: &PanelContext<'_>, area: Rect) -> Page {
    let mut page = Page::default();
    // An empty column as a margin, if there is room.
    let margin = u16::from(area.width > 50);
    let mut rows = Rows::new(Rect { x: area.x + margin, width: area.width - margin, ..area });
    let hidden = tiles::tiles(view, cx, &mut rows, &mut page);
    let full = area.height >= CHARTED;
    if rows.left() >= BELOW + 2 {
        rule(&mut rows, &mut page);
        split::split(view, cx, &mut rows, &mut page);
    }
    if rows.left() > BELOW + 1 {
        latency::latency(view, cx, &mut rows, &mut page);
    }
    let groups = rates::shown(view, hidden);
    let room = usize::from(rows.left().saturating_sub(BELOW + 1));
    rates::rates(view, &groups[..groups.len().min(room)], cx, &mut rows, &mut page);
    if full {
        rule(&mut rows, &mut page);
        let below = below::wanted(view).clamp(BELOW, 14);
        let room = rows.left().saturating_sub(below + 1);
        charts(view, rows.take(room.min(14)), &mut page);
    }
    if rows.left() > 1 {
        rule(&mut rows, &mut page);
    }
    let rest = rows.left();
    below::below(view, cx, rows.take(rest), &mut page);
    page
}

fn rule(rows: &mut Rows, page: &mut Page) {
    let at = rows.take(1);
    page.push(at, None, Drawing::Rule);
}

/// Lays the charts out side by side. A missing factor has none.
fn charts(view: &Overview, area: Rect, page: &mut Page) {
    if area.height < LOWEST {
        return;
    }
    let known = |id: &&MetricId| view.factor(**id).is_some_and(|factor| factor.value.value().is_some());
    let columns = ((area.width + GAP) / (NARROWEST + GAP)).clamp(1, 3);
    let names: Vec<_> = ORDER.iter().filter(known).take(usize::from(columns)).collect();
    let Ok(count) = u16::try_from(names.len().max(1)) else { return };
    let wide = (area.width + GAP) / count - GAP.min((area.width + GAP) / count);
    for (at, id) in names.iter().enumerate() {
        let at = Rect { x: area.x + (wide + GAP) * at as u16, width: wide, ..area };
        page.push(at, Some(Item::Tile(**id)), Drawing::Chart(**id));
    }
}
