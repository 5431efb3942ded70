//! Which code changed, as tables with error bars and as differential flame graphs.
//! Changes that chance may explain are only in the flame graph, where their mark shows it.

use crate::export::diff::{real, with_inlined};
use crate::export::html::chart::interval;
use crate::export::html::flames::figure;
use crate::export::html::tables::Html;
use crate::export::markup::escaped;
use crate::view::CodeKind;
use crate::view::diff::words::{cost, growth};
use crate::view::diff::{CodeRow, CodeView, ComparisonView, most, words};
use crate::view::diff_flamegraph::{CostAxis, DiffFlameGraph};

/// Maximum rows of a table.
const MOST: usize = 40;
const MOST_PATHS: usize = 10;

pub(super) fn section(found: &ComparisonView) -> String {
    let Some(code) = &found.code else {
        let why = found.code_missing.unwrap_or("not compared");
        return format!("<section><h2>Code</h2><p class=\"about\">Not compared: {}.</p></section>", escaped(why));
    };
    let [base, new] = code.whole.map(|whole| cost(code.unit, whole));
    let about = format!("{}: {base} -> {new}", words::code_cost(code));
    let renamed = code
        .renamed_modules
        .iter()
        .map(|module| format!("<p class=\"about\">{}</p>", escaped(&words::renamed(module))));
    let mut out = format!("<section><h2>Code</h2><p class=\"about\">{}</p>", escaped(&about));
    out.extend(renamed);
    out += &rows("Functions by the cost of their own code; ± two standard errors", code.unit, &code.functions);
    out += &paths(code);
    if code.waits.iter().any(|row| row.real) {
        out += "</section><section><h2>Waits</h2>";
        out += &rows("Time blocked, by the program's own function; ± two standard errors", "ns", &code.waits);
    }
    out + "</section>"
}

fn rows(caption: &str, unit: &str, all: &[CodeRow]) -> String {
    let (shown, more) = real(all, MOST);
    if shown.is_empty() {
        return "<p class=\"about\">No function changed beyond what chance may do.</p>".to_string();
    }
    let mut table = Html::table(caption);
    let heads = ["function", "module", "base", "new", "change", "", "by", "of the change"];
    table.head(heads.map(str::to_string).into_iter(), 2);
    let scale = most(shown.iter().map(|row| row.on_scale()));
    for (lead, row) in with_inlined(&shown) {
        let module = match row.kind {
            CodeKind::Kernel => format!("{} (kernel)", row.module),
            CodeKind::Jit => format!("{} (JIT)", row.module),
            CodeKind::User | CodeKind::Heading => row.module.clone(),
        };
        let class = if row.difference < 0.0 { " class=\"less\"" } else { "" };
        let cells = [
            escaped(&module),
            cost(unit, row.base),
            cost(unit, row.new),
            format!("<span{class}>{}</span><small>±{}</small>", growth(unit, row), cost(unit, 2.0 * row.error)),
            interval(row.difference, row.on_scale().1, scale),
            if row.state == "changed" { words::relative(row.new / row.base - 1.0) } else { row.state.to_string() },
            row.share.map_or("-".to_string(), |share| crate::view::number::percent(share).joined()),
        ];
        table.row(&format!("{lead}{}", row.name), cells.into_iter());
    }
    let chance = all.iter().filter(|row| !row.real).count();
    let more = if more > 0 { format!("{more} more changed; ") } else { String::new() };
    table.finish() + &format!("<p class=\"about\">{more}{chance} are within what chance may do.</p>")
}

/// The call paths that changed most, innermost function first.
fn paths(code: &CodeView) -> String {
    let (shown, _) = real(&code.paths, MOST_PATHS);
    if shown.is_empty() {
        return String::new();
    }
    let mut table = Html::table("Call paths that changed most, innermost function first");
    table.head(["path", "change"].map(str::to_string).into_iter(), 1);
    for row in shown {
        let names: Vec<&str> = std::iter::once(&row.name).chain(row.callers.iter().rev()).map(String::as_str).collect();
        table.row(&names.join(" < "), std::iter::once(growth(code.unit, row)));
    }
    table.finish()
}

pub(super) fn flames(found: &ComparisonView, at: usize) -> String {
    found.flame_graphs.iter().map(|graph| flame(graph, at)).collect()
}

fn flame(graph: &DiffFlameGraph, at: usize) -> String {
    let (title, id) = match graph.axis {
        CostAxis::Cpu => ("What changed on the CPU", format!("gone-cpu-{at}")),
        CostAxis::Blocked => ("What changed off the CPU", format!("gone-blocked-{at}")),
    };
    figure(graph, title, "their cost", &id)
}
