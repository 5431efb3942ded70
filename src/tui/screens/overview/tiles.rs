//! The first lines: the factors of the law side by side with their history.
//! One dim line lists the factors without a counter.

use super::page::{Drawing, Item, Page, Rows};
use super::words::{self, ChangeDirection, MissingFactors};
use crate::model::MetricId;
use crate::tui::panel::PanelContext;
use crate::view::fit::end;
use crate::view::overview::{Factor, Overview};
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

/// Maximum number of factors.
const MOST: usize = 6;
/// From this width on, a change is next to the value, not below it.
const ROOMY: u16 = 19;
/// Maximum number of lines that name omitted factors.
const MOST_LINES: usize = 2;

/// Lays out the tiles; returns true if the hardware's rates are listed as missing.
pub(super) fn tiles(view: &Overview, cx: &PanelContext<'_>, rows: &mut Rows, page: &mut Page) -> bool {
    let (shown, absent, hidden) = chosen(view);
    let columns = columns(shown.iter().map(|(factor, _)| factor.id), rows.width());
    let shown = &shown[..columns.len()];
    let compared = shown.iter().any(|(factor, _)| factor.change.is_some());
    let shares = shown.iter().any(|(factor, _)| factor.share_of_change.is_some());
    let below = compared && columns.iter().any(|(_, wide)| *wide < ROOMY);
    let height = 3 + u16::from(below) + u16::from(shares);
    let area = rows.take(height);
    for ((factor, operator), (x, wide)) in shown.iter().zip(columns) {
        let tile = Rect { x: area.x + x, width: wide, ..area };
        lay(factor, operator, below, shares, cx, tile, page);
    }
    for absent in absent.iter().take(MOST_LINES) {
        let text = absent.text(usize::from(area.width));
        page.text(
            rows.take(1),
            absent.factors.first().map(|factor| Item::Tile(factor.id)),
            Line::styled(text, cx.theme.dim),
        );
    }
    hidden
}

/// The width of a factor and its gap. It depends on the name and not on the value, so the layout does not jump.
fn narrowest(id: MetricId) -> u16 {
    match id {
        MetricId::Cpi | MetricId::Ipc => 10,
        MetricId::CpuPerOp | MetricId::PathLength | MetricId::Throughput => 14,
        _ => 13,
    }
}

/// The position and width of as many factors as fit; they share the spare width.
fn columns(factors: impl Iterator<Item = MetricId>, room: u16) -> Vec<(u16, u16)> {
    let mut widths: Vec<u16> = Vec::new();
    for wide in factors.take(MOST).map(narrowest) {
        if !widths.is_empty() && widths.iter().sum::<u16>() + wide > room {
            break;
        }
        widths.push(wide.min(room));
    }
    let spare = (room - widths.iter().sum::<u16>()) / (widths.len().max(1) as u16);
    let mut x = 0;
    let place = |wide: u16| {
        let at = (x, wide + spare);
        x += wide + spare;
        at
    };
    widths.into_iter().map(place).collect()
}

