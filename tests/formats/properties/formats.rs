//! Every format, read back: whatever names a program gives its functions and threads, a reader gets the same rows.

use super::recipe::Taken;
use super::{NAMES, Recipe, recipe};
use ironlaw::analysis::{GroupKey, Selection};
use ironlaw::export;
use ironlaw::export::svg::SvgOptions;
use ironlaw::export::text::Style;
use ironlaw::model::StackEnd;
use ironlaw::view::escape::visible;
use ironlaw::view::flame::{FlameGraph, FlameOptions};
use ironlaw::view::report::{Report, ReportOptions};
use ironlaw::view::sampled::Sampled;
use proptest::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;

fn all() -> ReportOptions {
    ReportOptions { limit: 0, detail_limit: 0, ..ReportOptions::default() }
}

fn report(recipe: &Recipe) -> Report {
    Report::build(&recipe.profile(), &all()).unwrap()
}

fn flame(recipe: &Recipe) -> FlameGraph {
    FlameGraph::build(&recipe.profile(), &FlameOptions { selection: Selection::default(), ..FlameOptions::default() })
        .unwrap()
}

/// Records of a CSV file as RFC 4180 has them.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => record.push(std::mem::take(&mut field)),
            '\r' if !quoted => {}
            '\n' if !quoted => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            letter => field.push(letter),
        }
    }
    assert!(!quoted && field.is_empty() && record.is_empty(), "the last record has no end: {text:?}");
    records
}

/// Characters that act on a terminal or turn a line around.
fn acts(letter: char) -> bool {
    letter.is_control() && letter != '\n' || ('\u{202a}'..='\u{202e}').contains(&letter)
}

/// A row's cells. A bar behind a backslash is within its cell, also where another backslash precedes both: rows are cut
/// into cells before anything else is read, and a code span knows no escapes.
fn cells(line: &str) -> usize {
    line.match_indices('|').filter(|(at, _)| !line[..*at].ends_with('\\')).count()
}

/// The text outside of code spans. A span ends with as many backticks as it began with, so that it can hold fewer.
fn without_code(line: &str) -> String {
    let run = |text: &str| text.bytes().take_while(|byte| *byte == b'`').count();
    let (mut outside, mut rest) = (String::new(), line);
    while let Some(start) = rest.find('`') {
        outside.push_str(&rest[..start]);
        let length = run(&rest[start..]);
        rest = &rest[start + length..];
        let mut at = 0;
        let closed = loop {
            let Some(next) = rest[at..].find('`') else { break None };
            let found = run(&rest[at + next..]);
            at += next + found;
            if found == length {
                break Some(at);
            }
        };
        rest = closed.map_or(rest, |end| &rest[end..]);
    }
    outside + rest
}

