//! A comparison in every form it is printed in.
//! It never writes a file.

mod csv;
mod json;
mod markdown;
mod text;

pub use csv::csv;
pub use json::{DIFF_SCHEMA, json};
pub use markdown::markdown;
pub use text::text;

use crate::view::Measured;
use crate::view::compare::{CodeRow, ComparisonView, MetricRow, Role, words};

/// Rows for people: every cost that has a value, then what else moved.
pub(in crate::export) fn telling(view: &ComparisonView) -> Vec<&MetricRow> {
    let known = |row: &&MetricRow| row.base.value().is_some() || row.new.value().is_some();
    let tells =
        |row: &&MetricRow| row.role != Role::Context || words::verdict(row) == "more" || words::verdict(row) == "less";
    view.metrics.iter().filter(known).filter(tells).collect()
}

/// The row at the same load, where there is one.
pub(in crate::export) fn adjusted<'a>(view: &'a ComparisonView, row: &MetricRow) -> Option<&'a MetricRow> {
    view.adjusted.iter().find(|adjusted| adjusted.name == row.name)
}

/// A value, or why there is none.
pub(in crate::export) fn value(row: &MetricRow, measured: &Measured) -> String {
    measured.value().map_or("-".to_string(), |value| words::shown(value, row.unit))
}

/// Costs that could not be compared, gathered by reason.
pub(in crate::export) fn missing(view: &ComparisonView) -> Vec<(&'static str, Vec<&'static str>)> {
    let mut reasons: Vec<(&'static str, Vec<&'static str>)> = Vec::new();
    for row in view.metrics.iter().filter(|row| row.role != Role::Context) {
        let reason = [row.base, row.new].into_iter().find_map(|measured| match measured {
            Measured::Missing { reason, .. } => Some(reason),
            Measured::Known { .. } => None,
        });
        let Some(reason) = reason else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(row.name),
            None => reasons.push((reason, vec![row.name])),
        }
    }
    reasons
}

/// A cost of code in its unit, `share` for a part of all.
pub(in crate::export) fn cost(unit: &str, value: f64) -> String {
    match unit {
        "share" => crate::view::number::percent(value).joined(),
        unit => super::shape::cost(value, unit),
    }
}

/// A change of such a cost, with its sign.
pub(in crate::export) fn growth(unit: &str, row: &CodeRow) -> String {
    let sign = if row.difference > 0.0 { "+" } else { "" };
    format!("{sign}{}", cost(unit, row.difference))
}

/// The changes beyond chance, as many as asked for (0: all), and how many more there are.
pub(in crate::export) fn real(rows: &[CodeRow], limit: usize) -> (Vec<&CodeRow>, usize) {
    let all: Vec<&CodeRow> = rows.iter().filter(|row| row.real).collect();
    let shown = if limit == 0 { all.len() } else { all.len().min(limit) };
    (all[..shown].to_vec(), all.len() - shown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::export::text::Style;
    use crate::view::compare::testing::dearer;

    #[test]
    fn every_form_tells_the_answer_and_no_name_acts_in_any() {
        let view = dearer();
        let forms = [text(&view, Style::default(), 20), markdown(&view, 20), csv(&view)];
        for bytes in forms {
            let text = String::from_utf8(bytes).expect("it is UTF-8");
            assert!(text.contains("cpu_ns_per_op") || text.contains("CPU time per operation"), "{text}");
            assert!(!text.contains('\x1b'), "{text}");
        }
        let page = String::from_utf8(markdown(&view, 20)).expect("it is UTF-8");
        assert!(page.contains("`parse<&str>\\|␛[31m`"), "{page}");
    }

    #[test]
    fn text_and_markdown_are_as_published() {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path("../../../tests/golden/diff");
        settings.set_prepend_module_to_snapshot(false);
        let shown = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        settings.bind(|| {
            insta::assert_snapshot!("text", shown(text(&dearer(), Style::default(), 20)));
            insta::assert_snapshot!("markdown", shown(markdown(&dearer(), 20)));
            insta::assert_snapshot!("csv", shown(csv(&dearer())));
        });
    }

    #[test]
    fn no_line_of_text_is_wider_than_the_terminal() {
        for width in [80, 100, 200] {
            let bytes = text(&dearer(), Style { width, colour: false }, 20);
            for line in String::from_utf8_lossy(&bytes).lines() {
                assert!(line.chars().count() <= width, "{} columns: {line}", line.chars().count());
            }
        }
    }
}
