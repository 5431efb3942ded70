//! The tables of the page, each with a caption and headings that a screen reader can follow.
//! Missing values are not shown as numbers.

use crate::export::column_format::{ColumnFormat, cost};
use crate::export::markup::escaped;
use crate::view::CodeKind;
use crate::view::number::percent;
use crate::view::sweep::latency;
use crate::view::sweep::{Column, LossRow, PointView, SweepView, Value, words};

/// Maximum rows of a table of losses.
const MOST: usize = 25;
/// Maximum columns that fit into a page, including intervals.
const MOST_COLUMNS: usize = 8;

/// A table under construction. Cells are HTML already; captions and row names are text.
pub(super) struct Html {
    out: String,
    names: usize,
}

impl Html {
    pub fn table(caption: &str) -> Html {
        let out = format!("<div class=\"scroll\"><table><caption>{}</caption>", escaped(caption));
        Html { out, names: 1 }
    }

    /// The headings; the first `names` columns hold names.
    pub fn head(&mut self, cells: impl Iterator<Item = String>, names: usize) {
        self.names = names;
        self.out.push_str("<thead><tr>");
        for (at, cell) in cells.enumerate() {
            let class = self.class(at);
            self.out.push_str(&format!("<th scope=\"col\"{class}>{cell}</th>"));
        }
        self.out.push_str("</tr></thead><tbody>");
    }

    pub fn row(&mut self, name: &str, cells: impl Iterator<Item = String>) {
        self.out.push_str(&format!("<tr><th scope=\"row\" class=\"name\">{}</th>", escaped(name)));
        for (at, cell) in cells.enumerate() {
            let class = self.class(at + 1);
            self.out.push_str(&format!("<td{class}>{cell}</td>"));
        }
        self.out.push_str("</tr>\n");
    }

    fn class(&self, at: usize) -> &'static str {
        if at < self.names { " class=\"name\"" } else { "" }
    }

    pub fn finish(self) -> String {
        self.out + "</tbody></table></div>"
    }
}

pub(super) fn points(view: &SweepView) -> String {
    if view.points.is_empty() {
        return "<p>No run is over.</p>".to_string();
    }
    let (columns, gaps) = words::table(view);
    let tables = columns.len().div_ceil(MOST_COLUMNS).max(1);
    let caption = "Means over the runs; ± is half the width of the 95% confidence interval";
    let blocks = columns.chunks(columns.len().div_ceil(tables).max(1)).enumerate();
    let captions = |at| if at == 0 { caption } else { "The same runs, further columns" };
    let tables: String = blocks.map(|(at, block)| block_of(view, block, captions(at))).collect();
    let gaps: String = gaps.iter().map(|gap| format!("<p class=\"about\">{}</p>", escaped(&gap.text()))).collect();
    tables + &gaps
}

/// Latency against width and load; nothing if it was not measured.
pub(super) fn latencies(view: &SweepView) -> String {
    let Some(about) = latency::about(view) else { return String::new() };
    let mut table = Html::table(&format!("Latency {about}"));
    table.head(latency::CAPTIONS.iter().map(|caption| (*caption).to_string()), 1);
    for [n, cells @ ..] in latency::rows(view) {
        table.row(&n, cells.iter().map(|cell| escaped(cell)));
    }
    table.finish()
}

fn block_of(view: &SweepView, columns: &[&Column], caption: &str) -> String {
    let means = |column: &Column| view.points.iter().filter_map(|point| point.values.get(column.name)?.mean());
    let shapes: Vec<ColumnFormat> = columns.iter().map(|column| ColumnFormat::of(column.unit, means(column))).collect();
    let heads = columns.iter().zip(&shapes).map(|(column, shape)| {
        let unit = shape.unit.trim_end_matches("/s");
        if unit.is_empty() { column.label.to_string() } else { format!("{}<br>{unit}", column.label) }
    });
    let mut table = Html::table(caption);
    table.head(["n", "region", "runs"].map(str::to_string).into_iter().chain(heads), 2);
    for point in &view.points {
        let first = [escaped(&point.region.label()), point.runs.to_string()];
        let cells = columns.iter().zip(&shapes).map(|(column, shape)| cell(view, point, column, shape));
        table.row(&point.n.to_string(), first.into_iter().chain(cells));
    }
    table.finish()
}

fn cell(view: &SweepView, point: &PointView, column: &Column, shape: &ColumnFormat) -> String {
    match point.values.get(column.name) {
        Some(Value::Known { mean, half: Some(half) }) => {
            format!("{}<small>±{}</small>", shape.show(mean), shape.show(half))
        }
        Some(Value::Known { mean, half: None }) => shape.show(mean),
        _ => format!("<span title=\"{}\">-</span>", words::missing(view, point, column).map_or(String::new(), escaped)),
    }
}

pub(super) fn losses(view: &SweepView) -> String {
    let Some((loss, base)) = view.losses.last().zip(view.base) else { return String::new() };
    let caption = |what: &str, unit: &str, before: f64, here: f64| {
        let (before, here) = (cost(before, unit), cost(here, unit));
        format!("{what} per op, n = {base} to {}: {before} to {here}; growth ± two standard errors", loss.n)
    };
    let unit = view.cost_unit;
    let what = if unit == "ns" { "CPU time" } else { "Cycles" };
    let mut out = String::from("<section><h2>Code that costs more</h2>");
    out.push_str(&loss_table(&caption(what, unit, loss.base, loss.here), &loss.functions, unit));
    if let Some((before, here)) = loss.blocked {
        out.push_str("</section><section><h2>Waits that cost more</h2>");
        out.push_str(&loss_table(&caption("Time blocked", "ns", before, here), &loss.waits, "ns"));
    }
    out + "</section>"
}

fn loss_table(caption: &str, rows: &[LossRow], unit: &str) -> String {
    let real: Vec<&LossRow> = rows.iter().filter(|row| row.is_real()).collect();
    if real.is_empty() {
        return format!("<p class=\"about\">{}: nothing beyond what chance may do.</p>", escaped(caption));
    }
    let shown = &real[..real.len().min(MOST)];
    let shape = ColumnFormat::cost(unit, shown.iter().map(|row| row.growth()));
    let mut table = Html::table(caption);
    let costs = ["growth", "base", "here"].map(|head| format!("{head}<br>{}", shape.unit));
    let heads = ["function", "module"].map(str::to_string).into_iter().chain(costs);
    table.head(heads.chain(["of loss".to_string()]), 2);
    for row in shown {
        table.row(&row.function.name, cells(row, &shape).into_iter());
    }
    let others = rows.len() - shown.len();
    let more = if others > 0 {
        format!("<p class=\"about\">and {others} more: smaller, or within what chance may do</p>")
    } else {
        String::new()
    };
    table.finish() + &more
}

fn cells(row: &LossRow, shape: &ColumnFormat) -> [String; 5] {
    let place = match row.function.kind {
        CodeKind::Kernel => " (kernel)",
        CodeKind::Jit => " (JIT)",
        CodeKind::User | CodeKind::Heading => "",
    };
    let growth = row.growth();
    let (sign, class) = if growth > 0.0 { ("+", "") } else { ("", " class=\"less\"") };
    [
        format!("{}{place}", escaped(&row.function.module)),
        format!("<span{class}>{sign}{}</span><small>±{}</small>", shape.show(growth), shape.show(2.0 * row.error)),
        shape.show(row.base),
        shape.show(row.here),
        row.share.map_or("-".to_string(), |share| percent(share).joined()),
    ]
}
