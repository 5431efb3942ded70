//! The flame graphs of the page: differences are our own pictures, the other flame graphs are in iframes. The iframes
//! are sandboxed, so their scripts cannot reach the page. Only the search prompt is allowed.

use crate::error::Result;
use crate::export::diff_flamegraph;
use crate::export::markup::{attribute, escaped};
use crate::export::svg::{self, SvgOptions};
use crate::view::diff_flamegraph::{CostAxis, DiffFlameGraph};
use crate::view::flame::FlameGraph;
use crate::view::sweep::SweepReport;

pub(super) fn differences(report: &SweepReport) -> String {
    let both = [&report.cpu, &report.blocked];
    both.into_iter().flatten().map(one).collect()
}

fn one(difference: &DiffFlameGraph) -> String {
    let (title, what, id) = match difference.axis {
        CostAxis::Cpu => ("What changed on the CPU", "on the CPU", "gone-cpu"),
        CostAxis::Blocked => ("What changed off the CPU", "blocked", "gone-blocked"),
    };
    let about = format!("what an operation costs {what}, n = {} against n = {}", difference.n, difference.base_n);
    figure(difference, title, &about, id)
}

/// A differential flame graph of call paths by what `about` says; `id` is unique in the page.
pub(super) fn figure(graph: &DiffFlameGraph, title: &str, about: &str, id: &str) -> String {
    format!(
        "<section><h2>{title}</h2><p class=\"about\">Call paths by {about}. A cell is as wide as the larger of its two costs, \
         so that what is gone shows too. Hover for the numbers, click to zoom.</p>\
         <figure>{}<figcaption>{}</figcaption></figure></section>\n",
        diff_flamegraph::embedded(graph, id),
        escaped(&diff_flamegraph::caption(graph))
    )
}

pub(super) fn section(report: &SweepReport) -> Result<String> {
    if report.flames.is_empty() {
        return Ok(String::new());
    }
    let mut out = String::from("<section><h2>Flame graphs</h2>");
    out.push_str("<p class=\"about\">CPU time by call path. Click a cell to zoom, Ctrl-F inside to search.</p>");
    for (n, flame) in &report.flames {
        out.push_str(&frame(*n, flame)?);
    }
    Ok(out + "</section>")
}

fn frame(n: u32, flame: &FlameGraph) -> Result<String> {
    let bytes = svg::render(flame, &SvgOptions::default())?;
    let text = String::from_utf8_lossy(&bytes);
    // The prologue is only for separate files.
    let picture = text.find("<svg").map_or("", |at| &text[at..]);
    let height = picture.split_once(" height=\"").and_then(|(_, rest)| rest.split('"').next()?.parse::<f64>().ok());
    // The script writes the zoom state into the address, which a frame without an address refuses.
    let page = format!(
        "<!DOCTYPE html><meta charset=\"utf-8\"><title>Flame graph</title><style>body{{margin:0}}body>svg{{display:block;width:100%}}</style>\
         <script>history.replaceState=function(){{}}</script>{picture}"
    );
    Ok(format!(
        "<figure><figcaption>n = {n}</figcaption><iframe title=\"Flame graph at n = {n}\" sandbox=\"allow-scripts allow-modals\" \
         height=\"{}\" srcdoc=\"{}\"></iframe></figure>",
        height.unwrap_or(600.0).ceil(),
        attribute(&page)
    ))
}
