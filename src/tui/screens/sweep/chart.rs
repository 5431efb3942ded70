//! Throughput against width: measured points with intervals, the ideal, and the law of each region with its scatter.
//! A law is drawn only over the widths it was fitted on; measured points are not joined by lines.

use super::State;
use crate::model::{Region, Unit};
use crate::tui::panel::PanelContext;
use crate::tui::theme::Glyphs;
use crate::tui::widgets::chart::{Canvas, round_values};
use crate::tui::widgets::put;
use crate::view::fit::{end, width};
use crate::view::number::quantity;
use crate::view::sweep::{PointView, SweepView, Usl, Value, words};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

/// Below this size, there is no room for axes.
const LEAST: (u16, u16) = (20, 4);
/// From this height on, there is room for a legend.
const LEGEND: u16 = 7;
/// The scale ignores the ideal if it exceeds the measured values by more than this factor.
const FAR_ABOVE: f64 = 2.5;

/// The quantity drawn against the width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Quantity {
    column: &'static str,
    title: &'static str,
    unit: Unit,
}

const THROUGHPUT: Quantity = Quantity { column: "ops_per_s", title: "ops/s", unit: Unit::PerSecond };
/// The only quantity if nothing counts operations.
const BUSY: Quantity = Quantity { column: "busy_cores", title: "busy CPUs", unit: Unit::Cores };

/// A measured point: width, mean, half of its interval.
type Measured = (f64, f64, Option<f64>);

/// The data to draw and the areas for it.
struct Plot<'a> {
    view: &'a SweepView,
    quantity: Quantity,
    points: Vec<(u32, Measured)>,
    widest: f64,
    top: f64,
    /// The whole area, with axes and legend.
    whole: Rect,
    /// The area between the axes.
    area: Rect,
}

/// Draws the chart.
pub(super) fn draw(state: &State, view: &SweepView, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let Some(plot) = Plot::of(view, area) else {
        let text =
            if view.points.is_empty() { "no run is over yet" } else { "nothing to draw: no throughput, no CPU time" };
        put(buf, area, (area.x + 1, area.y), text, cx.theme.dim);
        return;
    };
    if area.width < LEAST.0 || area.height < LEAST.1 {
        put(buf, area, (area.x + 1, area.y), "too small for a chart", cx.theme.dim);
        return;
    }
    if area.height >= LEGEND {
        plot.legend(cx, Rect { height: 1, ..area }, buf);
    }
    plot.axes(cx, buf);
    plot.ideal(cx, buf);
    plot.laws(cx, buf);
    plot.regions(cx, buf);
    plot.measured(state.chosen(), cx, buf);
}

/// The point nearest to a terminal column.
pub(super) fn point_at(view: &SweepView, area: Rect, x: u16) -> Option<usize> {
    let plot = Plot::of(view, area)?;
    let distance = |point: &PointView| plot.x(f64::from(point.n)).abs_diff(x);
    let nearest = view.points.iter().enumerate().min_by_key(|(_, point)| distance(point));
    nearest.map(|(at, _)| at).filter(|_| x >= plot.area.x)
}

fn measured(view: &SweepView, quantity: Quantity) -> Vec<(u32, Measured)> {
    let known = |point: &PointView| match point.values.get(quantity.column) {
        Some(Value::Known { mean, half }) if mean.is_finite() => {
            Some((point.n, (f64::from(point.n), mean, half.filter(|half| half.is_finite()))))
        }
        _ => None,
    };
    view.points.iter().filter_map(known).collect()
}

