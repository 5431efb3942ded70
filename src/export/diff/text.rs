//! A comparison for people, on one page: the answer in sentences, then the evidence.
//! Code changes that chance may explain are left out.

use super::{real, with_inlined};
use crate::export::columns::{chain, function, left, middle, right, width};
use crate::export::text::Style;
use crate::export::text::page::{Ink, Page};
use crate::view::CodeKind;
use crate::view::diff::words::{cost, growth, value};
use crate::view::diff::{
    CodeRow, CodeView, ComparisonView, DiffView, ExpectationRow, GateRow, Outcome, RecordingView, Severity, SideView,
    words,
};
use crate::view::escape::visible;
use crate::view::number::{date, percent, seconds};

/// Columns of the modules that names leave on a narrow terminal.
const MODULE: usize = 16;
/// Call paths shown.
const PATHS: usize = 5;

/// The comparison as UTF-8 text, with at most `limit` functions (0: all).
#[must_use]
pub fn text(view: &DiffView, style: Style, limit: usize) -> Vec<u8> {
    let mut page = Page::new(style);
    for (at, comparison) in view.comparisons.iter().enumerate() {
        if at > 0 {
            page.line("");
        }
        let title = format!(
            "ironlaw diff  {} -> {}",
            visible(&words::label(&view.base)),
            visible(&words::label(&comparison.new))
        );
        let title = page.paint(Ink::Heading, &middle(&title, page.room));
        page.line(&title);
        one(&mut page, view, comparison, limit);
    }
    page.finish()
}

fn one(page: &mut Page, view: &DiffView, comparison: &ComparisonView, limit: usize) {
    page.line("");
    side(page, "base", &view.base);
    side(page, "new", &comparison.new);
    page.heading("Answer", &words::settings(&view.settings));
    for (at, sentence) in comparison.headline.iter().enumerate() {
        let ink = (at > 0).then_some(Ink::Quiet);
        page.paragraph(if at == 0 { "  " } else { "    " }, sentence, ink);
    }
    page.paragraph("    ", &format!("Load: {}.", comparison.load_text), Some(Ink::Quiet));
    expectations(page, &comparison.expectations);
    gates(page, &comparison.gates);
    mismatches(page, comparison);
    factors(page, comparison);
    quantities(page, comparison);
    groups(page, comparison);
    match (&comparison.code, comparison.code_missing) {
        (Some(view), _) => code(page, view, limit),
        (None, why) => {
            page.heading("Code", "");
            page.line(&format!("  - {}", why.unwrap_or("not compared")));
        }
    }
}

fn side(page: &mut Page, name: &str, side: &SideView) {
    for (at, run) in side.recordings.iter().enumerate() {
        let lead = if at == 0 { name } else { "" };
        let first = side.recordings.first().filter(|_| at > 0);
        let known = first.is_some_and(|first| (&first.program, &first.build_id) == (&run.program, &run.build_id));
        page.paragraph(&format!("  {} ", left(lead, 5)), &recording(run, !known), None);
    }
}

/// `a.ironlaw, 2026-01-01 00:00:00 UTC, 40.0 s, /opt/app (build 0a0b0a0b0a0b)`.
fn recording(run: &RecordingView, with_program: bool) -> String {
    let program = if with_program { words::program(run) } else { String::new() };
    format!("{}, {}, {}{program}", run.name, date(run.started_unix_ns), seconds(run.seconds).joined())
}

fn expectations(page: &mut Page, rows: &[ExpectationRow]) {
    if rows.is_empty() {
        return;
    }
    page.heading("Expected", "");
    for row in rows {
        let bad = row.outcome == Outcome::Contradicted;
        let mark = if bad { "  ! " } else { "  - " };
        let text = format!("'{}' {}", visible(&row.text), words::expectation(row));
        page.paragraph(mark, &text, bad.then_some(Ink::Alert));
    }
}

fn gates(page: &mut Page, gates: &[GateRow]) {
    if gates.is_empty() {
        return;
    }
    page.heading("Gate", "");
    for gate in gates {
        let mark = if gate.passes { "  - " } else { "  ! " };
        let ink = (!gate.passes).then_some(Ink::Alert);
        page.paragraph(mark, &format!("{}  {}", visible(&gate.text), words::gate(gate)), ink);
    }
}

fn mismatches(page: &mut Page, comparison: &ComparisonView) {
    if comparison.mismatches.is_empty() {
        return;
    }
    page.heading("Mismatches", "");
    for mismatch in &comparison.mismatches {
        let mark = if mismatch.severity == Severity::Info { "  - " } else { "  ! " };
        let ink = (mismatch.severity == Severity::Incomparable).then_some(Ink::Alert);
        let text = format!("{}  ({})", words::mismatch(mismatch), words::severity(mismatch.severity));
        page.paragraph(mark, &text, ink);
    }
}

fn factors(page: &mut Page, comparison: &ComparisonView) {
    let view = &comparison.factors;
    page.heading("What made the difference", &words::factors(view));
    if view.missing.is_some() {
        return;
    }
    let row = |part: &crate::view::diff::PartRow| {
        let value = |at: usize| part.values[at].map_or("-".to_string(), |v| words::factor_value(part.factor, v));
        vec![
            part.label.to_string(),
            value(0),
            value(1),
            words::relative(part.ratio - 1.0),
            part.share.map_or("-".to_string(), |share| percent(share).joined()),
            words::amount(part),
        ]
    };
    let rows: Vec<Vec<String>> = view.parts.iter().map(row).collect();
    page.table(&["factor", "base", "new", "time", "share", "per op"], &rows);
}

