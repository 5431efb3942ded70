//! The cells of the picture: their position, appearance and title.

use super::{COLUMN, HEAD, PAD, ROW, STEPS, WIDTH, caption};
use crate::export::column_format::cost;
use crate::export::columns;
use crate::export::markup::{attribute, escaped, px};
use crate::view::diff_flamegraph::{DiffCell, DiffFlameGraph};
use crate::view::escape::visible;
use crate::view::fit::name_forms;

/// Narrower cells are left out, with their callees. As in the flame graph, zooming makes room for the others.
const LEAST: f64 = 0.1;
/// Narrower cells have no border.
const EDGED: f64 = 4.0;

/// Position of a cell: its left edge, and its row counted from the root.
struct CellPosition {
    cell: usize,
    x: f64,
    row: u32,
}

/// A difference with the position of every cell.
pub(super) struct Drawing {
    placed: Vec<CellPosition>,
    scale: f64,
    /// Height of all rows.
    pub height: f64,
}

impl Drawing {
    pub fn of(difference: &DiffFlameGraph) -> Drawing {
        let scale = (WIDTH - 2.0 * PAD) / difference.width;
        let mut placed: Vec<CellPosition> = Vec::new();
        let place = |placed: &mut Vec<CellPosition>, cells: std::ops::Range<usize>, mut x: f64, row: u32| {
            for cell in cells {
                let width = difference.cells[cell].width * scale;
                if width >= LEAST {
                    placed.push(CellPosition { cell, x, row });
                }
                x += width;
            }
        };
        place(&mut placed, 0..difference.roots as usize, PAD, 1);
        let mut at = 0;
        while let Some(CellPosition { cell, x, row }) = placed.get(at) {
            let DiffCell { first_child, children, .. } = difference.cells[*cell];
            let (x, row) = (*x, row + 1);
            place(&mut placed, first_child as usize..(first_child + children) as usize, x, row);
            at += 1;
        }
        let rows = placed.iter().map(|cell_at| cell_at.row).max().unwrap_or(0) + 1;
        Drawing { placed, scale, height: f64::from(rows) * ROW }
    }

    /// The legend and the cells; `hatch` is the id of the pattern for code that is gone.
    pub fn body(&self, difference: &DiffFlameGraph, hatch: &str) -> String {
        let mut out = format!(
            "<defs><pattern id=\"{hatch}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#ffffff\"/>\
             <rect width=\"2.5\" height=\"6\" fill=\"{}\"/></pattern></defs>",
            STEPS[0].1
        );
        legend(&mut out, hatch);
        let all = format!("all: {}", caption(difference));
        draw(
            &mut out,
            &Shape {
                place: (PAD, difference.width * self.scale, 0),
                y: HEAD + self.height - ROW,
                fill: STEPS[2].1,
                edge: Edge::None,
                mark: "",
                label: &all,
                title: &all,
                share: [100.0, 100.0],
            },
        );
        let hatched = format!("url(#{hatch})");
        for cell_at in &self.placed {
            let cell = &difference.cells[cell_at.cell];
            let step = &STEPS[(i32::from(cell.step) + 2).clamp(0, 4) as usize];
            let of = |value: f64, whole: f64| if whole > 0.0 { value / whole * 100.0 } else { 0.0 };
            let shape = Shape {
                place: (cell_at.x, cell.width * self.scale, cell_at.row),
                y: HEAD + self.height - ROW * f64::from(cell_at.row + 1),
                fill: if cell.is_gone() { &hatched } else { step.1 },
                edge: match (cell.is_gone(), cell.is_new()) {
                    (true, _) => Edge::Gone,
                    (_, true) => Edge::New,
                    _ => Edge::None,
                },
                mark: step.0,
                label: &visible(&cell.function.name),
                title: &title(cell, difference, step.0),
                share: [of(cell.base, difference.base), of(cell.here, difference.here)],
            };
            draw(&mut out, &shape);
        }
        out
    }
}