impl<'a> Plot<'a> {
    fn of(view: &'a SweepView, area: Rect) -> Option<Plot<'a>> {
        let drawn = [THROUGHPUT, BUSY].map(|quantity| (quantity, measured(view, quantity)));
        let (quantity, points) = drawn.into_iter().find(|(_, points)| !points.is_empty())?;
        let widest = view.points.iter().map(|point| point.n).max().unwrap_or(1).max(1);
        let mut plot = Plot { view, quantity, points, widest: f64::from(widest), top: 1.0, whole: area, area };
        let highest = plot.highest();
        let legend = u16::from(area.height >= LEGEND);
        let height = area.height.saturating_sub(legend + 2);
        let ticks = ticks(highest, height);
        plot.top = ticks.last().copied().unwrap_or(1.0);
        let labels = ticks.iter().map(|value| width(&label_of(*value, quantity))).max().unwrap_or(0) as u16;
        let left = (labels + 2).min(area.width / 2);
        // One column at the right stays free for half a label.
        let columns = area.width.saturating_sub(left + 2);
        plot.area = Rect { x: area.x + left, y: area.y + legend, width: columns, height };
        Some(plot)
    }

    /// Throughput per width at the base; the ideal keeps it constant.
    fn per_width(&self) -> Option<f64> {
        if self.quantity == BUSY {
            return Some(1.0);
        }
        let base = self.points.iter().find(|(n, _)| Some(*n) == self.view.base)?.1;
        (base.0 > 0.0).then_some(base.1 / base.0)
    }

    fn laws(&self, cx: &PanelContext<'_>, buf: &mut Buffer) {
        for (law, from, to) in self.fitted() {
            let scatter = words::scatter(law).unwrap_or(0.0);
            for x in self.x(from)..=self.x(to) {
                let there = words::by_law(law, self.width_at(x)).max(0.0);
                for y in self.y(there + scatter)..=self.y((there - scatter).max(0.0)) {
                    self.fill((x, y), if cx.glyphs.unicode { cx.glyphs.light } else { ":" }, cx.theme.dim, buf);
                }
            }
            self.curve(&|n| words::by_law(law, n), (from, to), ("*", cx.theme.series[0]), cx, buf);
        }
    }

    /// The law of each region, and the first and last width it was fitted on.
    fn fitted(&self) -> impl Iterator<Item = (&'a Usl, f64, f64)> {
        let fits = self.view.fits.iter().filter(|_| self.quantity == THROUGHPUT);
        fits.filter_map(|fit| {
            let law = fit.law.as_ref().ok()?;
            Some((law, f64::from(*fit.widths.first()?), f64::from(*fit.widths.last()?)))
        })
    }

    fn highest(&self) -> f64 {
        let ends = self.points.iter().map(|(_, (_, mean, half))| mean + half.unwrap_or(0.0));
        let measured = ends.filter(|end| end.is_finite()).fold(0.0, f64::max);
        let ideal = self.per_width().map_or(0.0, |per_width| per_width * self.widest);
        if ideal <= FAR_ABOVE * measured { measured.max(ideal) } else { measured * 1.1 }
    }

    fn ideal(&self, cx: &PanelContext<'_>, buf: &mut Buffer) {
        if let Some(per_width) = self.per_width().filter(|value| value.is_finite()) {
            self.curve(&|n| per_width * n, (0.0, self.widest), (".", cx.theme.dim), cx, buf);
        }
    }

    /// Draws a line through `value` at each width, without the parts outside the chart.
    fn curve(
        &self,
        value: &dyn Fn(f64) -> f64,
        (from, to): (f64, f64),
        (plain, style): (&str, Style),
        cx: &PanelContext<'_>,
        buf: &mut Buffer,
    ) {
        let mut canvas = Canvas::new(self.area.width, self.area.height, cx.glyphs.unicode);
        let steps = u32::from(self.area.width) * 2;
        let mut last = None;
        for step in 0..=steps {
            let n = from + (to - from) * f64::from(step) / f64::from(steps.max(1));
            let share = value(n) / self.top;
            let here = (share.is_finite() && (0.0..=1.0).contains(&share)).then(|| canvas.dot(n / self.widest, share));
            if let Some(to) = here {
                canvas.line(0, last.unwrap_or(to), to);
            }
            last = here;
        }
        canvas.paint(plain, style, self.area, buf);
    }

    fn measured(&self, chosen: Option<u32>, cx: &PanelContext<'_>, buf: &mut Buffer) {
        for (n, (at, mean, half)) in &self.points {
            let x = self.x(*at);
            let is_chosen = chosen == Some(*n);
            let style = if is_chosen { cx.theme.accent2.add_modifier(Modifier::BOLD) } else { cx.theme.text };
            if let Some(half) = half {
                for y in self.y(mean + half)..=self.y(mean - half) {
                    self.over((x, y), cx.glyphs.bar, style, buf);
                }
            }
            self.over((x, self.y(*mean)), mark(is_chosen, cx.glyphs), style, buf);
            if is_chosen {
                let axis = Rect { y: self.area.bottom(), height: 2, ..self.area };
                put(buf, axis, (x, axis.y), cx.glyphs.up, style);
            }
        }
    }

    fn axes(&self, cx: &PanelContext<'_>, buf: &mut Buffer) {
        let (plot, whole, dim) = (self.area, self.whole, cx.theme.dim);
        let [corner, tick, below] = cx.glyphs.axes;
        let axis = plot.x.saturating_sub(1);
        for y in plot.top()..plot.bottom() {
            put(buf, whole, (axis, y), cx.glyphs.bar, dim);
        }
        for value in ticks(self.top, plot.height) {
            let (y, symbol) = if value > 0.0 { (self.y(value), tick) } else { (plot.bottom(), corner) };
            let label = label_of(value, self.quantity);
            put(buf, whole, (axis, y), symbol, dim);
            put(buf, whole, (axis.saturating_sub(width(&label) as u16 + 1), y), &label, dim);
        }
        // Half a label may extend beyond the last column.
        let row = Rect { y: plot.bottom(), height: 2, width: plot.width + 1, ..plot };
        for x in plot.left()..plot.right() {
            put(buf, row, (x, row.y), cx.glyphs.rule, dim);
        }
        let mut free = plot.left();
        for point in &self.view.points {
            let (x, label) = (self.x(f64::from(point.n)), point.n.to_string());
            put(buf, row, (x, row.y), below, dim);
            let start = x.saturating_sub(width(&label) as u16 / 2);
            if start >= free {
                free = put(buf, row, (start, row.y + 1), &label, dim) + 1;
            }
        }
    }

    /// Draws lines where the kind of CPUs changes, and labels the regions between them.
    fn regions(&self, cx: &PanelContext<'_>, buf: &mut Buffer) {
        let mut begins: Vec<(Region, f64)> = Vec::new();
        let mut last = 0.0;
        for point in &self.view.points {
            let n = f64::from(point.n);
            if begins.last().is_none_or(|(region, _)| *region != point.region) {
                begins.push((point.region, if begins.is_empty() { 0.0 } else { f64::midpoint(last, n) }));
            }
            last = n;
        }
        if begins.len() < 2 {
            return;
        }
        for (at, (region, from)) in begins.iter().enumerate() {
            let left = self.x(*from);
            let right = begins.get(at + 1).map_or(self.area.right(), |(_, to)| self.x(*to));
            for y in self.area.top()..self.area.bottom() {
                if at > 0 {
                    self.fill((left, y), cx.glyphs.moment, cx.theme.dim, buf);
                }
            }
            let room = usize::from(right.saturating_sub(left + u16::from(at > 0)));
            let label = end(&region.label(), room, cx.glyphs.ellipsis);
            put(buf, self.area, (left + u16::from(at > 0), self.area.y), &label, cx.theme.accent);
        }
    }

    /// Draws the legend, most important first.
    fn legend(&self, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
        let law = if cx.glyphs.unicode { "⠒" } else { "*" };
        let band = if cx.glyphs.unicode { cx.glyphs.light } else { ":" };
        let ideal = if cx.glyphs.unicode { "⠢" } else { "." };
        let has_law = self.fitted().next().is_some();
        let mut parts =
            vec![(mark(false, cx.glyphs), cx.theme.text, self.quantity.title), (ideal, cx.theme.dim, "ideal")];
        if has_law {
            parts.extend([(law, cx.theme.series[0], "law"), (band, cx.theme.dim, "95% of runs")]);
        } else if self.quantity == THROUGHPUT {
            parts.push(("-", cx.theme.missing, words::chosen(&self.view.fits).map_or("no law", |_| "no law fitted")));
        }
        let mut x = area.x + 1;
        for (symbol, style, text) in parts {
            if usize::from(area.right().saturating_sub(x)) < width(text) + 2 {
                return;
            }
            x = put(buf, area, (x, area.y), symbol, style);
            x = put(buf, area, (x + 1, area.y), text, cx.theme.dim) + 2;
        }
    }

    /// Draws a symbol over existing cells, style included.
    fn over(&self, place: (u16, u16), symbol: &str, style: Style, buf: &mut Buffer) {
        put(buf, self.area, place, symbol, Style::reset().patch(style));
    }

    /// Draws a symbol in a cell that is still empty.
    fn fill(&self, place: (u16, u16), symbol: &str, style: Style, buf: &mut Buffer) {
        if self.area.contains(place.into()) && buf.cell(place).is_some_and(|cell| cell.symbol() == " ") {
            put(buf, self.area, place, symbol, style);
        }
    }

    fn x(&self, n: f64) -> u16 {
        let last = f64::from(self.area.width.saturating_sub(1));
        self.area.x + ((n / self.widest).clamp(0.0, 1.0) * last).round() as u16
    }

    fn width_at(&self, x: u16) -> f64 {
        let last = f64::from(self.area.width.saturating_sub(1).max(1));
        f64::from(x.saturating_sub(self.area.x)) / last * self.widest
    }

    fn y(&self, value: f64) -> u16 {
        let last = self.area.height.saturating_sub(1);
        let up = (value / self.top).clamp(0.0, 1.0) * f64::from(last);
        self.area.y + last.saturating_sub(up.round() as u16)
    }
}

fn ticks(highest: f64, height: u16) -> Vec<f64> {
    round_values(highest, usize::from(height / 3).clamp(1, 5))
}

/// The value without "per second", which the legend shows.
fn label_of(value: f64, shown: Quantity) -> String {
    match shown.unit {
        Unit::PerSecond => quantity(value, Unit::Count).joined(),
        unit => quantity(value, unit).joined(),
    }
}

fn mark(chosen: bool, glyphs: &Glyphs) -> &'static str {
    match (glyphs.unicode, chosen) {
        (true, true) => "◆",
        (true, false) => "●",
        (false, true) => "@",
        (false, false) => "o",
    }
}
