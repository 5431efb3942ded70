//! Throughput by width as an SVG: measured, by the law, and ideal, with every core as productive as the first.
//! The law's scatter is drawn only over the widths it was fitted on.

use crate::export::column_format::ColumnFormat;
use crate::export::markup::{escaped, px};
use crate::model::{Region, Unit};
use crate::view::sweep::{RegionFit, SweepView, Usl, Value, words};

const WIDTH: f64 = 1100.0;
const HEIGHT: f64 = 420.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 46.0;
/// Straight segments of a curve.
const PIECES: u32 = 120;

/// A measured point.
struct Dot {
    n: u32,
    region: Region,
    x: f64,
    half: Option<f64>,
}

struct Axes {
    most_n: f64,
    most_x: f64,
    unit: ColumnFormat,
}

impl Axes {
    fn across(&self, n: f64) -> f64 {
        LEFT + n / self.most_n * (WIDTH - LEFT - RIGHT)
    }

    fn up(&self, x: f64) -> f64 {
        HEIGHT - BOTTOM - x / self.most_x * (HEIGHT - TOP - BOTTOM)
    }
}

pub(super) fn section(view: &SweepView) -> String {
    let dots: Vec<Dot> = view
        .points
        .iter()
        .filter_map(|point| {
            let Value::Known { mean, half } = point.values.get("ops_per_s")? else { return None };
            (mean.is_finite() && mean > 0.0).then_some(Dot { n: point.n, region: point.region, x: mean, half })
        })
        .collect();
    let law = words::chosen(&view.fits).map_or("not fitted: nothing to fit".to_string(), words::law);
    let law = format!("<p><strong>Universal scalability law:</strong> {}</p>", escaped(&law));
    let picture = if dots.is_empty() { String::new() } else { figure(view, &dots) };
    let others = view.fits.iter().filter(|fit| Some(*fit) != words::chosen(&view.fits));
    let others: String = others
        .map(|fit| format!("<p class=\"about\">{}: {}</p>", fit.region.label(), escaped(&words::law(fit))))
        .collect();
    format!("<section><h2>Scaling</h2>{picture}{law}{others}</section>")
}

fn figure(view: &SweepView, dots: &[Dot]) -> String {
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0_f64, f64::max);
    let axes = Axes {
        most_n: most(&mut dots.iter().map(|dot| f64::from(dot.n))) * 1.04,
        most_x: most(&mut dots.iter().map(|dot| dot.x + dot.half.unwrap_or(0.0))) * 1.12,
        unit: ColumnFormat::of(Unit::PerSecond, dots.iter().map(|dot| dot.x)),
    };
    let mut out = format!(
        "<figure><svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" font-size=\"12\"><title>Throughput by number of {}</title>",
        words::width(view.width)
    );
    regions(&mut out, &axes, dots);
    grid(&mut out, &axes, dots, words::width(view.width));
    let base = view.base.and_then(|base| dots.iter().find(|dot| dot.n == base));
    if let Some(base) = base {
        let per_core = base.x / f64::from(base.n);
        let end = axes.most_n.min(axes.most_x / per_core);
        line(&mut out, &axes, "ideal", (0.0, end), &|n| n * per_core, "ideal: every one as fast as the base");
    }
    if let Some((fit, law)) = words::chosen(&view.fits).and_then(|fit| Some((fit, fit.law.as_ref().ok()?))) {
        curve(&mut out, &axes, fit, law);
    }
    dots.iter().for_each(|dot| mark(&mut out, &axes, dot));
    let law = if view.fits.iter().any(|fit| fit.law.is_ok()) {
        "Blue line: the law, dotted beyond the widths it was fitted on; shade: where 95% of further runs would lie. "
    } else {
        ""
    };
    out.push_str(&format!(
        "</svg><figcaption>Dots: means over the runs with their 95% intervals. Dashed: ideal. {law}</figcaption></figure>"
    ));
    out
}

