//! Throughput by width, drawn in characters, and the law it follows.
//! The law is drawn only over the widths it was fitted on.

use crate::export::column_format::ColumnFormat;
use crate::export::columns::{left, right, width};
use crate::export::text::page::{Ink, Page};
use crate::model::Unit;
use crate::view::sweep::{SweepView, words};

const ROWS: usize = 12;
const MEASURED: char = '●';
const LAW: char = '─';
const IDEAL: char = '·';

/// The drawing area: rows of characters, the top one first.
struct Canvas {
    rows: Vec<Vec<char>>,
    columns: usize,
    most_n: f64,
    most_x: f64,
}

impl Canvas {
    /// The lower left corner is zero throughput at zero width.
    fn put(&mut self, n: f64, x: f64, mark: char) {
        let (column, row) = (self.column(n), (x / self.most_x * ROWS as f64).floor());
        if x < 0.0 || !(0.0..ROWS as f64).contains(&row) || column >= self.columns {
            return;
        }
        let at = &mut self.rows[ROWS - 1 - row as usize][column];
        // Measured points cover the law, and the law covers the ideal.
        let rank = |mark: char| [' ', IDEAL, LAW, MEASURED].iter().position(|known| *known == mark);
        if rank(mark) > rank(*at) {
            *at = mark;
        }
    }

    fn column(&self, n: f64) -> usize {
        (n / self.most_n * (self.columns - 1) as f64).round() as usize
    }

    fn n(&self, column: usize) -> f64 {
        column as f64 / (self.columns - 1) as f64 * self.most_n
    }
}

pub(super) fn write(page: &mut Page, view: &SweepView) {
    let points: Vec<(f64, f64)> = view
        .points
        .iter()
        .filter_map(|point| Some((f64::from(point.n), point.values.get("ops_per_s")?.mean()?)))
        .filter(|(_, x)| x.is_finite() && *x > 0.0)
        .collect();
    if points.len() >= 2 {
        draw(page, view, &points);
    }
    match words::chosen(&view.fits) {
        Some(fit) => page.paragraph("  USL: ", &words::law(fit), None),
        None => page.paragraph("  USL: ", "not fitted: needs five widths of one region", None),
    }
}

fn draw(page: &mut Page, view: &SweepView, points: &[(f64, f64)]) {
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0_f64, f64::max);
    let (most_n, most_x) = (most(&mut points.iter().map(|p| p.0)), most(&mut points.iter().map(|p| p.1)));
    let fit = words::chosen(&view.fits).and_then(|fit| Some((fit, fit.law.as_ref().ok()?)));
    let unit = ColumnFormat::of(Unit::PerSecond, points.iter().map(|p| p.1));
    let label = width(&unit.show(most_x)) + 2;
    let columns = page.width.saturating_sub(label + 4).clamp(2, 72);
    let mut canvas = Canvas { rows: vec![vec![' '; columns]; ROWS], columns, most_n, most_x: most_x * 1.08 };
    let base = view.base.and_then(|base| points.iter().find(|(n, _)| *n == f64::from(base)));
    for column in 0..columns {
        let n = canvas.n(column);
        if let Some((base, x)) = base.filter(|_| column % 2 == 0) {
            canvas.put(n, n * x / base, IDEAL);
        }
        let inside = |fit: &crate::view::sweep::RegionFit| {
            let ends = fit.widths.first().zip(fit.widths.last());
            ends.is_some_and(|(first, last)| (f64::from(*first)..=f64::from(*last)).contains(&n))
        };
        if let Some((_, law)) = fit.filter(|(fit, _)| inside(fit)) {
            canvas.put(n, words::by_law(law, n), LAW);
        }
    }
    points.iter().for_each(|(n, x)| canvas.put(*n, *x, MEASURED));
    let legend = if fit.is_some() { format!("  {LAW} law") } else { String::new() };
    page.heading("Throughput", &format!("ops/s in {}: {MEASURED} measured  {IDEAL} ideal{legend}", unit.unit));
    for (at, row) in canvas.rows.iter().enumerate() {
        let value = canvas.most_x * (ROWS - at) as f64 / ROWS as f64;
        let value = if at % 4 == 0 { unit.show(value) } else { String::new() };
        let line: String = row.iter().collect();
        page.line(&format!("{} {} {line}", right(&value, label), page.paint(Ink::Quiet, "│")));
    }
    let axis = page.paint(Ink::Quiet, &format!("└{}", "─".repeat(columns)));
    page.line(&format!("{} {axis}", right("0", label)));
    page.line(&format!("{}  {}", " ".repeat(label), ticks(&canvas, points)));
}

/// The widths below the axis without those that would overlap; the last is always shown.
fn ticks(canvas: &Canvas, points: &[(f64, f64)]) -> String {
    let last = points.last().map_or(0.0, |(n, _)| *n);
    let end = (canvas.column(last) + 1).saturating_sub(last.to_string().len());
    let mut line = String::from(" n =");
    for (n, _) in points {
        let text = n.to_string();
        let from = (canvas.column(*n) + 1).saturating_sub(text.len() / 2);
        let room = *n == last || from + text.len() < end;
        if from > width(&line) && room {
            line = format!("{}{text}", left(&line, from));
        }
    }
    line
}
