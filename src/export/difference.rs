//! Two flame graphs as one SVG: how wide a call path is tells its cost per operation, its colour how that changed.
//! It never tells a change by colour alone, and holds no script: titles carry the numbers.

use super::columns;
use super::markup::{escaped, px};
use super::shape::cost;
use crate::view::escape::visible;
use crate::view::scaling::{CostAxis, Difference, DifferenceCell, Terms};

const WIDTH: f64 = 1200.0;
const PAD: f64 = 10.0;
const ROW: f64 = 18.0;
const HEAD: f64 = 58.0;
/// One column of the monospaced font.
const COLUMN: f64 = 6.7;
/// Narrower cells are left out, and so is what they call.
const LEAST: f64 = 0.4;

/// Narrower cells have no edge.
const EDGED: f64 = 4.0;

/// What the changes look like, from much less to much more: mark, colour, words. Dark text is readable on all of them.
const STEPS: [(&str, &str, &str); 5] = [
    ("--", "#8fb8ea", "much less"),
    ("-", "#c6dbf3", "less"),
    ("=", "#e2e2df", "as before"),
    ("+", "#fbd9ae", "more"),
    ("++", "#f2a65a", "much more"),
];

/// The picture as a file of its own, the root at the bottom.
#[must_use]
pub fn render(difference: &Difference, title: &str) -> Vec<u8> {
    let drawn = Drawing::of(difference);
    let height = HEAD + drawn.height + PAD;
    let title = columns::middle(&visible(title), 100);
    let head = format!(
        "<rect width=\"100%\" height=\"100%\" fill=\"#fcfcfc\"/>\
         <text x=\"{PAD}\" y=\"22\" font-size=\"16\" font-family=\"sans-serif\">{}</text>",
        escaped(&title)
    );
    let body = drawn.body(difference);
    let picture = format!("{}{head}{body}</svg>\n", open(height, &caption(difference)));
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{picture}").into_bytes()
}

/// The picture for a page that has its own title; text outside the cells has the page's colour.
pub(super) fn embedded(difference: &Difference) -> String {
    let drawn = Drawing::of(difference);
    let body = drawn.body(difference);
    // The room of the title is cut off by the view box.
    let top = HEAD - 30.0;
    let height = HEAD + drawn.height + PAD - top;
    format!(
        "<svg class=\"difference\" role=\"img\" viewBox=\"0 {} {WIDTH} {}\" font-family=\"monospace\" font-size=\"11\">\
         <title>{}</title>{body}</svg>",
        px(top),
        px(height),
        escaped(&caption(difference))
    )
}

fn open(height: f64, caption: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{WIDTH}\" height=\"{0}\" \
         viewBox=\"0 0 {WIDTH} {0}\" color=\"#1a1a1a\" font-family=\"monospace\" font-size=\"11\">\
         <title>{1}</title>",
        px(height),
        escaped(caption)
    )
}

/// `CPU time per op, n = 1 to 16: 711 ns to 1.02 us`.
pub(super) fn caption(difference: &Difference) -> String {
    let Difference { unit, terms, base_n, n, base, here, .. } = difference;
    let what = match difference.axis {
        CostAxis::Cpu if matches!(*unit, "ns" | "%") => "CPU time",
        CostAxis::Cpu => unit,
        CostAxis::Blocked => "time blocked",
    };
    let (base, here) = (cost(*base, unit), cost(*here, unit));
    match terms {
        Terms::Widths => format!("{what} per op, n = {base_n} to {n}: {base} to {here}"),
        Terms::Sides(per) => format!("{}: base {base}, new {here}", format!("{what} {per}").trim_end()),
    }
}

/// Where a cell stands: its left edge and its row from the root's.
struct Seat {
    cell: usize,
    x: f64,
    row: u32,
}

struct Drawing {
    seats: Vec<Seat>,
    scale: f64,
    height: f64,
}

impl Drawing {
    fn of(difference: &Difference) -> Drawing {
        let scale = (WIDTH - 2.0 * PAD) / difference.width;
        let mut seats: Vec<Seat> = Vec::new();
        let place = |seats: &mut Vec<Seat>, cells: std::ops::Range<usize>, mut x: f64, row: u32| {
            for cell in cells {
                let width = difference.cells[cell].width * scale;
                if width >= LEAST {
                    seats.push(Seat { cell, x, row });
                }
                x += width;
            }
        };
        place(&mut seats, 0..difference.roots as usize, PAD, 1);
        let mut at = 0;
        while let Some(Seat { cell, x, row }) = seats.get(at) {
            let DifferenceCell { first_child, children, .. } = difference.cells[*cell];
            let (x, row) = (*x, row + 1);
            place(&mut seats, first_child as usize..(first_child + children) as usize, x, row);
            at += 1;
        }
        let rows = seats.iter().map(|seat| seat.row).max().unwrap_or(0) + 1;
        Drawing { seats, scale, height: f64::from(rows) * ROW }
    }

