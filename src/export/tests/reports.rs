//! The report of every odd profile as text, JSON and Markdown.

use super::*;
use crate::analysis::GroupKey;
use crate::export::{self, text::Style};
use crate::view::report::{Report, ReportOptions};
use crate::view::tests::odd::{hostile, hostile_names, odd_profiles};
use serde_json::Value;
use std::collections::BTreeSet;

fn reports() -> Vec<(&'static str, Report)> {
    let mut all = Vec::new();
    for (case, profile) in odd_profiles() {
        for by in [GroupKey::Function, GroupKey::Thread] {
            for selection in both() {
                let by = vec![by];
                let options = ReportOptions { selection, by, limit: 0, detail_limit: 0, ..ReportOptions::default() };
                all.extend(Report::build(&profile, &options).ok().map(|report| (case, report)));
            }
        }
    }
    all
}

/// Whether a text holds a number that is none.
fn has_no_number(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| matches!(word, "NaN" | "inf"))
}

#[test]
fn the_text_of_every_odd_profile_is_inert_and_made_of_numbers() {
    for (case, report) in reports() {
        for width in [None, Some(80), Some(200)] {
            let text = String::from_utf8(export::text::report(&report, Style { width, colour: false })).unwrap();
            assert_inert(&text, case);
            assert!(!has_no_number(&text), "{case}: {text}");
            assert!(text.ends_with('\n') && !text.contains("\n\n\n"), "{case}: {text}");
            if let Some(width) = width.filter(|width| *width >= 80 && case != "numbers too large") {
                let longest = text.lines().map(crate::view::fit::width).max().unwrap_or(0);
                assert!(longest <= width, "{case}: a line of {longest} columns in {width}");
            }
        }
    }
}

#[test]
fn colours_change_nothing_but_colours() {
    for (case, report) in reports() {
        let plain =
            String::from_utf8(export::text::report(&report, Style { width: Some(100), colour: false })).unwrap();
        let coloured =
            String::from_utf8(export::text::report(&report, Style { width: Some(100), colour: true })).unwrap();
        let mut stripped = String::new();
        let mut rest = coloured.as_str();
        while let Some((before, after)) = rest.split_once("\u{1b}[") {
            stripped.push_str(before);
            let (code, beyond) = after.split_once('m').unwrap();
            assert!(code.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'), "{case}: not a colour: {code}");
            rest = beyond;
        }
        stripped.push_str(rest);
        assert_eq!(stripped, plain, "{case}");
    }
}

/// Every number of a JSON value, with the path to it.
fn numbers(value: &Value, path: &str, found: &mut Vec<(String, f64)>) {
    match value {
        Value::Number(number) => found.push((path.to_string(), number.as_f64().unwrap())),
        Value::Array(list) => list.iter().for_each(|inner| numbers(inner, path, found)),
        Value::Object(map) => map.iter().for_each(|(key, inner)| numbers(inner, &format!("{path}.{key}"), found)),
        _ => {}
    }
}

#[test]
fn the_json_of_every_odd_profile_reads_back_and_its_shares_are_shares() {
    for (case, report) in reports() {
        let text = String::from_utf8(export::json::report(&report).unwrap()).unwrap();
        assert_inert(&text, case);
        let json: Value = serde_json::from_str(&text).unwrap();
        let mut found = Vec::new();
        numbers(&json, "", &mut found);
        for (path, number) in found {
            assert!(number.is_finite(), "{case}: {path} is {number}");
            if path.ends_with("self_share") || path.ends_with("total_share") {
                assert!((0.0..=1.0 + 1e-9).contains(&number), "{case}: {path} is {number}");
            }
        }
    }
}

#[test]
fn the_json_report_keeps_every_name_as_it_was() {
    let profile = hostile_names();
    let options = ReportOptions { limit: 0, detail_limit: 0, ..ReportOptions::default() };
    let json = export::json::report(&Report::build(&profile, &options).unwrap()).unwrap();
    let json: Value = serde_json::from_slice(&json).unwrap();
    let held: BTreeSet<_> =
        json["functions"].as_array().unwrap().iter().filter_map(|row| row["name"].as_str()).collect();
    for name in hostile().iter().filter(|name| !name.is_empty()) {
        assert!(held.contains(name.as_str()), "{name:.60?} is not a function of the report");
    }
}

/// The cells of a row of a Markdown table: bars after a backslash are part of a cell.
fn markdown_cells(line: &str) -> usize {
    let (mut cells, mut escaped) = (0, false);
    for c in line.chars() {
        match c {
            '|' if !escaped => cells += 1,
            _ => {}
        }
        escaped = c == '\\' && !escaped;
    }
    cells
}

#[test]
fn the_markdown_of_every_odd_profile_has_tables_of_equal_rows_and_no_markup_from_names() {
    for (case, report) in reports() {
        let text = String::from_utf8(export::markdown::report(&report)).unwrap();
        assert_inert(&text, case);
        assert!(!has_no_number(&text), "{case}: {text}");
        let mut columns = None;
        for line in text.lines() {
            if !line.starts_with('|') {
                columns = None;
                continue;
            }
            let cells = markdown_cells(line);
            assert_eq!(*columns.get_or_insert(cells), cells, "{case}: {line:.200}");
        }
        // Outside of code spans, a name would be markup.
        let outside: String = text.lines().map(|line| line.split('`').step_by(2).collect::<String>()).collect();
        assert!(!outside.contains("<script") || text.contains("``"), "{case}: markup");
    }
}

#[test]
fn a_known_zero_is_shown_and_an_unknown_value_is_not() {
    for (case, report) in reports().into_iter().filter(|(case, _)| *case == "only losses" || *case == "nothing at all")
    {
        let json: Value = serde_json::from_slice(&export::json::report(&report).unwrap()).unwrap();
        for metric in ["ipc", "cpi", "frequency", "path_length"] {
            let value = &json["metrics"][metric];
            assert!(value.get("value").is_none_or(Value::is_null), "{case}: {metric} was not measured: {value}");
        }
        assert_eq!(json["samples"]["count"], 0, "{case}: no samples is a number");
        assert!(json["samples"]["complete_share"].is_null(), "{case}: a share of nothing is unknown");
    }
}
