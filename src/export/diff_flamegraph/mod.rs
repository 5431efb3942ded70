//! Two flame graphs as one SVG: the width of a call path shows its cost per operation, the colour its change.
//! Changes are marked by text as well as by colour, and titles contain the numbers, so the script is optional.

mod drawing;

use super::column_format::cost;
use super::columns;
use super::markup::{escaped, px};
use crate::view::diff_flamegraph::{ComparisonTerms, CostAxis, DiffFlameGraph};
use crate::view::escape::visible;
use drawing::Drawing;

const WIDTH: f64 = 1200.0;
const PAD: f64 = 10.0;
const ROW: f64 = 18.0;
const HEAD: f64 = 58.0;
/// One column of the monospaced font.
const COLUMN: f64 = 6.7;

/// How changes are drawn, from much less to much more: mark, colour, words. Dark text is readable on all colours.
const STEPS: [(&str, &str, &str); 5] = [
    ("--", "#8fb8ea", "much less"),
    ("-", "#c6dbf3", "less"),
    ("=", "#e2e2df", "as before"),
    ("+", "#fbd9ae", "more"),
    ("++", "#f2a65a", "much more"),
];

/// Search and zoom for every picture in its document. It reads the positions of the cells from their attributes.
pub(super) const SCRIPT: &str = include_str!("../../../assets/svg/diff_flamegraph.js");

/// The picture as a file of its own, with the root at the bottom: click to zoom, Ctrl-F to search.
#[must_use]
pub fn render(difference: &DiffFlameGraph, title: &str) -> Vec<u8> {
    let drawn = Drawing::of(difference);
    let height = HEAD + drawn.height + ROW + PAD;
    let title = columns::middle(&visible(title), 90);
    let head = format!(
        "<rect width=\"100%\" height=\"100%\" fill=\"#fcfcfc\"/>\
         <text x=\"{PAD}\" y=\"22\" font-size=\"16\" font-family=\"sans-serif\">{}</text>",
        escaped(&title)
    );
    let body = drawn.body(difference, "gone");
    let (controls, script) = (controls(22.0, height), format!("<script><![CDATA[\n{SCRIPT}]]></script>"));
    let picture = format!("{}{head}{body}{controls}{script}</svg>\n", open(height, &caption(difference)));
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{picture}").into_bytes()
}

/// The picture for a page that has its own title and includes [`SCRIPT`] once. Text outside the cells has the page's
/// colour. `id` is the id of its hatch pattern, unique in the page.
pub(super) fn embedded(difference: &DiffFlameGraph, id: &str) -> String {
    let drawn = Drawing::of(difference);
    let body = drawn.body(difference, id);
    // The view box cuts off the space for the title.
    let top = HEAD - 30.0;
    let bottom = HEAD + drawn.height + ROW + PAD;
    format!(
        "<svg class=\"difference\" role=\"img\" viewBox=\"0 {} {WIDTH} {}\" font-family=\"monospace\" font-size=\"11\">\
         <title>{}</title>{body}{}</svg>",
        px(top),
        px(bottom - top),
        escaped(&caption(difference)),
        controls(HEAD - 20.0, bottom)
    )
}

fn open(height: f64, caption: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"difference\" role=\"img\" width=\"{WIDTH}\" height=\"{0}\" \
         viewBox=\"0 0 {WIDTH} {0}\" color=\"#1a1a1a\" font-family=\"monospace\" font-size=\"11\">\
         <title>{1}</title>",
        px(height),
        escaped(caption)
    )
}

/// Controls that need the script, which makes them visible.
fn controls(top: f64, bottom: f64) -> String {
    let (right, below) = (WIDTH - PAD, px(bottom - PAD));
    let button = |class: &str, x: f64, text: &str| {
        format!(
            "<text class=\"{class}\" x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"currentColor\" visibility=\"hidden\" \
             style=\"cursor:pointer;text-decoration:underline\">{text}</text>",
            px(x),
            px(top)
        )
    };
    format!(
        "{}{}<text class=\"details\" x=\"{PAD}\" y=\"{below}\" fill=\"currentColor\"></text>\
         <text class=\"matched\" x=\"{}\" y=\"{below}\" text-anchor=\"end\" fill=\"currentColor\"></text>",
        button("unzoom", right - 110.0, "Reset zoom"),
        button("search", right, "Search"),
        px(right)
    )
}

/// `CPU time per op, n = 1 to 16: 711 ns to 1.02 us`.
pub(super) fn caption(difference: &DiffFlameGraph) -> String {
    let DiffFlameGraph { unit, terms, base_n, n, base, here, .. } = difference;
    let what = match difference.axis {
        CostAxis::Cpu if matches!(*unit, "ns" | "%") => "CPU time",
        CostAxis::Cpu => unit,
        CostAxis::Blocked => "time blocked",
    };
    let (base, here) = (cost(*base, unit), cost(*here, unit));
    match terms {
        ComparisonTerms::Widths => format!("{what} per op, n = {base_n} to {n}: {base} to {here}"),
        ComparisonTerms::Baseline(_) => {
            format!("{}: usual {base}, now {here}", format!("{what} {}", terms.per()).trim_end())
        }
        ComparisonTerms::Sides(per) => format!("{}: base {base}, new {here}", format!("{what} {per}").trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::drawing::testing::two_below_main;
    use super::*;

    #[test]
    fn the_picture_is_whole_without_its_script_and_every_place_the_script_reads_is_there() {
        let text = String::from_utf8(render(&two_below_main(), "]]></svg>")).unwrap_or_default();
        let document = roxmltree::Document::parse(&text).expect("well-formed XML");
        let by_class = |class: &str| -> Vec<_> {
            document.descendants().filter(|node| node.attribute("class").is_some_and(|is| is == class)).collect()
        };
        let cells = by_class("cell");
        assert_eq!(cells.len(), 4, "the whole, main, and two that it calls");
        for cell in cells {
            let title =
                cell.children().find(|node| node.has_tag_name("title")).and_then(|node| node.text()).unwrap_or("");
            let numbers = |name: &str| -> Vec<f64> {
                cell.attribute(name).unwrap_or("").split(' ').filter_map(|part| part.parse().ok()).collect()
            };
            let name = numbers("data-name")[0] as usize;
            assert!(
                title.len() >= name && numbers("data-at").len() == 3 && numbers("data-share").len() == 2,
                "{title}"
            );
        }
        for class in ["unzoom", "search"] {
            assert!(by_class(class).iter().all(|node| node.attribute("visibility") == Some("hidden")), "{class}");
        }
        assert!(!SCRIPT.contains("]]>") && !SCRIPT.contains("</script"), "it would end its own element");
    }
}
