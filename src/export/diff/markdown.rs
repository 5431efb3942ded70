//! A comparison as a comment on a merge request: the answer and the gate first, tables folded below.
//! Names are in code spans, so they cannot act as markup.

use super::{real, with_inlined};
use crate::export::inert;
use crate::export::markdown::{code, plain};
use crate::view::diff::words::{cost, growth, value};
use crate::view::diff::{CodeRow, CodeView, ComparisonView, DiffView, GateStatus, words};
use crate::view::number::{percent, seconds};

/// The comparison as UTF-8 Markdown, with at most `limit` functions (0: all).
#[must_use]
pub fn markdown(view: &DiffView, limit: usize) -> Vec<u8> {
    let mut out = String::new();
    for comparison in &view.comparisons {
        let title = format!("{} -> {}", code(&words::label(&view.base)), code(&words::label(&comparison.new)));
        out.push_str(&format!("## ironlaw diff: {title}\n\n"));
        answer(&mut out, comparison);
        expectations(&mut out, comparison);
        gates(&mut out, comparison);
        mismatches(&mut out, comparison);
        factors(&mut out, comparison);
        if let Some(view) = &comparison.code {
            functions(&mut out, view, limit);
        }
        quantities(&mut out, comparison);
        out.push_str(&format!("\n<sub>{}</sub>\n\n", plain(&words::settings(&view.settings))));
    }
    inert::document(out)
}

fn answer(out: &mut String, comparison: &ComparisonView) {
    for (at, sentence) in comparison.headline.iter().enumerate() {
        let text = plain(sentence);
        out.push_str(&if at == 0 { format!("**{text}**\n\n") } else { format!("{text} ") });
    }
    out.push_str(&format!("Load: {}.\n", plain(&comparison.load_text)));
}

fn expectations(out: &mut String, comparison: &ComparisonView) {
    if comparison.expectations.is_empty() {
        return;
    }
    out.push_str("\n| expected | |\n|---|---|\n");
    for row in &comparison.expectations {
        out.push_str(&format!("| {} | {} |\n", code(&row.text), plain(&words::expectation(row))));
    }
}

fn gates(out: &mut String, comparison: &ComparisonView) {
    if comparison.gates.is_empty() {
        return;
    }
    out.push_str("\n| gate | | |\n|---|---|---|\n");
    for gate in &comparison.gates {
        let mark = match (gate.passes, gate.status) {
            (true, _) => "pass",
            (false, GateStatus::Undecided) => "**undecided**",
            (false, _) => "**fail**",
        };
        out.push_str(&format!("| {} | {mark} | {} |\n", code(&gate.text), plain(&words::gate(gate))));
    }
}

fn mismatches(out: &mut String, comparison: &ComparisonView) {
    for mismatch in &comparison.mismatches {
        let text = format!("{} ({})", words::mismatch(mismatch), words::severity(mismatch.severity));
        out.push_str(&format!("\n> mismatch: {}\n", plain(&text)));
    }
}

fn factors(out: &mut String, comparison: &ComparisonView) {
    let view = &comparison.factors;
    let Some([base, new]) = view.ns_per_op else { return };
    let times = [base, new].map(|ns| seconds(ns * 1e-9).joined());
    out.push_str(&format!(
        "\n### What made the difference\n\nA thread's time per operation: {} -> {}\n\n",
        times[0], times[1]
    ));
    out.push_str("| factor | base | new | time | share | per op |\n|---|---:|---:|---:|---:|---:|\n");
    for part in &view.parts {
        let value = |at: usize| part.values[at].map_or("-".to_string(), |v| words::factor_value(part.factor, v));
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            plain(part.label),
            value(0),
            value(1),
            words::relative(part.ratio - 1.0),
            part.share.map_or("-".to_string(), |share| percent(share).joined()),
            words::amount(part)
        ));
    }
}

fn functions(out: &mut String, view: &CodeView, limit: usize) {
    let (shown, more) = real(&view.functions, limit);
    let [base, new] = view.whole.map(|whole| cost(view.unit, whole));
    out.push_str(&format!("\n### Code\n\n{}: {base} -> {new}\n\n", words::code_cost(view)));
    if shown.is_empty() {
        out.push_str("No function changed beyond what chance may do.\n");
        return;
    }
    out.push_str("| function | module | base | new | change | ± |\n|---|---|---:|---:|---:|---:|\n");
    for (lead, row) in with_inlined(&shown) {
        out.push_str(&line(view, lead, row));
    }
    if more > 0 {
        out.push_str(&format!("\n{more} more changed.\n"));
    }
}

fn line(view: &CodeView, lead: &str, row: &CodeRow) -> String {
    let state = if row.state == "changed" { String::new() } else { format!(", {}", row.state) };
    let unit = view.unit;
    let cells = [cost(unit, row.base), cost(unit, row.new), growth(unit, row) + &state, cost(unit, 2.0 * row.error)];
    format!("| {lead}{} | {} | {} |\n", code(&row.name), code(&row.module), cells.join(" | "))
}

fn quantities(out: &mut String, comparison: &ComparisonView) {
    out.push_str("\n<details><summary>Quantities</summary>\n\n");
    out.push_str("| quantity | base | new | change | interval | verdict | at the same load |\n|---|---:|---:|---:|---:|---|---:|\n");
    for row in comparison.notable_rows() {
        let load = comparison.at_same_load(row.name);
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {} | {} |\n",
            code(row.name),
            value(row, &row.base),
            value(row, &row.new),
            words::own_change(row).unwrap_or("-".to_string()),
            words::interval(row).unwrap_or("-".to_string()),
            words::verdict(row),
            load.and_then(words::own_change).unwrap_or_default()
        ));
    }
    for (reason, names) in comparison.missing() {
        let names: Vec<String> = names.into_iter().map(code).collect();
        out.push_str(&format!("\nNot compared: {}: {}\n", names.join(", "), plain(reason)));
    }
    out.push_str("\n</details>\n");
}
