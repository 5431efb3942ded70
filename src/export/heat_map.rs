//! The matrix of a colocation as an SVG: a cell is the redder the slower its victim. Cells within noise have no colour,
//! so that none is taken for a slowdown.

use super::columns;
use super::inert;
use super::markup::{escaped, px};
use crate::view::colocate::{CellView, ColocateView, Verdict, words};

const CELL: f64 = 132.0;
const ROW: f64 = 46.0;
/// Room for the names of victims, and of what stands above a block.
const LEFT: f64 = 150.0;
const HEAD: f64 = 62.0;
/// Columns that a name has.
const NAME: usize = 18;

/// The picture as a file of its own.
#[must_use]
pub fn render(view: &ColocateView) -> Vec<u8> {
    let text = drawing(view).replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1);
    inert::document(format!("<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n{text}\n"))
}

/// The picture as an element of a page.
pub(super) fn drawing(view: &ColocateView) -> String {
    let block = HEAD + ROW * view.victims.len() as f64 + 14.0;
    let width = LEFT + CELL * view.neighbours.len().max(2) as f64 + 10.0;
    let height = block * view.loads.len() as f64;
    let mut out = format!(
        "<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" aria-label=\"slowdown of each victim beside each \
         neighbour\" font-family=\"DejaVu Sans, sans-serif\" font-size=\"12\"><rect width=\"{0}\" height=\"{1}\" fill=\"#fcfcfc\"/>",
        px(width),
        px(height)
    );
    for (at, load) in view.loads.iter().enumerate() {
        let top = block * at as f64;
        let title = format!("Slowdown {}: {}", words::load(*load), words::measures(view));
        out += &text(10.0, top + 20.0, "start", "#1b1f24", &columns::end(&title, (width / 7.5) as usize));
        for (column, neighbour) in view.neighbours.iter().enumerate() {
            let x = LEFT + CELL * (column as f64 + 0.5);
            out += &text(x, top + HEAD - 12.0, "middle", "#59636e", &columns::end(&neighbour.name, NAME));
        }
        for (row, victim) in view.victims.iter().enumerate() {
            let y = top + HEAD + ROW * row as f64;
            out += &text(LEFT - 8.0, y + ROW / 2.0 + 4.0, "end", "#59636e", &columns::end(&victim.name, NAME));
            for (column, neighbour) in view.neighbours.iter().enumerate() {
                let cell = view.cell(&victim.name, &neighbour.name, *load);
                out += &square(cell, LEFT + CELL * column as f64, y);
            }
        }
    }
    out + "</svg>"
}

fn square(cell: Option<&CellView>, x: f64, y: f64) -> String {
    let (fill, number, remark, title) = match cell {
        Some(cell) => {
            let title = format!(
                "{} beside {} {}: {}",
                cell.victim,
                cell.neighbour,
                words::load(cell.load),
                words::slowdown(cell)
            );
            let causes = words::causes(cell);
            let title = if causes.is_empty() { title } else { format!("{title}; {causes}") };
            (colour(cell), words::slowdown(cell), words::remark(cell), title)
        }
        None => ("#eeeeee".to_string(), "-".to_string(), "not run", String::new()),
    };
    format!(
        "<g><title>{}</title><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{fill}\" stroke=\"#d5dae0\"/>{}{}</g>",
        escaped(&title),
        px(x + 1.0),
        px(y + 1.0),
        px(CELL - 2.0),
        px(ROW - 2.0),
        text(x + CELL / 2.0, y + 20.0, "middle", "#1b1f24", &number),
        text(x + CELL / 2.0, y + 36.0, "middle", "#4a525b", remark)
    )
}

fn text(x: f64, y: f64, anchor: &str, fill: &str, content: &str) -> String {
    // As a style, which the style of a page does not override.
    format!(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\" style=\"fill:{fill}\">{}</text>",
        px(x),
        px(y),
        escaped(content)
    )
}

/// White at 1, the deepest red from 4 on, in equal steps of the ratio's logarithm; dark text stays readable on all.
fn colour(cell: &CellView) -> String {
    let depth = |slowdown: f64| (slowdown.max(1.0).ln() / 4.0_f64.ln()).clamp(0.0, 1.0);
    let mix = |depth: f64, end: [f64; 3]| {
        let [r, g, b] = end.map(|end| (255.0 + (end - 255.0) * depth).round() as u8);
        format!("#{r:02x}{g:02x}{b:02x}")
    };
    match (cell.verdict, cell.slowdown) {
        (Verdict::Slower, Some(slowdown)) => mix(0.15 + 0.85 * depth(slowdown), [244.0, 120.0, 92.0]),
        (Verdict::Faster, Some(slowdown)) => mix(0.15 + 0.85 * depth(1.0 / slowdown), [120.0, 180.0, 220.0]),
        (Verdict::Missing, _) | (_, None) => "#eeeeee".to_string(),
        _ => "#ffffff".to_string(),
    }
}