/// A panel behind the widths of each region, with its name on top; the first region has no panel.
fn regions(out: &mut String, axes: &Axes, dots: &[Dot]) {
    let mut from = 0.0;
    for (at, dot) in dots.iter().enumerate() {
        let next = dots.get(at + 1);
        if next.is_some_and(|next| next.region == dot.region) {
            continue;
        }
        let to = next.map_or(axes.most_n, |next| f64::from(dot.n + next.n) / 2.0);
        let (left, right) = (axes.across(from), axes.across(to));
        if from > 0.0 {
            out.push_str(&format!(
                "<rect class=\"region\" x=\"{}\" y=\"{TOP}\" width=\"{}\" height=\"{}\"/>",
                px(left),
                px(right - left),
                px(HEIGHT - TOP - BOTTOM)
            ));
        }
        let (x, name) = (px((left + right) / 2.0), escaped(&dot.region.label()));
        out.push_str(&format!(
            "<text class=\"label\" x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{name}</text>",
            TOP - 8.0
        ));
        from = to;
    }
}

fn grid(out: &mut String, axes: &Axes, dots: &[Dot], what: &str) {
    let step = step(axes.most_x);
    let values: Vec<f64> = (0..=20).map(|at| f64::from(at) * step).take_while(|x| *x <= axes.most_x).collect();
    for x in values {
        let y = px(axes.up(x));
        out.push_str(&format!(
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{y}\" y2=\"{y}\"/>\
             <text class=\"label\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            px(axes.up(x) + 4.0),
            axes.unit.show(x)
        ));
    }
    let floor = HEIGHT - BOTTOM;
    out.push_str(&format!("<path class=\"axis\" d=\"M{LEFT} {TOP}V{floor}H{}\"/>", WIDTH - RIGHT));
    let mut last = f64::NEG_INFINITY;
    for dot in dots {
        let x = axes.across(f64::from(dot.n));
        // Four-digit labels must not overlap.
        if x - last >= 30.0 {
            out.push_str(&format!(
                "<text class=\"label\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
                px(x),
                floor + 18.0,
                dot.n
            ));
            last = x;
        }
    }
    let middle = px((LEFT + WIDTH - RIGHT) / 2.0);
    out.push_str(&format!(
        "<text class=\"label\" x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{what}</text>\
         <text class=\"label\" x=\"4\" y=\"{}\">ops/s in {}</text>",
        floor + 38.0,
        TOP - 8.0,
        axes.unit.unit
    ));
}

/// About five steps of 1, 2 or 5 times a power of ten.
fn step(most: f64) -> f64 {
    let power = 10_f64.powf((most / 5.0).log10().floor());
    [1.0, 2.0, 5.0, 10.0].iter().map(|factor| factor * power).find(|step| most / step <= 6.0).unwrap_or(most)
}

fn line(out: &mut String, axes: &Axes, class: &str, (from, to): (f64, f64), of: &dyn Fn(f64) -> f64, title: &str) {
    let at = |piece: u32| from + (to - from) * f64::from(piece) / f64::from(PIECES);
    let point = |n: f64| format!("{} {}", px(axes.across(n)), px(axes.up(of(n).clamp(0.0, axes.most_x))));
    let points: Vec<String> = (0..=PIECES).map(|piece| point(at(piece))).collect();
    out.push_str(&format!("<path class=\"{class}\" d=\"M{}\"><title>{title}</title></path>", points.join("L")));
}

fn curve(out: &mut String, axes: &Axes, fit: &RegionFit, law: &Usl) {
    let Some((first, last)) = fit.widths.first().zip(fit.widths.last()) else { return };
    let inside = (f64::from(*first), f64::from(*last));
    let by_law = |n: f64| words::by_law(law, n);
    if let Some(scatter) = words::scatter(law) {
        let at = |piece: u32| inside.0 + (inside.1 - inside.0) * f64::from(piece) / f64::from(PIECES);
        let point = |n: f64, sign: f64| {
            format!("{} {}", px(axes.across(n)), px(axes.up((by_law(n) + sign * scatter).clamp(0.0, axes.most_x))))
        };
        let over = (0..=PIECES).map(|piece| point(at(piece), 1.0));
        let points: Vec<String> = over.chain((0..=PIECES).rev().map(|piece| point(at(piece), -1.0))).collect();
        out.push_str(&format!("<path class=\"band\" d=\"M{}Z\"/>", points.join("L")));
    }
    line(out, axes, "law", inside, &by_law, "the law");
    line(out, axes, "beyond", (inside.1, axes.most_n), &by_law, "the law beyond what it was fitted on");
    if let Some((n, x)) = words::peak_point(law).filter(|(n, x)| *n <= axes.most_n && *x <= axes.most_x) {
        let (across, up) = (axes.across(n), axes.up(x));
        out.push_str(&format!(
            "<path class=\"beyond\" d=\"M{0} {1}V{2}\"/><text class=\"label\" x=\"{0}\" y=\"{3}\" text-anchor=\"middle\">\
             peak by the law</text>",
            px(across),
            px(up),
            HEIGHT - BOTTOM,
            px(up - 14.0)
        ));
    }
}

