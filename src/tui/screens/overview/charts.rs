//! The history of the most informative factors as charts with axes, if the screen is high enough.
//! A missing factor has no chart.

use super::page::{Drawing, Item, Page};
use crate::model::MetricId;
use crate::tui::panel::PanelContext;
use crate::view::overview::Overview;
use ratatui::layout::Rect;

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

/// Lays the charts out side by side.
pub(super) fn charts(view: &Overview, cx: &PanelContext<'_>, area: Rect, page: &mut Page) {
    let _ = cx;
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