/// The legend above the cells: colours, marks and borders.
fn legend(out: &mut String, hatch: &str) {
    let mut x = PAD;
    let gone = format!("url(#{hatch})");
    let entries = STEPS.iter().map(|(mark, fill, words)| (format!("{mark} {words}"), *fill, ""));
    let more = [
        ("gone".to_string(), gone.as_str(), " stroke=\"#2f5f9e\" stroke-dasharray=\"3 2\""),
        ("new".to_string(), STEPS[4].1, " stroke=\"#a34a00\" stroke-width=\"1.5\""),
    ];
    let y = HEAD - 20.0;
    for (text, fill, edge) in entries.chain(more) {
        out.push_str(&format!(
            "<rect x=\"{}\" y=\"{}\" width=\"12\" height=\"12\" rx=\"1.5\" fill=\"{fill}\"{edge}/>\
             <text x=\"{}\" y=\"{}\" fill=\"currentColor\">{text}</text>",
            px(x),
            px(y - 10.0),
            px(x + 17.0),
            px(y)
        ));
        x += 17.0 + COLUMN * (text.len() as f64 + 2.5);
    }
}

/// Border of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    None,
    New,
    Gone,
}

struct Shape<'a> {
    /// Left edge, width, and row counted from the root.
    place: (f64, f64, u32),
    y: f64,
    fill: &'a str,
    edge: Edge,
    mark: &'a str,
    /// Beginning of its title.
    label: &'a str,
    title: &'a str,
    /// Shares of the base and of the other side, percent.
    share: [f64; 2],
}

fn draw(out: &mut String, shape: &Shape<'_>) {
    let Shape { place: (x, width, row), y, fill, edge, mark, label, title, share: [base, here] } = shape;
    let (name, stroke) = match edge {
        Edge::None => ("", ""),
        Edge::New => ("new", " stroke=\"#a34a00\" stroke-width=\"1.5\""),
        Edge::Gone => ("gone", " stroke=\"#2f5f9e\" stroke-dasharray=\"3 2\""),
    };
    // A border would be all that is visible of a narrow cell.
    let stroke = if *width < EDGED { "" } else { stroke };
    // A small gap between neighbours, but never wider than the cell.
    let (inner, height) = ((width - 0.6).max(width * 0.6), ROW - 1.5);
    out.push_str(&format!(
        "<g class=\"cell\" data-at=\"{x:.3} {width:.3} {row}\" data-name=\"{}\" data-mark=\"{mark}\" data-edge=\"{name}\" \
         data-share=\"{base:.2} {here:.2}\"{}><title>{}</title>\
         <rect x=\"{}\" y=\"{}\" width=\"{inner:.1}\" height=\"{height}\" rx=\"1.5\" fill=\"{fill}\"{stroke}/>",
        label.encode_utf16().count(),
        // The root is a sentence and has the whole width.
        if *row == 0 { String::new() } else { shorter(label) },
        escaped(title),
        px(*x),
        px(*y)
    ));
    let room = ((width - 6.0) / COLUMN).max(0.0) as usize;
    // Fewer letters carry no information.
    if room >= 4 {
        let shown = columns::function(label, room.saturating_sub(mark.len() + 1));
        let shown = format!("{mark} {shown}");
        let (x, y) = (px(x + 3.0), px(y + 12.0));
        out.push_str(&format!("<text x=\"{x}\" y=\"{y}\" fill=\"#1a1a1a\">{}</text>", escaped(shown.trim())));
    }
    out.push_str("</g>");
}

/// The shorter forms of a name, one a line, for the script that cuts names where it zooms.
fn shorter(name: &str) -> String {
    match &name_forms(name)[1..] {
        [] => String::new(),
        forms => format!(" data-shorter=\"{}\"", attribute(&forms.join("\n")).replace('\n', "&#10;")),
    }
}

