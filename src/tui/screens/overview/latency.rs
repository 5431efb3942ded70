//! The line of latencies: how long operations took, as quantiles. Those that do not fit are dropped from the right.

use super::page::{Item, Page, Rows};
use super::words::DASH;
use crate::model::Unit;
use crate::tui::panel::PanelContext;
use crate::view::fit::width;
use crate::view::number::quantity;
use crate::view::overview::Overview;
use ratatui::text::{Line, Span};

/// The quantiles, in the order of the line.
const SHOWN: [&str; 4] = ["p50", "p99", "p999", "max"];

/// Lays out the line; nothing if latency was not to be measured.
pub(super) fn latency(view: &Overview, cx: &PanelContext<'_>, rows: &mut Rows, page: &mut Page) {
    let Some(latency) = &view.latency else { return };
    let at = rows.take(1);
    let mut spans = vec![Span::styled("latency ", cx.theme.dim)];
    let mut left = usize::from(at.width).saturating_sub(8);
    if latency.count == 0 {
        spans.push(Span::styled("no operation ended in this time", cx.theme.dim));
    }
    for name in SHOWN {
        let Some(row) = latency.rows.iter().find(|row| row.name == name) else { continue };
        let value = row.value.map_or(DASH.to_string(), |value| quantity(value, Unit::Nanos).joined());
        let wide = row.label.len() + 1 + width(&value) + 3;
        if wide > left + 3 {
            break;
        }
        left = left.saturating_sub(wide);
        let style = if row.value.is_some() { cx.theme.text } else { cx.theme.missing };
        spans.push(Span::styled(format!("{} ", row.label), cx.theme.dim));
        spans.push(Span::styled(format!("{value}   "), style));
    }
    page.text(at, Some(Item::Latency), Line::from(spans));
}
