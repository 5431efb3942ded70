//! Pages and pictures of sweeps and comparisons: no name becomes an element, an attribute or a cell.

use super::*;
use crate::analysis::diff::Settings;
use crate::analysis::diff::testing::cost;
use crate::export::text::Style;
use crate::export::{self, csv, html, markdown};
use crate::view::baseline::testing::{CurrentSamples, learnt};
use crate::view::diff::DiffView;
use crate::view::diff::testing::sides;
use crate::view::sweep::SweepReport;
use crate::view::sweep::fixture::{self, Machine};
use crate::view::tests::odd::hostile;
use std::collections::BTreeMap;

/// The elements of a page with their attributes, by count. The text of scripts and styles is skipped.
///
/// # Panics
/// If an element does not end, or ends another one.
fn elements(page: &str) -> BTreeMap<String, usize> {
    const VOID: [&str; 8] = ["meta", "link", "br", "hr", "img", "input", "col", "!doctype"];
    let (mut found, mut open) = (BTreeMap::new(), Vec::<String>::new());
    let mut rest = page;
    while let Some((_, after)) = rest.split_once('<') {
        if let Some(comment) = after.strip_prefix("!--") {
            rest = comment.split_once("-->").unwrap_or_else(|| panic!("a comment does not end")).1;
            continue;
        }
        let (mut end, mut quote) = (0, None);
        for (at, c) in after.char_indices() {
            end = at;
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (None, '"' | '\'') => quote = Some(c),
                (None, '>') => break,
                _ => {}
            }
        }
        let (tag, beyond) = (&after[..end], &after[end + 1..]);
        assert!(quote.is_none(), "an attribute does not end: {tag:.80}");
        rest = beyond;
        let name = tag.trim_end_matches('/').split_ascii_whitespace().next().unwrap_or("").to_lowercase();
        if let Some(name) = name.strip_prefix('/') {
            let last = open.pop();
            assert_eq!(last.as_deref(), Some(name), "{name} ends {last:?}");
            continue;
        }
        *found.entry(name.clone()).or_insert(0) += 1;
        for attribute in attributes(&tag[name.len().min(tag.len())..]) {
            *found.entry(format!("{name} {attribute}")).or_insert(0) += 1;
        }
        if tag.ends_with('/') || VOID.contains(&name.as_str()) {
            continue;
        }
        if name == "script" || name == "style" {
            let close = format!("</{name}>");
            rest = rest.split_once(&close).unwrap_or_else(|| panic!("a {name} does not end")).1;
            continue;
        }
        open.push(name);
    }
    let optional = ["p", "li", "html", "body", "head"];
    open.retain(|name| !optional.contains(&name.as_str()));
    assert!(open.is_empty(), "{open:?} do not end");
    found
}

/// The names of a tag's attributes.
fn attributes(tag: &str) -> Vec<String> {
    let (mut names, mut name, mut quote) = (Vec::new(), String::new(), None);
    for c in tag.chars().chain([' ']) {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, c) if c.is_ascii_whitespace() || c == '=' || c == '/' => {
                if !name.is_empty() {
                    names.push(std::mem::take(&mut name));
                }
            }
            (None, c) => name.push(c),
        }
    }
    // Values without quotes are read as names: our pages have none.
    names
}

/// Hostile names that the short notation of the test recordings can hold.
fn names() -> Vec<String> {
    let short = |name: &String| {
        name.len() < 200 && !name.contains([';', '!']) && !name.contains(" < ") && !name.trim().is_empty()
    };
    hostile().into_iter().filter(short).collect()
}

/// A comparison whose functions, labels and kernels have these names.
fn comparison(names: &[String]) -> DiffView {
    let (mut base, mut new) = sides();
    for (side, weight) in [(&mut base, 1e9), (&mut new, 2e9)] {
        for run in &mut side.runs {
            let paths: Vec<String> = names.iter().map(|name| format!("{name}!main;{name}!{name}")).collect();
            let paths: Vec<(&str, f64)> = paths.iter().map(|path| (path.as_str(), weight)).collect();
            run.run.cpu = cost(&paths);
        }
        side.label = names.join(" ");
    }
    DiffView::of(&base, &[new], &Settings::default(), &[], false)
}

fn page(names: &[String]) -> String {
    String::from_utf8(html::diff(&comparison(names))).unwrap()
}

#[test]
fn a_comparison_as_a_page_has_the_same_elements_whatever_the_names_are() {
    let hostile = names();
    // A name with parts that may be left out has a shorter form as an attribute.
    let plain: Vec<String> = (0..hostile.len()).map(|at| format!("store::Shard<Key{at}>::lookup(int)")).collect();
    let (page, expected) = (page(&hostile), page(&plain));
    assert_inert(&page, "the page");
    let (found, expected) = (elements(&page), elements(&expected));
    let kinds = |found: &BTreeMap<String, usize>| found.keys().cloned().collect::<Vec<_>>();
    assert_eq!(kinds(&found), kinds(&expected), "a name became an element or an attribute");
    for kind in ["script", "a", "iframe", "table", "tr", "style", "section"] {
        assert_eq!(found.get(kind), expected.get(kind), "{kind}");
    }
}