fn mark(out: &mut String, axes: &Axes, dot: &Dot) {
    let (x, y) = (axes.across(f64::from(dot.n)), axes.up(dot.x));
    let interval = dot.half.map_or(String::new(), |half| format!(" ±{}", axes.unit.show(half)));
    out.push_str(&format!(
        "<g><title>n = {}: {}{interval} {} ops/s</title>",
        dot.n,
        axes.unit.show(dot.x),
        axes.unit.unit.trim_end_matches("/s")
    ));
    if let Some(half) = dot.half {
        let (high, low) = (px(axes.up(dot.x + half)), px(axes.up((dot.x - half).max(0.0))));
        let (left, right) = (px(x - 5.0), px(x + 5.0));
        out.push_str(&format!(
            "<path class=\"bar\" d=\"M{left} {high}H{right}M{left} {low}H{right}M{0} {high}V{low}\"/>",
            px(x)
        ));
    }
    // The regions differ in the shape of the marks as well as in position.
    let (x, y) = (px(x), px(y));
    out.push_str(&match dot.region {
        Region::Cores | Region::Unplaced => format!("<circle class=\"mark\" cx=\"{x}\" cy=\"{y}\" r=\"5.5\"/>"),
        Region::Smt => format!("<path class=\"mark\" d=\"M{x} {y}m-5 -5h10v10h-10z\"/>"),
        Region::Nodes(_) | Region::Oversubscribed => {
            format!("<path class=\"mark\" d=\"M{x} {y}m0 -7l7 7l-7 7l-7 -7z\"/>")
        }
    });
    out.push_str("</g>");
}

/// Size of the picture of an interval.
const INTERVAL_WIDTH: f64 = 170.0;
const INTERVAL_HEIGHT: f64 = 14.0;
/// Space for the dot at the edge.
const EDGE: f64 = 5.0;

/// Draws a dot at `value`, a whisker between `ends`, and zero in the middle. The scale extends to `most` on either
/// side; an end beyond it is cut off without a cap. Callers print the numbers next to it.
pub(super) fn interval(value: f64, ends: Option<(f64, f64)>, most: f64) -> String {
    let middle = INTERVAL_WIDTH / 2.0;
    let across = |value: f64| middle + (value / most).clamp(-1.0, 1.0) * (middle - EDGE);
    if !value.is_finite() || most <= 0.0 || !most.is_finite() {
        return String::new();
    }
    let (up, down, line) = (INTERVAL_HEIGHT / 2.0 - 4.0, INTERVAL_HEIGHT / 2.0 + 4.0, INTERVAL_HEIGHT / 2.0);
    let whisker =
        ends.filter(|(low, high)| low.is_finite() && high.is_finite()).map_or(String::new(), |(low, high)| {
            let cap = |end: f64| {
                let x = px(across(end));
                if end.abs() <= most { format!("M{x} {up}V{down}") } else { String::new() }
            };
            format!(
                "<path class=\"span\" d=\"M{} {line}H{}{}{}\"/>",
                px(across(low)),
                px(across(high)),
                cap(low),
                cap(high)
            )
        });
    format!(
        "<svg class=\"interval\" viewBox=\"0 0 {INTERVAL_WIDTH} {INTERVAL_HEIGHT}\" aria-hidden=\"true\">\
         <path class=\"zero\" d=\"M{middle} 0V{INTERVAL_HEIGHT}\"/>{whisker}<circle class=\"dot\" cx=\"{}\" cy=\"{line}\" r=\"3\"/></svg>",
        px(across(value))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_in_the_middle_and_what_is_beyond_the_scale_is_cut_off_without_a_cap() {
        let inside = interval(0.1, Some((0.05, 0.15)), 0.2);
        assert!(inside.contains("cx=\"125\"") && inside.matches(['V']).count() == 3, "{inside}");
        let beyond = interval(-0.02, Some((-0.9, 0.9)), 0.2);
        assert!(beyond.contains("M5 7H165") && beyond.matches(['V']).count() == 1, "{beyond}");
        assert_eq!((interval(f64::NAN, None, 1.0), interval(1.0, None, 0.0)), (String::new(), String::new()));
    }
}
