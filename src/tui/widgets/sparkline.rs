//! A series of values as a row of rising blocks. An unknown value shows as a gap, never as a zero.

use super::{WidgetContext, put};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Draws the newest values that fit, the newest at the right, on a scale from zero to `top` (default: the highest
/// value). Several rows increase the resolution.
pub fn sparkline(
    values: &[Option<f64>],
    top: Option<f64>,
    style: Style,
    context: WidgetContext<'_>,
    area: Rect,
    buf: &mut Buffer,
) {
    let area = area.intersection(buf.area);
    let shown = &values[values.len().saturating_sub(usize::from(area.width))..];
    let top = top.unwrap_or_else(|| highest(shown));
    let left = area.right().saturating_sub(shown.len() as u16);
    for (at, value) in shown.iter().enumerate() {
        column(*value, top, style, context, Rect { x: left + at as u16, width: 1, ..area }, buf);
    }
}

/// Draws one value from the bottom up.
fn column(value: Option<f64>, top: f64, style: Style, context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
    let bottom = area.bottom().saturating_sub(1);
    let Some(value) = value.filter(|value| value.is_finite()) else {
        put(buf, area, (area.x, bottom), context.glyphs.gap, context.theme.missing);
        return;
    };
    if area.height == 1 {
        put(buf, area, (area.x, bottom), context.glyphs.spark(value, top), style);
        return;
    }
    let share = if top > 0.0 { (value / top).clamp(0.0, 1.0) } else { 0.0 };
    let least = if value > 0.0 { 2 } else { 1 };
    let mut level = ((share * 8.0 * f64::from(area.height)).round() as usize).max(least);
    for y in (area.top()..area.bottom()).rev() {
        let here = level.min(8);
        level -= here;
        if here > 0 {
            put(buf, area, (area.x, y), context.glyphs.sparks[here - 1], style);
        }
    }
}

/// The highest known value.
#[must_use]
pub fn highest(values: &[Option<f64>]) -> f64 {
    values.iter().flatten().copied().filter(|value| value.is_finite()).fold(0.0, f64::max)
}

/// Reduces the values to `columns`: each is the mean of the values that fall into it, or unknown if all of them are.
/// Fewer values than columns stay unchanged.
#[must_use]
pub fn squeezed(values: &[Option<f64>], columns: usize) -> Vec<Option<f64>> {
    if values.len() <= columns {
        return values.to_vec();
    }
    let bound = |column: usize| column * values.len() / columns;
    let mean = |column: usize| {
        let known = values[bound(column)..bound(column + 1)].iter().flatten();
        let (sum, count) = known.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
        (count > 0).then(|| sum / f64::from(count))
    };
    (0..columns).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Glyphs;
    use crate::tui::widgets::testing::drawn;
    use proptest::prelude::*;

    fn shown(values: &[Option<f64>], top: Option<f64>, width: u16, height: u16, glyphs: &Glyphs) -> String {
        drawn(width, height, glyphs, |context, area, buf| {
            sparkline(values, top, context.theme.accent, context, area, buf)
        })
    }

    #[test]
    fn a_gap_is_told_from_zero_and_from_little() {
        let values = [Some(0.0), Some(0.1), Some(5.0), None, Some(10.0), Some(f64::NAN)];
        assert_eq!(shown(&values, None, 6, 1, &Glyphs::UNICODE), "▁▂▅·█·");
        assert_eq!(shown(&values, None, 6, 1, &Glyphs::ASCII), "_.=?#?");
        assert_eq!(shown(&values, Some(20.0), 6, 1, &Glyphs::UNICODE), "▁▂▃·▅·");
    }

    #[test]
    fn the_newest_values_are_kept_at_the_right() {
        let values: Vec<_> = (0..=9).map(|n| Some(f64::from(n))).collect();
        assert_eq!(shown(&values, None, 3, 1, &Glyphs::UNICODE), "▆▇█");
        assert_eq!(shown(&values[..2], None, 5, 1, &Glyphs::UNICODE), "   ▁█");
    }

    #[test]
    fn more_rows_are_finer() {
        let values = [Some(0.0), Some(0.01), Some(4.0), None, Some(8.0)];
        assert_eq!(shown(&values, None, 5, 2, &Glyphs::UNICODE), "    █\n▁▂█·█");
    }

    #[test]
    fn many_values_are_squeezed_into_means_and_gaps_stay_where_nothing_is_known() {
        let values = [Some(1.0), Some(3.0), None, None, None, Some(4.0)];
        assert_eq!(squeezed(&values, 3), [Some(2.0), None, Some(4.0)]);
        assert_eq!(squeezed(&values, 9), values);
        assert_eq!(squeezed(&values, 0), []);
    }

    proptest! {
        #[test]
        fn it_can_be_drawn_at_any_size(
            values in prop::collection::vec(prop::option::of(prop::num::f64::ANY), 0..50),
            top in prop::option::of(prop::num::f64::ANY),
            (width, height) in (0_u16..60, 0_u16..8),
        ) {
            shown(&values, top, width, height, &Glyphs::UNICODE);
            prop_assert!(squeezed(&values, usize::from(width)).len() <= usize::from(width));
        }
    }
}