#[test]
fn a_comparison_in_every_other_format_keeps_its_form_whatever_the_names_are() {
    let view = comparison(&names());
    for width in [None, Some(80), Some(160)] {
        let text = String::from_utf8(export::diff::text(&view, Style { width, colour: false }, 0)).unwrap();
        assert_inert(&text, "the text of a comparison");
    }
    let json: serde_json::Value = serde_json::from_slice(&export::diff::json(&view).unwrap()).unwrap();
    assert!(json.is_object());
    assert_csv(&String::from_utf8(export::diff::csv(&view)).unwrap(), "the CSV of a comparison");
    let text = String::from_utf8(export::diff::markdown(&view, 0)).unwrap();
    assert_inert(&text, "the Markdown of a comparison");
    for line in text.lines() {
        let outside: String = line.split('`').step_by(2).collect();
        assert!(!outside.contains("<script"), "{line:.200}");
    }
}

#[test]
fn a_differential_flame_graph_is_xml_with_one_script_and_every_name() {
    let names = names();
    let before: Vec<(String, u64)> = names.iter().map(|name| (format!("main;{name}"), 100)).collect();
    let before: Vec<(&str, u64)> = before.iter().map(|(path, count)| (path.as_str(), *count)).collect();
    let after: Vec<String> = names.iter().map(|name| format!("/opt/app!main;/opt/app!{name}")).collect();
    let after: Vec<(u32, &str, u64)> = after.iter().map(|path| (41, path.as_str(), 150)).collect();
    let now = CurrentSamples { samples: &after, tids: &[], ops: Some(100_000), axis: Axis::Event(0) };
    let difference = now.against(&learnt(&before)).unwrap().unwrap();
    let text =
        String::from_utf8(export::diff_flamegraph::render(&difference, "\u{1b}</title><script>x()</script>\u{202e}"))
            .unwrap();
    assert_inert(&text, "the picture");
    let document = roxmltree::Document::parse(&text).unwrap();
    let count = |tag: &str| document.descendants().filter(|node| node.tag_name().name() == tag).count();
    assert_eq!((count("script"), count("a"), count("foreignObject"), count("iframe")), (1, 0, 0, 0));
    let titles: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "title")))
        .filter_map(|node| node.text())
        .collect();
    for name in &names {
        let shown = visible(name);
        assert!(titles.iter().any(|title| title.contains(shown.trim())), "{shown} is not in the picture");
    }
    for number in document
        .descendants()
        .flat_map(|node| node.attributes())
        .filter(|one| matches!(one.name(), "x" | "y" | "width" | "height"))
    {
        assert!(!number.value().contains("NaN") && !number.value().contains("inf"), "{number:?}");
    }
}

#[test]
fn a_sweep_in_every_format_holds_no_character_that_acts() {
    for machine in [Machine::Clock, Machine::Counters] {
        let report = SweepReport::of(&fixture::meta(machine), &fixture::analysis(machine));
        let page = String::from_utf8(html::sweep(&report).unwrap()).unwrap();
        assert_inert(&page, "the page of a sweep");
        let found = elements(&page);
        assert!(found.keys().all(|key| !key.contains(" on")), "{found:?}");
        assert_csv(&String::from_utf8(csv::sweep(&report)).unwrap(), "the CSV of a sweep");
        assert_inert(&String::from_utf8(markdown::sweep(&report)).unwrap(), "the Markdown of a sweep");
        let json = String::from_utf8(export::json::sweep(&report).unwrap()).unwrap();
        assert_inert(&json, "the JSON of a sweep");
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let names = json.to_string();
        for name in fixture::HOSTILE {
            let quoted = serde_json::to_string(name).unwrap();
            assert!(names.contains(quoted.trim_matches('"')), "{name:?} does not read back");
        }
    }
}

#[test]
fn the_reader_of_these_tests_finds_markup() {
    let found = elements("<p class=\"a>b\">x <b>y</b></p><script>if (a<b) {}</script><br><input value='\"'>");
    assert_eq!(
        found.keys().map(String::as_str).collect::<Vec<_>>(),
        ["b", "br", "input", "input value", "p", "p class", "script"]
    );
    for broken in ["<b><i></b></i>", "<div>", "<p x=\"", "<script>"] {
        assert!(std::panic::catch_unwind(|| elements(broken)).is_err(), "{broken}");
    }
    assert!(elements("<svg onload=\"x()\"></svg>").contains_key("svg onload"));
}
