//! Describes the selected row in full. The words claim no more than the verdict does.

use super::rows::Row;
use crate::tui::panel::PanelContext;
use crate::view::diff::{Basis, ComparisonView, MetricRow, PartRow, words};
use crate::view::number::percent;

/// The selected row in full.
pub(super) fn status(view: &ComparisonView, row: &Row<'_>, cx: &PanelContext<'_>) -> String {
    match row {
        Row::Heading(_, about) if about.is_empty() => view.load_text.clone(),
        Row::Heading(_, about) => about.clone(),
        Row::Factor(part) => factor(part),
        Row::Quantity(row, same_load) => quantity(row, *same_load, cx),
        Row::Text(text) => text.clone(),
    }
}

fn factor(part: &PartRow) -> String {
    let value = |at: usize| part.values[at].map_or("-".to_string(), |value| words::factor_value(part.factor, value));
    let share = part.share.map_or(String::new(), |share| format!(", {} of the change", percent(share).joined()));
    format!(
        "{}: {} -> {}; alone it changes the time by {}, {} per op{share}",
        part.label,
        value(0),
        value(1),
        words::relative(part.ratio - 1.0),
        words::amount(part)
    )
}

fn quantity(row: &MetricRow, same_load: bool, cx: &PanelContext<'_>) -> String {
    let at = if same_load { " at the same load" } else { "" };
    let mut text = format!(
        "{} ({}){at}: {} -> {}",
        row.label,
        row.name,
        words::value(row, &row.base),
        words::value(row, &row.new)
    );
    if let Some(change) = words::own_change(row) {
        text += &format!(", {change}");
    }
    if let Some(ends) = words::interval(row) {
        text += &format!(" ({ends})");
    }
    text += &match words::verdict(row) {
        "-" => " undecided".to_string(),
        verdict => format!(" {} {verdict}", cx.glyphs.dot),
    };
    if let Some(p) = row.corrected_p {
        text += &format!(" {} p {}", cx.glyphs.dot, words::probability(p));
    }
    if let Some(least) = row.detectable {
        text += &format!(" {} detectable: {}", cx.glyphs.dot, words::change(row, least).trim_start_matches('+'));
    }
    match row.basis {
        Some(Basis::Runs { base, new }) => text += &format!(" {} {base} and {new} runs", cx.glyphs.dot),
        Some(Basis::Windows { base, new }) => text += &format!(" {} {base} and {new} windows", cx.glyphs.dot),
        Some(Basis::Nothing) | None => {}
    }
    text
}