    fn body(&self, difference: &Difference) -> String {
        let hatch = match difference.axis {
            CostAxis::Cpu => "gone-cpu",
            CostAxis::Blocked => "gone-blocked",
        };
        let mut out = format!(
            "<defs><pattern id=\"{hatch}\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
             patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#ffffff\"/>\
             <rect width=\"2.5\" height=\"6\" fill=\"{}\"/></pattern></defs>",
            STEPS[0].1
        );
        legend(&mut out, hatch);
        let all = format!("all: {}", caption(difference));
        let y = HEAD + self.height - ROW;
        let width = difference.width * self.scale;
        draw(&mut out, &Shape { x: PAD, y, width, fill: STEPS[2].1, edge: "", mark: "", label: &all, title: &all });
        for seat in &self.seats {
            let cell = &difference.cells[seat.cell];
            let step = &STEPS[(i32::from(cell.step) + 2).clamp(0, 4) as usize];
            let hatched = format!("url(#{hatch})");
            let name = visible(&cell.function.name);
            let shape = Shape {
                x: seat.x,
                y: HEAD + self.height - ROW * f64::from(seat.row + 1),
                width: cell.width * self.scale,
                fill: if cell.is_gone() { &hatched } else { step.1 },
                edge: match (cell.is_gone(), cell.is_new()) {
                    // An edge would be all one sees of it.
                    _ if cell.width * self.scale < EDGED => "",
                    (true, _) => " stroke=\"#2f5f9e\" stroke-dasharray=\"3 2\"",
                    (_, true) => " stroke=\"#a34a00\" stroke-width=\"1.5\"",
                    _ => "",
                },
                mark: step.0,
                label: &name,
                title: &title(cell, difference, step.0),
            };
            draw(&mut out, &shape);
        }
        out
    }
}

struct Shape<'a> {
    x: f64,
    y: f64,
    width: f64,
    fill: &'a str,
    edge: &'a str,
    mark: &'a str,
    label: &'a str,
    title: &'a str,
}

fn draw(out: &mut String, shape: &Shape<'_>) {
    let Shape { x, y, width, fill, edge, mark, label, title } = shape;
    // A hair of room between neighbours, but never more than the cell.
    let (inner, height) = ((width - 0.6).max(width * 0.6), ROW - 1.5);
    out.push_str(&format!(
        "<g><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{inner:.1}\" height=\"{height}\" rx=\"1.5\" fill=\"{fill}\"{edge}/>",
        escaped(title),
        px(*x),
        px(*y)
    ));
    let room = ((width - 6.0) / COLUMN).max(0.0) as usize;
    // Fewer letters than these say nothing.
    if room >= 4 {
        let shown = columns::function(label, room.saturating_sub(mark.len() + 1));
        let shown = format!("{mark} {shown}");
        let (x, y) = (px(x + 3.0), px(y + 12.0));
        out.push_str(&format!("<text x=\"{x}\" y=\"{y}\" fill=\"#1a1a1a\">{}</text>", escaped(shown.trim())));
    }
    out.push_str("</g>");
}

/// `parse (server): 12.0 ns to 222 ns per op, +210 ns ++; 4.2% of all here`.
fn title(cell: &DifferenceCell, difference: &Difference, mark: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::CodeKind;
    use crate::view::scaling::FunctionId;

    fn cell(name: &str, parent: Option<u32>, below: (u32, u32), base: f64, here: f64, width: f64) -> DifferenceCell {
        let function =
            FunctionId { name: name.to_string(), module: "m<".to_string(), kind: CodeKind::User, inlined: false };
        let step = if here > base { 2 } else { -2 };
        let (first_child, children) = below;
        DifferenceCell {
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
        }
    }

    fn two_below_main() -> Difference {
        Difference {
            axis: CostAxis::Cpu,
            unit: "ns",
            terms: Terms::Widths,
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

    #[test]
    fn what_is_gone_and_what_is_new_are_drawn_told_and_as_wide_as_their_cost() {
        let text = String::from_utf8(render(&two_below_main(), "</svg>")).unwrap_or_default();
        let document = roxmltree::Document::parse(&text).expect("well-formed XML");
        let titles: Vec<_> = document.descendants().filter(|node| node.has_tag_name("title")).collect();
        for (start, told, width) in [
            ("gone<away> (m<): 100 ns to 0 s per op, -100 ns --, gone", "url(#gone-cpu)", "294.4"),
            ("came (m<): 0 s to 300 ns per op, +300 ns ++, new", "#f2a65a", "884.4"),
        ] {
            let title = titles.iter().find(|title| title.text().is_some_and(|text| text.starts_with(start)));
            let rect = title.and_then(|title| title.next_sibling_element()).expect("a cell with its title");
            assert_eq!((rect.attribute("fill"), rect.attribute("width")), (Some(told), Some(width)));
        }
    }

    #[test]
    fn a_cell_nobody_could_see_takes_what_it_calls_with_it() {
        let mut thin = two_below_main();
        thin.cells[1].width = 0.1;
        assert_eq!(Drawing::of(&thin).seats.len(), 2);
    }
}