#[test]
fn text_outside_of_code_spans_is_seen() {
    for (line, outside) in [
        ("| `a` | b |", "|  | b |"),
        ("`` ` `` < `<script>`", " < "),
        ("`` ` `` <script>", " <script>"),
        ("`open <script>", "open <script>"),
        ("no code", "no code"),
    ] {
        assert_eq!(without_code(line), outside, "{line}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn csv_has_a_record_for_each_function_and_every_record_is_as_long_as_the_head(recipe in recipe()) {
        let report = report(&recipe);
        let text = String::from_utf8(export::csv::report(&report)).unwrap();
        let records = records(&text);
        prop_assert_eq!(records.len(), report.functions.len() + 1);
        for record in &records {
            prop_assert_eq!(record.len(), records[0].len(), "{:?}", record);
            // A spreadsheet takes a cell that begins so for a formula.
            let formula = record[0].starts_with(['=', '+', '-', '@', '\t', '\r']);
            prop_assert!(!formula, "{:?}", record[0]);
        }
    }

    #[test]
    fn json_parses_and_has_the_rows_of_the_report(recipe in recipe()) {
        let report = report(&recipe);
        let value: Value = serde_json::from_slice(&export::json::report(&report).unwrap()).unwrap();
        let rows = value["functions"].as_array().unwrap();
        prop_assert_eq!(rows.len(), report.functions.len());
        let known: BTreeSet<String> = recipe.functions.iter().map(|(name, _)| name.clone()).collect();
        for row in rows {
            let name = row["name"].as_str().unwrap();
            let ours = name.starts_with('[') || known.contains(name) || known.iter().any(|known| visible(known) == name);
            prop_assert!(ours || name.is_empty(), "{:?} is none of {:?}", name, known);
        }
    }

    #[test]
    fn text_obeys_no_name_and_keeps_its_width(recipe in recipe(), width in 40usize..160, by_comm in any::<bool>()) {
        let by = if by_comm { vec![GroupKey::Comm, GroupKey::Function] } else { vec![GroupKey::Function] };
        let report = Report::build(&recipe.profile(), &ReportOptions { by, ..all() }).unwrap();
        let page = String::from_utf8(export::text::report(&report, Style { width: Some(width), colour: false })).unwrap();
        prop_assert!(!page.chars().any(acts), "{:?}", page.chars().find(|letter| acts(*letter)));
        let wide = String::from_utf8(export::text::report(&report, Style { width: None, colour: false })).unwrap();
        prop_assert!(!wide.chars().any(acts));
        prop_assert!(wide.lines().count() >= report.functions.len());
    }

    #[test]
    fn markdown_tables_have_as_many_cells_in_every_row(recipe in recipe()) {
        let page = String::from_utf8(export::markdown::report(&report(&recipe))).unwrap();
        prop_assert!(!page.chars().any(acts));
        let mut head = None;
        for line in page.lines() {
            if !line.starts_with('|') {
                head = None;
                continue;
            }
            let expected = *head.get_or_insert(cells(line));
            prop_assert_eq!(cells(line), expected, "{}", line);
            prop_assert!(!without_code(line).contains("<script"), "{}", line);
        }
    }

    #[test]
    fn folded_lines_sum_to_what_was_sampled_whatever_names_hold(recipe in recipe()) {
        for annotate in [false, true] {
            let text = String::from_utf8(export::folded::render(&flame(&recipe), annotate)).unwrap();
            let mut sum = 0;
            for line in text.lines() {
                let (stack, value) = line.rsplit_once(' ').unwrap();
                sum += value.parse::<u64>().unwrap();
                prop_assert!(!stack.is_empty(), "{:?}", line);
            }
            prop_assert_eq!(sum, recipe.height());
        }
    }

    #[test]
    fn pprof_holds_each_stack_with_its_weight(recipe in recipe()) {
        let profile = recipe.profile();
        let sampled = Sampled::of(&profile, Selection::default(), false).unwrap();
        let mut bytes = Vec::new();
        export::pprof::write(&sampled, &mut bytes).unwrap();
        let read = crate::export::pprof::Pprof::read(&bytes);
        prop_assert_eq!(read.stacks(1).values().sum::<u64>(), recipe.weight());
        prop_assert_eq!(read.stacks(0).values().sum::<u64>(), recipe.taken.len() as u64);
    }

    #[test]
    fn speedscope_and_firefox_are_json_whatever_names_hold(recipe in recipe()) {
        let profile = recipe.profile();
        let sampled = Sampled::of(&profile, Selection::default(), false).unwrap();
        let title = NAMES[recipe.taken.len() % NAMES.len()];
        let (mut speedscope, mut firefox) = (Vec::new(), Vec::new());
        export::speedscope::write(&sampled, title, &mut speedscope).unwrap();
        export::firefox::write(&sampled, title, &mut firefox).unwrap();
        let speedscope: Value = serde_json::from_slice(&speedscope).unwrap();
        let weights = speedscope["profiles"].as_array().unwrap().iter();
        let weights = weights.flat_map(|profile| profile["weights"].as_array().unwrap());
        prop_assert_eq!(weights.map(|weight| weight.as_u64().unwrap()).sum::<u64>(), recipe.weight());
        let firefox: Value = serde_json::from_slice(&firefox).unwrap();
        let samples = firefox["threads"].as_array().unwrap().iter().map(|thread| thread["samples"]["length"].as_u64().unwrap());
        prop_assert!(samples.sum::<u64>() >= recipe.taken.len() as u64);
    }

    #[test]
    fn perf_script_text_has_a_head_for_each_sample(recipe in recipe()) {
        let profile = recipe.profile();
        let sampled = Sampled::of(&profile, Selection::default(), false).unwrap();
        let mut bytes = Vec::new();
        export::perfscript::write(&sampled, &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let heads = text.lines().filter(|line| !line.is_empty() && !line.starts_with('\t')).count();
        prop_assert_eq!(heads, recipe.taken.len(), "{}", text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_picture_is_well_formed_and_runs_no_name(recipe in recipe(), inverted in any::<bool>()) {
        let flame = flame(&recipe);
        let options = SvgOptions { inverted, ..SvgOptions::default() };
        let Ok(bytes) = export::svg::render(&flame, &options) else {
            prop_assert!(recipe.weight() == 0, "only an empty recording has nothing to draw");
            return Ok(());
        };
        let picture = String::from_utf8(bytes).unwrap();
        let parsing = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(&picture, parsing);
        prop_assert!(document.is_ok(), "{:?}", document.err());
        let document = document.unwrap();
        let scripts = document.descendants().filter(|node| node.has_tag_name("script")).count();
        prop_assert_eq!(scripts, 1, "only inferno's own");
        let handlers = document.descendants().flat_map(|node| node.attributes()).filter(|attribute| {
            attribute.name().starts_with("on") && !["onload", "onclick"].contains(&attribute.name())
        });
        prop_assert_eq!(handlers.count(), 0);
    }
}

/// A function of each hostile name alone, in every format at once.
#[test]
fn each_hostile_name_stays_one_name() {
    for name in NAMES {
        let taken =
            (0..3).map(|n| Taken { at: 100 + n, tid: 41, path: vec![0], weight: 1_000_000, end: StackEnd::Whole });
        let recipe = Recipe {
            functions: vec![(name.to_string(), 0); 8],
            taken: taken.collect(),
            waited: Vec::new(),
            comms: vec![name.to_string(); 4],
        };
        let report = report(&recipe);
        assert_eq!(report.functions.len(), 1, "{name:?}");
        assert_eq!(records(&String::from_utf8(export::csv::report(&report)).unwrap()).len(), 2, "{name:?}");
        let folded = String::from_utf8(export::folded::render(&flame(&recipe), false)).unwrap();
        assert_eq!((folded.lines().count(), folded.matches(';').count()), (1, 0), "{name:?}: {folded:?}");
    }
}
