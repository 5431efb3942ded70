//! Draws a chart: its legend, axes, lines and moments.

use super::{Canvas, Chart, WidgetContext, axis, canvas, put};
use crate::tui::widgets::sparkline::{sparkline, squeezed};
use crate::units::Nanos;
use crate::view::fit::{end, width};
use crate::view::number;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Below this size there is only room for a sparkline.
const LEAST: (u16, u16) = (24, 5);

/// The areas of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Frame {
    legend: Rect,
    plot: Rect,
}

impl Chart<'_> {
    /// Draws the chart; a small area gets a sparkline of the first line.
    pub fn draw(&self, context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
        let area = area.intersection(buf.area);
        if area.is_empty() {
            return;
        }
        if area.width < LEAST.0 || area.height < LEAST.1 {
            return self.spark(context, area, buf);
        }
        let frame = self.frame(area);
        self.legend(context, frame.legend, buf);
        self.values(context, frame.plot, buf);
        self.times(context, frame.plot, buf);
        self.lines(context, frame.plot, buf);
        self.moments(context, frame.plot, buf);
    }

    fn spark(&self, context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
        let Some(series) = self.series.first() else { return };
        let values: Vec<Option<f64>> = series.points.iter().map(|(_, value)| *value).collect();
        let values = squeezed(&values, usize::from(area.width));
        sparkline(&values, self.top, context.theme.series[0], context, area, buf);
    }

    fn frame(&self, area: Rect) -> Frame {
        let legend = u16::from(self.lettered());
        let height = area.height - legend - 2;
        let gutter = self.ticks(height).iter().map(|(_, label)| width(label)).max().unwrap_or(0) as u16 + 2;
        let gutter = gutter.min(area.width / 2);
        let plot = Rect { x: area.x + gutter, y: area.y + legend, width: area.width - gutter, height };
        Frame { legend: Rect { height: legend, ..area }, plot }
    }

    /// One line needs no letter.
    fn lettered(&self) -> bool {
        self.series.len() > 1
    }

    fn highest(&self) -> f64 {
        let values = self.series.iter().flat_map(|series| series.points).filter(|(at, _)| self.shows(*at));
        let known = values.filter_map(|(_, value)| value.filter(|value| value.is_finite()));
        known.chain(self.top.filter(|top| top.is_finite())).fold(0.0, f64::max)
    }

    fn shows(&self, at: Nanos) -> bool {
        at >= self.span.0 && at <= self.span.1
    }

    /// Values with their labels, from zero up; the last one is the top of the axis.
    fn ticks(&self, height: u16) -> Vec<(f64, String)> {
        let values = axis::values(self.highest(), usize::from(height / 3).clamp(1, 5));
        values.into_iter().map(|value| (value, number::quantity(value, self.unit).joined())).collect()
    }

    fn legend(&self, context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
        let mut x = area.x + 1;
        for (at, series) in self.series.iter().enumerate().take_while(|_| area.height > 0) {
            let style = context.theme.series[at % context.theme.series.len()];
            x = put(buf, area, (x, area.y), &format!("{} ", canvas::letter(at)), style);
            let room = usize::from(area.right().saturating_sub(x));
            x = put(buf, area, (x, area.y), &end(series.name, room, context.glyphs.ellipsis), context.theme.text) + 3;
        }
    }

    fn values(&self, context: WidgetContext<'_>, plot: Rect, buf: &mut Buffer) {
        let whole = buf.area;
        let ticks = self.ticks(plot.height);
        let top = ticks.last().map_or(1.0, |(value, _)| *value);
        let axis = plot.x - 1;
        for y in plot.top()..plot.bottom() {
            put(buf, whole, (axis, y), context.glyphs.bar, context.theme.dim);
        }
        let [corner, tick, _] = context.glyphs.axes;
        for (value, label) in &ticks {
            // The lower axis represents zero.
            let y = plot.bottom() - (value / top * f64::from(plot.height)).round() as u16;
            let (y, symbol) = if *value > 0.0 { (y, tick) } else { (plot.bottom(), corner) };
            put(buf, whole, (axis, y), symbol, context.theme.dim);
            let x = axis.saturating_sub(width(label) as u16 + 1);
            put(buf, whole, (x, y), label, context.theme.dim);
        }
    }

    fn times(&self, context: WidgetContext<'_>, plot: Rect, buf: &mut Buffer) {
        let (axis, labels) = (plot.bottom(), plot.bottom() + 1);
        let row = Rect { y: axis, height: 2, ..plot };
        for x in plot.left()..plot.right() {
            put(buf, row, (x, axis), context.glyphs.rule, context.theme.dim);
        }
        let mut free = plot.left();
        for (at, label) in axis::times(self.span, self.origin, plot.width) {
            let x = plot.x + self.column(at, plot.width);
            put(buf, row, (x, axis), context.glyphs.axes[2], context.theme.dim);
            let columns = width(&label) as u16;
            let start = x.saturating_sub(columns / 2).min(plot.right().saturating_sub(columns)).max(plot.left());
            if start >= free {
                free = put(buf, row, (start, labels), &label, context.theme.dim) + 1;
            }
        }
    }

    fn lines(&self, context: WidgetContext<'_>, plot: Rect, buf: &mut Buffer) {
        let top = self.ticks(plot.height).last().map_or(1.0, |(value, _)| *value);
        let mut canvas = Canvas::new(plot.width, plot.height, context.glyphs.unicode);
        for (at, series) in self.series.iter().enumerate() {
            let mut last = None;
            for (moment, value) in series.points.iter().filter(|(moment, _)| self.shows(*moment)) {
                let value = value.filter(|value| value.is_finite());
                let here = value.map(|value| canvas.dot(self.share(*moment), value / top));
                match (last, here) {
                    (Some(from), Some(to)) => canvas.line(at, from, to),
                    (None, Some(to)) => canvas.line(at, to, to),
                    (_, None) => {}
                }
                last = here;
            }
        }
        canvas.draw(self.lettered(), context, plot, buf);
    }

    /// Draws the selected range and the mark over the lines.
    fn moments(&self, context: WidgetContext<'_>, plot: Rect, buf: &mut Buffer) {
        if let Some((from, to)) = self.range.filter(|(from, to)| *to >= self.span.0 && *from <= self.span.1) {
            let (left, right) = (self.column(from, plot.width), self.column(to, plot.width));
            let shaded = Rect { x: plot.x + left, width: right - left + 1, ..plot };
            buf.set_style(shaded.intersection(plot), context.theme.range);
        }
        let Some(mark) = self.mark.filter(|mark| self.shows(*mark)) else { return };
        let x = plot.x + self.column(mark, plot.width);
        for y in plot.top()..plot.bottom() {
            if buf[(x, y)].symbol() == " " {
                put(buf, plot, (x, y), context.glyphs.moment, context.theme.accent2);
            }
        }
        put(buf, Rect { y: plot.bottom(), height: 1, ..plot }, (x, plot.bottom()), "m", context.theme.accent2);
    }

    /// The position of a moment in the span, 0 to 1.
    fn share(&self, at: Nanos) -> f64 {
        let span = (self.span.1 - self.span.0).as_f64().max(1.0);
        ((at - self.span.0).as_f64() / span).min(1.0)
    }

    fn column(&self, at: Nanos, width: u16) -> u16 {
        (self.share(at) * f64::from(width.saturating_sub(1))).round() as u16
    }
}
