//! The answer of the comparison, the conditions it was tested against, and the differences between the two sides.
//! Only numbers that the verdict rests on are shown.

use crate::export::html::tables::Html;
use crate::export::markup::escaped;
use crate::view::diff::{ComparisonView, Outcome, Severity, words};

pub(super) fn answer(found: &ComparisonView) -> String {
    let verdict = found.answer.as_ref().map_or("-", words::verdict);
    let class = match verdict {
        "worse" => " worse",
        "better" => " better",
        _ => "",
    };
    let sentence = |(at, text): (usize, &String)| match at {
        0 => format!("<p class=\"answer{class}\">{}</p>", escaped(text)),
        _ => format!("<p class=\"about\">{}</p>", escaped(text)),
    };
    let text: String = found.headline.iter().enumerate().map(sentence).collect();
    format!("<section>{text}<p class=\"about\">Load: {}.</p></section>", escaped(&found.load_text))
}

pub(super) fn gates(found: &ComparisonView) -> String {
    if found.gates.is_empty() {
        return String::new();
    }
    let mut table = Html::table("A broken gate fails the merge");
    table.head(["condition", "", ""].map(str::to_string).into_iter(), 3);
    for gate in &found.gates {
        let (class, mark) = if gate.passes { ("pass", "pass") } else { ("fail", "fail") };
        let mark = format!("<span class=\"{class}\">{mark}</span>");
        table.row(&gate.text, [mark, escaped(&words::gate(gate))].into_iter());
    }
    format!("<section><h2>Gate</h2>{}</section>", table.finish())
}

pub(super) fn expectations(found: &ComparisonView) -> String {
    if found.expectations.is_empty() {
        return String::new();
    }
    let mut table = Html::table("Expectations stated in advance, and their outcome");
    table.head(["expected", "", ""].map(str::to_string).into_iter(), 3);
    for row in &found.expectations {
        let class = match row.outcome {
            Outcome::Confirmed => "pass",
            Outcome::Contradicted => "fail",
            Outcome::NotConfirmed | Outcome::Undecided => "",
        };
        let text = words::expectation(row);
        let (word, rest) = text.split_once([':', ',']).unwrap_or((&text, ""));
        let word = format!("<span class=\"verdict {class}\">{}</span>", escaped(word));
        table.row(&row.text, [word, escaped(rest.trim())].into_iter());
    }
    format!("<section><h2>Expected</h2>{}</section>", table.finish())
}

pub(super) fn mismatches(found: &ComparisonView) -> String {
    if found.mismatches.is_empty() {
        return String::new();
    }
    let mut table = Html::table("Conditions that differ besides what is compared");
    table.head(["what", "base", "new", ""].map(str::to_string).into_iter(), 4);
    for mismatch in &found.mismatches {
        let class = if mismatch.severity == Severity::Info { "" } else { "fail" };
        let weight = format!("<span class=\"{class}\">{}</span>", words::severity(mismatch.severity));
        table.row(&mismatch.what, [escaped(&mismatch.base), escaped(&mismatch.new), weight].into_iter());
    }
    format!("<section><h2>Mismatches</h2>{}</section>", table.finish())
}