fn quantities(page: &mut Page, comparison: &ComparisonView) {
    let at_load = !comparison.adjusted.is_empty();
    page.heading(
        "Quantities",
        if at_load { "as recorded; at the same load on the right" } else { "as recorded; ± is half the interval" },
    );
    let row = |row: &&crate::view::diff::MetricRow| {
        let mut cells = vec![
            row.name.to_string(),
            value(row, &row.base),
            value(row, &row.new),
            words::own_change(row).unwrap_or("-".to_string()),
        ];
        if at_load {
            let load = comparison.at_same_load(row.name);
            cells.push(load.and_then(words::own_change).unwrap_or_default());
            cells.push(load.map_or(String::new(), |row| words::verdict(row).to_string()));
        } else {
            cells.push(words::half(row).unwrap_or("-".to_string()));
            cells.push(words::verdict(row).to_string());
        }
        cells
    };
    let rows: Vec<Vec<String>> = comparison.notable_rows().iter().map(row).collect();
    let last = if at_load { "same load" } else { "±" };
    page.table(&["quantity", "base", "new", "change", last, "verdict"], &rows);
    for (reason, names) in comparison.missing() {
        page.paragraph("  - ", &format!("not compared: {}: {reason}", names.join(", ")), Some(Ink::Quiet));
    }
}

fn groups(page: &mut Page, comparison: &ComparisonView) {
    for check in comparison.groups.iter().filter(|check| check.disagrees) {
        page.heading("Groups", check.quantity.name());
        let row = |group: &crate::view::diff::GroupRow| {
            vec![
                visible(&group.name).into_owned(),
                percent(group.share[0]).joined(),
                percent(group.share[1]).joined(),
                words::relative(group.value[1] / group.value[0] - 1.0),
            ]
        };
        let rows: Vec<Vec<String>> = check.groups.iter().map(row).collect();
        page.table(&["group", "of base", "of new", "change"], &rows);
    }
}

fn code(page: &mut Page, view: &CodeView, limit: usize) {
    let [base, new] = view.whole.map(|whole| cost(view.unit, whole));
    let about = format!("{}: {base} -> {new}; {}", words::code_cost(view), words::shown_code(view));
    page.heading("Code", &about);
    for module in &view.renamed_modules {
        page.paragraph("  - ", &words::renamed(module), Some(Ink::Quiet));
    }
    rows(page, view.unit, &view.functions, limit);
    paths(page, view);
    if view.waits.iter().any(|row| row.real) {
        page.heading("Waits", "time blocked, by the program's own function");
        rows(page, "ns", &view.waits, limit);
    }
}

/// The call paths that changed most, innermost function first.
fn paths(page: &mut Page, view: &CodeView) {
    let (shown, more) = real(&view.paths, PATHS);
    if shown.is_empty() {
        return;
    }
    page.heading("Call paths", "innermost function first");
    for row in shown {
        let names: Vec<_> =
            std::iter::once(&row.name).chain(row.callers.iter().rev()).map(|name| visible(name)).collect();
        let growth = right(&growth(view.unit, row), 9);
        let room = page.room_after(width(&growth) + 4);
        page.line(&format!("  {growth}  {}", chain(&names, " < ", room)));
    }
    page.left_out(more, "call paths that changed", "");
}

fn rows(page: &mut Page, unit: &str, all: &[CodeRow], limit: usize) {
    let (shown, more) = real(all, limit);
    if shown.is_empty() {
        page.line("  - no function changed beyond what chance may do");
        return;
    }
    let shown = with_inlined(&shown);
    let cells = |(_, row): &(&str, &CodeRow)| {
        let state =
            if row.state == "changed" { words::relative(row.new / row.base - 1.0) } else { row.state.to_string() };
        [growth(unit, row), cost(unit, 2.0 * row.error), cost(unit, row.base), cost(unit, row.new), state]
    };
    let cells: Vec<[String; 5]> = shown.iter().map(cells).collect();
    let head = ["change", "±", "base", "new", "by"].map(str::to_string);
    let wide = |at: usize| cells.iter().chain([&head]).map(|row| width(&row[at])).max().unwrap_or(0);
    let line = |row: &[String; 5]| {
        row.iter().enumerate().map(|(at, cell)| format!("  {}", right(cell, wide(at)))).collect::<String>()
    };
    let widest = |of: &dyn Fn(&(&str, &CodeRow)) -> usize| shown.iter().map(of).max().unwrap_or(0);
    let names = widest(&|(lead, row)| lead.len() + width(&visible(&row.name))).max("function".len());
    let modules = widest(&|(_, row)| width(&visible(&row.module))).max("module".len());
    let others = width(&line(&head)) + 6;
    let name_column = page.name_column(names, others + modules.min(MODULE));
    let module_column = page.name_column(modules, others + name_column);
    page.captions(&format!("{}    {}  module", line(&head), left("function", name_column)));
    for ((lead, row), cells) in shown.iter().zip(&cells) {
        let mark = match row.kind {
            CodeKind::Kernel => 'k',
            CodeKind::Jit => 'j',
            CodeKind::User | CodeKind::Heading => ' ',
        };
        let name = function(&visible(&row.name), name_column.saturating_sub(lead.len()));
        let name = left(&format!("{lead}{name}"), name_column);
        page.line(&format!("{}  {mark} {name}  {}", line(cells), middle(&visible(&row.module), module_column)));
    }
    page.left_out(more, "functions that changed", " (--limit 0 shows all)");
    page.left_out(all.iter().filter(|row| !row.real).count(), "within what chance may do", "");
}