/// The shown factors with the sign before them, the missing ones, and whether the hardware's rates are among those.
fn chosen(view: &Overview) -> (Vec<(&Factor, &'static str)>, Vec<MissingFactors<'_>>, bool) {
    let counted = |ids: [MetricId; 3]| {
        ids.into_iter().any(|id| view.factor(id).is_some_and(|factor| factor.value.value().is_some()))
    };
    let hardware = counted([MetricId::PathLength, MetricId::Cpi, MetricId::Frequency]);
    let operations = counted([MetricId::CpuPerOp, MetricId::Throughput, MetricId::PathLength]);
    let law = |factor: &&Factor| match factor.id {
        MetricId::PathLength => operations && hardware,
        MetricId::Cpi | MetricId::Frequency => hardware,
        MetricId::CpuPerOp | MetricId::Throughput => operations,
        _ => true,
    };
    let whole = operations && hardware;
    let sign = |id: MetricId| match id {
        MetricId::PathLength if whole => "=",
        MetricId::Cpi if whole => "x",
        MetricId::Frequency if whole => "/",
        _ => "",
    };
    let mut shown: Vec<_> = view.law.iter().filter(law).map(|factor| (factor, sign(factor.id))).collect();
    let left_out = view.law.iter().filter(|factor| !law(factor));
    let rates = view.groups.iter().find(|group| group.name == "memory").map_or(&[][..], |group| &group.rates);
    let hidden = !hardware && rates.iter().all(|rate| rate.value.why().is_some());
    let absent = words::absent(left_out.chain(rates.iter().filter(|_| hidden)), view);
    // Room that missing factors leave goes to known ones.
    shown.extend(view.stand_ins.iter().filter(|factor| factor.value.value().is_some()).map(|factor| (factor, "")));
    (shown, absent, hidden)
}

fn lay(
    factor: &Factor,
    operator: &'static str,
    below: bool,
    shares: bool,
    cx: &PanelContext<'_>,
    tile: Rect,
    page: &mut Page,
) {
    let item = || Some(Item::Tile(factor.id));
    let gap = if tile.width < ROOMY { 2 } else { 3 };
    let inner = Rect { width: tile.width.saturating_sub(gap), ..tile };
    let mut rows = Rows::new(inner);
    let label = rows.take(1);
    // The sign is in the gap, so that labels, values and curves start in one column.
    if !operator.is_empty() && tile.x >= 2 {
        let at = Rect { x: tile.x - 2, width: 1, height: 1, ..tile };
        page.text(at, None, Span::styled(operator, cx.theme.dim));
    }
    page.text(
        label,
        item(),
        Span::styled(end(factor.label, usize::from(inner.width), cx.glyphs.ellipsis), cx.theme.dim),
    );
    let mut value = vec![match factor.value.value() {
        Some(_) => Span::styled(words::value(factor), cx.theme.heading),
        None => Span::styled(words::DASH, cx.theme.missing),
    }];
    let changed = factor.change.map(|change| changed(&words::change(&change, factor.unit), cx));
    let value_at = rows.take(1);
    match changed {
        Some(changed) if below => page.text(rows.take(1), item(), changed),
        Some(changed) => value.extend([Span::raw("  "), changed]),
        None if below => _ = rows.take(1),
        None => {}
    }
    page.text(value_at, item(), Line::from(value));
    page.push(rows.take(1), item(), Drawing::Curve(factor.id));
    if shares {
        page.text(rows.take(1), item(), share_of_change(factor, usize::from(inner.width), cx));
    }
}

/// The factor's share of the change, which is mostly that of CPU time: only the tile of CPU time labels it.
fn share_of_change(factor: &Factor, room: usize, cx: &PanelContext<'_>) -> Line<'static> {
    let words = if room < "share of change 100%".len() { "share" } else { "share of change" };
    let share = factor.share_of_change.map(|share| format!("{:.0}%", share * 100.0));
    let words = if factor.id == MetricId::CpuPerOp { words } else { "" };
    let glue = if words.is_empty() || share.is_none() { "" } else { " " };
    Line::from(vec![
        Span::styled(format!("{words}{glue}"), cx.theme.dim),
        Span::styled(share.unwrap_or_default(), cx.theme.accent2),
    ])
}

/// A change as text; dim if chance explains it.
pub(super) fn changed((text, weight): &(String, ChangeDirection), cx: &PanelContext<'_>) -> Span<'static> {
    let style = if *weight == ChangeDirection::Same { cx.theme.dim } else { cx.theme.accent2 };
    Span::styled(text.clone(), style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_factors_as_fit_share_the_room_and_stay_where_they_are() {
        let law = [
            MetricId::CpuPerOp,
            MetricId::PathLength,
            MetricId::Cpi,
            MetricId::Frequency,
            MetricId::CpuUtilisation,
            MetricId::Throughput,
            MetricId::Ipc,
        ];
        for (room, expected) in [
            (79, vec![(0, 14), (14, 14), (28, 10), (38, 13), (51, 13), (64, 14)]),
            (40, vec![(0, 14), (14, 14), (28, 10)]),
            (20, vec![(0, 20)]),
            (5, vec![(0, 5)]),
        ] {
            assert_eq!(columns(law.into_iter(), room), expected, "{room}");
        }
        assert_eq!(columns([].into_iter(), 80), []);
    }
}
