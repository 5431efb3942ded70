//! Tables for spreadsheets and databases: a row per sample, and the report's main table.

use super::*;
use crate::analysis::testing::Synthetic;
use crate::analysis::{GroupKey, SortBy};
use crate::export;
use crate::export::text::Style;
use crate::model::{EventKind, EventSpec, Unit};
use crate::view::report::{Report, ReportOptions};
use crate::view::tests::odd::{hostile, hostile_names, odd_profiles};

#[test]
fn a_row_per_sample_keeps_its_cells_and_weights_whatever_the_names_are() {
    for (case, profile) in odd_profiles() {
        for (selection, column) in both().into_iter().zip(["weight", "blocked_ns"]) {
            let Some(bytes) = written(&profile, &selection, |sampled, out| export::rows::csv(sampled, out)) else {
                continue;
            };
            let rows = assert_csv(&String::from_utf8(bytes).unwrap(), case);
            let sampled = Sampled::of(&profile, selection.clone(), false).unwrap();
            assert_eq!(rows.len(), sampled.rows().count() + 1, "{case}");
            let at = rows[0].iter().position(|name| name == column).unwrap_or_else(|| panic!("{case}: {:?}", rows[0]));
            for (row, expected) in rows[1..].iter().zip(sampled.rows()) {
                assert_eq!(row[at].parse(), Ok(expected.weight), "{case}: {row:?}");
            }
        }
    }
}

#[test]
fn a_row_per_sample_shows_each_name_in_full() {
    let profile = hostile_names();
    let bytes = written(&profile, &Selection::default(), |sampled, out| export::rows::csv(sampled, out)).unwrap();
    let rows = assert_csv(&String::from_utf8(bytes).unwrap(), "rows");
    let column = |name: &str| rows[0].iter().position(|head| head == name).unwrap();
    for (what, at) in [("function", column("function")), ("thread", column("thread")), ("module", column("module"))] {
        for name in hostile() {
            let shown = visible(&name).into_owned();
            let has = |row: &Vec<String>| row[at] == shown || row[at].strip_prefix('\'') == Some(&shown);
            // A nameless function is shown by its address.
            assert!(name.trim().is_empty() || rows[1..].iter().any(has), "{what}: {shown:.60}");
        }
    }
}

#[test]
fn the_csv_report_has_a_row_per_function_and_its_shares_sum_to_one() {
    // Sums of numbers that are too large stay at the largest number.
    for (case, profile) in odd_profiles().into_iter().filter(|(case, _)| *case != "numbers too large") {
        for by in [
            &[GroupKey::Function][..],
            &[GroupKey::Module],
            &[GroupKey::Thread],
            &[GroupKey::Process],
            &[GroupKey::Comm, GroupKey::Cpu],
            &[GroupKey::Process, GroupKey::Module, GroupKey::Function],
        ] {
            let options = ReportOptions { by: by.to_vec(), sort: SortBy::Name, limit: 0, ..ReportOptions::default() };
            let report = Report::build(&profile, &options).unwrap();
            let rows = assert_csv(&String::from_utf8(export::csv::report(&report)).unwrap(), case);
            let expected = report.groups.as_ref().map_or(report.functions.len(), |groups| groups.rows.len());
            assert_eq!(rows.len(), expected + 1, "{case}");
            let at = rows[0].iter().position(|name| name == "self_share").unwrap();
            let sum: f64 = rows[1..].iter().map(|row| row[at].parse::<f64>().unwrap()).sum();
            assert!(rows.len() == 1 || (sum - 1.0).abs() < 1e-6, "{case}: shares of {sum} by {by:?}");
        }
    }
}

#[test]
fn reports_have_columns_for_the_ipc_of_functions_only_where_it_was_measured() {
    let spec = |name, config| EventSpec::new(name, EventKind::Hardware(config), Unit::Count);
    let mut synthetic = Synthetic::new();
    synthetic.samples(0, 41, "/bin/app!get", 40).meta.events = vec![spec("cycles", 0), spec("other", 9)];
    let without = Report::build(&synthetic.finish(), &ReportOptions::default());
    let mut synthetic = Synthetic::new();
    synthetic.meta.events = vec![spec("cycles", 0), spec("instructions", 1)];
    for (event, weight) in [(0, 100), (1, 25)] {
        (synthetic.event, synthetic.weight) = (event, weight);
        synthetic.samples(0, 41, "/bin/app!get", 40).samples(0, 41, "/bin/app!seldom", 2);
    }
    let profile = synthetic.finish();
    let with = Report::build(&profile, &ReportOptions::default()).unwrap();
    let written = |report: &Report| {
        let json = export::json::report(report).unwrap();
        [
            export::text::report(report, Style::default()),
            export::csv::report(report),
            export::markdown::report(report),
            json,
        ]
        .map(|bytes| String::from_utf8(bytes).unwrap())
    };
    for text in written(&without.unwrap()) {
        assert!(!text.contains("MPKI") && !text.contains("\"rates\"") && !text.contains("ipc_error"), "{text}");
    }
    let [text, csv, markdown, json] = written(&with);
    let line = |text: &str, name: &str| text.lines().find(|line| line.contains(name)).unwrap_or_default().to_string();
    assert!(
        line(&text, "total     IPC    MPKI").contains("function") && line(&text, " get").contains(" 0.250 "),
        "{text}"
    );
    assert!(line(&text, "IPC of own code").contains("all code 0.250"), "{text}");
    assert!(text.contains("-: too few samples"), "{text}");
    let rows = assert_csv(&csv, "rates");
    assert_eq!(rows[0][rows[0].len() - 3..], ["ipc", "ipc_error", "mpki"]);
    assert_eq!((rows[1][rows[1].len() - 3].as_str(), rows[2][rows[2].len() - 3].as_str()), ("0.25", ""));
    assert!(
        line(&markdown, "| IPC | MPKI |").starts_with("| self") && markdown.contains("| 0.250 | - |"),
        "{markdown}"
    );
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["functions"][0]["rates"]["ipc"]["value"], 0.25);
    assert_eq!(json["functions"][1]["rates"]["ipc"]["missing"], "too_few_samples");
    assert_eq!(json["functions"][0]["rates"]["mpki"]["missing"], "not_recorded");
    let options = ReportOptions { by: vec![GroupKey::Comm, GroupKey::Cpu], ..ReportOptions::default() };
    let json = export::json::report(&Report::build(&profile, &options).unwrap()).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&json).unwrap();
    assert_eq!(json["groups"]["rows"][0]["rates"]["ipc"]["value"], 0.25, "{json}");
}

#[test]
fn the_reader_of_these_tests_finds_broken_tables() {
    assert_eq!(csv_rows("a,\"b \"\"c\"\", d\"\r\n,\r\n"), [vec!["a", "b \"c\", d"], vec!["", ""]]);
    for broken in ["a,b", "a\nb\r\n", "\"a\r\n", "a\"b\"\r\n", "\"a\"b\r\n"] {
        assert!(std::panic::catch_unwind(|| csv_rows(broken)).is_err(), "{broken}");
    }
    for formula in ["=1\r\n", "a,@x\r\n", "\" -x\"\r\n"] {
        assert!(std::panic::catch_unwind(|| assert_csv(formula, "a formula")).is_err(), "{formula}");
    }
}
