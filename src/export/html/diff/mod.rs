//! A comparison as a page: the answer first, the evidence below, and the flame graphs of the changes.
//! The page also states what could not be compared.

mod answer;
mod code;
mod tables;

use super::page::{self, STYLE};
use crate::export::diff_flamegraph;
use crate::export::inert;
use crate::export::markup::escaped;
use crate::view::diff::{ComparisonView, DiffView, RecordingView, SideView, words};
use crate::view::number::{date, seconds};

const PAGE: &str = include_str!("../../../../assets/html/diff.html");

/// The comparison as an HTML page.
#[must_use]
pub fn diff(view: &DiffView) -> Vec<u8> {
    let others: Vec<String> = view.comparisons.iter().map(|found| words::label(&found.new)).collect();
    let title = format!("{} -> {}", words::label(&view.base), others.join(", "));
    let all = view.comparisons.iter().enumerate().map(|(at, found)| one(view, found, at));
    let parts = [
        ("style", STYLE.to_string()),
        ("script", diff_flamegraph::SCRIPT.to_string()),
        ("title", escaped(&title)),
        ("tool", env!("CARGO_PKG_VERSION").to_string()),
        ("settings", escaped(&words::settings(&view.settings))),
        ("comparisons", all.collect()),
    ];
    inert::document(page::fill(PAGE, &parts))
}

fn one(view: &DiffView, found: &ComparisonView, at: usize) -> String {
    let heading = match view.comparisons.len() {
        0 | 1 => String::new(),
        _ => format!("<h2 class=\"comparison mono\">{}</h2>", escaped(&words::label(&found.new))),
    };
    let parts = [
        heading,
        answer::answer(found),
        format!("<dl class=\"facts\">{}{}</dl>", conditions("Base", &view.base), conditions("New", &found.new)),
        answer::gates(found),
        answer::expectations(found),
        answer::mismatches(found),
        tables::factors(found),
        tables::quantities(found),
        tables::groups(found),
        code::section(found),
        code::flames(found, at),
    ];
    parts.concat()
}

/// The recordings of a side; a repeated program is named once.
fn conditions(name: &str, side: &SideView) -> String {
    let row = |(at, run): (usize, &RecordingView)| {
        let before = at.checked_sub(1).and_then(|before| side.recordings.get(before));
        let known = before.is_some_and(|other| (&other.program, &other.build_id) == (&run.program, &run.build_id));
        let label = if at == 0 { name } else { "" };
        format!("<dt>{label}</dt><dd>{}</dd>\n", escaped(&recording(run, !known)))
    };
    side.recordings.iter().enumerate().map(row).collect()
}

fn recording(run: &RecordingView, with_program: bool) -> String {
    let program = if with_program { words::program(run) } else { String::new() };
    let ops = run.operations.as_ref().map_or(String::new(), |ops| format!(", operations by {ops}"));
    let when = date(run.started_unix_ns);
    format!("{}, on {}, {when}, {}{program}{ops}", run.name, run.host, seconds(run.seconds).joined())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::diff::testing::costlier;

    fn html(view: &DiffView) -> String {
        String::from_utf8(diff(view)).expect("it is UTF-8")
    }

    #[test]
    fn the_page_leads_with_the_answer_and_holds_every_part() {
        let page = html(&costlier());
        let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is missing: {page}"));
        let order = [
            "Regression, beyond chance",
            "Gate",
            "Expected",
            "Mismatches",
            "Quantities",
            "Code",
            "class=\"difference\"",
        ];
        assert!(order.map(at).windows(2).all(|pair| pair[0] < pair[1]), "{:?}", order.map(at));
        for text in ["contradicted", "class=\"interval\"", "cpu_ns_per_op &gt; +5%", "class=\"fail\""] {
            at(text);
        }
    }

    #[test]
    fn no_name_acts_and_nothing_is_asked_of_another_host() {
        let page = html(&costlier());
        assert!(page.contains("parse&lt;&amp;str&gt;|\u{241b}[31m") && !page.contains('\u{1b}'), "names are escaped");
        let links = ["src=", "href=", "url(http", "@import", "fetch(", "XMLHttpRequest"];
        assert!(links.iter().all(|link| !page.contains(link)), "{:?}", links.map(|link| page.find(link)));
        assert!(page.contains("default-src 'none'"));
    }

    #[test]
    fn several_comparisons_share_a_page_and_no_id_occurs_twice() {
        let mut view = costlier();
        view.comparisons.push(view.comparisons[0].clone());
        let page = html(&view);
        let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let mut once = ids.clone();
        once.sort_unstable();
        once.dedup();
        assert!(ids.len() >= 2 && ids.len() == once.len(), "{ids:?}");
    }
}