/// `parse (server): 12.0 ns to 222 ns per op, +210 ns ++; 4.2% of all here`.
fn title(cell: &DiffCell, difference: &DiffFlameGraph, mark: &str) -> String {
    let module = match visible(&cell.function.module) {
        module if module.is_empty() => String::new(),
        module => format!(" ({module})"),
    };
    let state = match (cell.is_gone(), cell.is_new()) {
        (true, _) => ", gone",
        (_, true) => ", new",
        _ => "",
    };
    let sign = if cell.growth() > 0.0 { "+" } else { "" };
    let share = if difference.here > 0.0 { cell.here / difference.here * 100.0 } else { 0.0 };
    format!(
        "{}{module}: {} to {}{}, {sign}{} {mark}{state}; {share:.1}% of all here",
        visible(&cell.function.name),
        cost(cell.base, difference.unit),
        cost(cell.here, difference.unit),
        format_args!(" {}", difference.terms.per()).to_string().trim_end(),
        cost(cell.growth(), difference.unit),
    )
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;
    use crate::view::CodeKind;
    use crate::view::diff_flamegraph::{ComparisonTerms, CostAxis};
    use crate::view::sweep::FunctionId;

    fn cell(name: &str, parent: Option<u32>, below: (u32, u32), base: f64, here: f64, width: f64) -> DiffCell {
        let function = FunctionId {
            name: name.to_string(),
            module: "m<".to_string(),
            kind: CodeKind::User,
            inlined: false,
            source: Default::default(),
        };
        let step = if here > base { 2 } else { -2 };
        let (first_child, children) = below;
        DiffCell {
            function,
            parent,
            first_child,
            children,
            base,
            here,
            own_base: 0.0,
            own_here: 0.0,
            width,
            step,
            error: crate::model::Measure::exact(1.0),
        }
    }

    pub fn two_below_main() -> DiffFlameGraph {
        DiffFlameGraph {
            axis: CostAxis::Cpu,
            unit: "ns",
            terms: ComparisonTerms::Widths,
            base_n: 1,
            n: 8,
            base: 100.0,
            here: 300.0,
            samples: [50, 60],
            width: 400.0,
            cells: vec![
                cell("main", None, (1, 2), 100.0, 300.0, 400.0),
                cell("gone<away>", Some(0), (3, 0), 100.0, 0.0, 100.0),
                cell("came", Some(0), (3, 0), 0.0, 300.0, 300.0),
            ],
            roots: 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::render;
    use super::testing::two_below_main;
    use super::*;

    #[test]
    fn what_is_gone_and_what_is_new_are_drawn_described_and_as_wide_as_their_cost() {
        let text = String::from_utf8(render(&two_below_main(), "</svg>")).unwrap_or_default();
        let document = roxmltree::Document::parse(&text).expect("well-formed XML");
        let titles: Vec<_> = document.descendants().filter(|node| node.has_tag_name("title")).collect();
        for (start, fill, width) in [
            ("gone<away> (m<): 100 ns to 0 s per op, -100 ns --, gone", "url(#gone)", "294.4"),
            ("came (m<): 0 s to 300 ns per op, +300 ns ++, new", "#f2a65a", "884.4"),
        ] {
            let title = titles.iter().find(|title| title.text().is_some_and(|text| text.starts_with(start)));
            let rect = title.and_then(|title| title.next_sibling_element()).expect("a cell with its title");
            assert_eq!((rect.attribute("fill"), rect.attribute("width")), (Some(fill), Some(width)));
        }
    }

    #[test]
    fn a_narrow_cell_shows_the_functions_own_name_from_its_start_and_the_script_has_the_shorter_ones() {
        let mut long = two_below_main();
        long.cells[1].function.name = "std::condition_variable::wait(std::unique_lock<std::mutex>&)".to_string();
        long.cells[1].width = 25.0;
        let text = String::from_utf8(render(&long, "t")).unwrap_or_default();
        assert!(text.contains(">-- wait</text>"), "{text}");
        let forms = "std::condition_variable::wait&#10;condition_variable::wait&#10;wait";
        assert!(text.contains(&format!("data-shorter=\"{forms}\"")), "{text}");
        assert_eq!(text.matches("data-shorter=").count(), 1, "the root is no function: {text}");
    }

    #[test]
    fn a_cell_nobody_could_see_takes_what_it_calls_with_it() {
        let mut thin = two_below_main();
        thin.cells[1].width = 0.01;
        assert_eq!(Drawing::of(&thin).placed.len(), 2);
    }
}
