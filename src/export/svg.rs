//! The flame graph as an SVG with search and zoom, drawn by inferno.
//! Output is deterministic: equal flame graphs give equal bytes, in any order of input.

use super::{colours, columns, folded};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::view::escape::visible;
use crate::view::flame::FlameGraph;
use inferno::flamegraph::color::{BackgroundColor, Color, Palette, PaletteMap};
use inferno::flamegraph::{self, Direction, Options};

/// How a flame graph is drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct SvgOptions {
    /// Draws the root at the top.
    pub inverted: bool,
    /// Cells narrower than this many of the picture's 1200 pixels are left out.
    pub min_width_px: f64,
    /// `kind`, ironlaw's own colours, or one of inferno's palettes. A flame graph with rates is coloured by these.
    pub palette: String,
}

impl Default for SvgOptions {
    fn default() -> Self {
        SvgOptions { inverted: false, min_width_px: 0.1, palette: "kind".to_string() }
    }
}

/// ironlaw's own colours, which distinguish kernel, user, JIT and inlined code.
pub const OWN_PALETTE: &str = "kind";
/// The width inferno draws before a browser stretches the picture.
const WIDTH_PX: f64 = 1200.0;
/// Columns of title and subtitle that fit into the picture, and of a subtitle that leaves room for the legend.
const TITLE_COLUMNS: usize = 90;
const SUBTITLE_COLUMNS: usize = 150;
const SHORT_SUBTITLE_COLUMNS: usize = 90;
/// Pixels of one column, measured on inferno's fonts.
const TITLE_COLUMN_PX: f64 = 10.3;
const SUBTITLE_COLUMN_PX: f64 = 7.3;
/// Above this a float cannot represent every integer, and sums of it would exceed 64 bits.
const LARGEST_TOTAL: u128 = 1 << 53;

/// Draws the flame graph.
///
/// # Errors
/// `Usage` for an unknown palette, `NotFound` for a flame graph without stacks.
pub fn render(flame: &FlameGraph, svg: &SvgOptions) -> Result<Vec<u8>> {
    if flame.total == 0 {
        return Err(Error::new(ErrorKind::NotFound, "there is nothing to draw: no samples in this selection")
            .hint("Widen --time-range or --thread, or choose another --event."));
    }
    let own = svg.palette == OWN_PALETTE || flame.steps.is_some();
    let entries = if flame.steps.is_some() { colours::rate_legend() } else { colours::legend() };
    let palette = if own { Palette::default() } else { palette(&svg.palette)? };
    let mut colours = own.then(|| colour_map(flame));
    let divisor = divisor(flame);
    let (count_name, factor) = scale(flame.unit, flame.total);
    let mut options = Options::default();
    let (title, subtitle, corner) = head(flame, &entries);
    options.title = title;
    options.subtitle = Some(subtitle);
    options.colors = palette;
    options.bgcolors = own.then_some(BackgroundColor::Flat(Color { r: 252, g: 252, b: 252 }));
    options.palette_map = colours.as_mut();
    options.deterministic = true;
    options.count_name = count_name.to_string();
    options.factor = factor * divisor as f64;
    options.min_width = svg.min_width_px / WIDTH_PX * 100.0;
    options.direction = if svg.inverted { Direction::Inverted } else { Direction::Straight };
    // Stacks are sorted frame by frame. inferno would sort or check whole lines, in which a space or a bracket in a
    // name sorts before the `;` that ends it and splits equal frames; only a chart keeps our order (reversed).
    options.flame_chart = true;

    let lines: Vec<String> = lines(flame, divisor);
    let mut bytes = Vec::new();
    flamegraph::from_lines(&mut options, lines.iter().rev().map(String::as_str), &mut bytes)
        .context(|| "cannot draw the flame graph")?;
    Ok(if own { with_legend(bytes, corner, &entries) } else { bytes })
}

/// The divisor of all values: 1, unless a damaged recording contains weights no capture can have.
fn divisor(flame: &FlameGraph) -> u64 {
    let total: u128 = flame.stacks.iter().map(|stack| u128::from(stack.value)).sum();
    u64::try_from(total / LARGEST_TOTAL + 1).unwrap_or(u64::MAX)
}

fn lines(flame: &FlameGraph, divisor: u64) -> Vec<String> {
    let drawn = flame.stacks.iter().filter(|stack| stack.value / divisor > 0);
    let mut stacks: Vec<(Vec<String>, String)> = drawn
        .map(|line| {
            let cells = line.frames.iter().map(|frame| folded::cell(frame, true)).collect();
            (cells, format!("{} {}", folded::stack(&line.frames, true), line.value / divisor))
        })
        .collect();
    // Different names may look equal when drawn, so sort by the drawn text.
    stacks.sort_unstable();
    stacks.into_iter().map(|(_, line)| line).collect()
}

fn palette(name: &str) -> Result<Palette> {
    name.parse().map_err(|_| {
        let known = Palette::VARIANTS.join(", ");
        Error::new(ErrorKind::Usage, format!("unknown palette '{name}'"))
            .hint(format!("Choose {OWN_PALETTE}, {known}."))
    })
}

fn colour_map(flame: &FlameGraph) -> PaletteMap {
    let mut map = PaletteMap::default();
    map.insert("", Color { r: 214, g: 214, b: 214 });
    for line in &flame.stacks {
        let drawn = folded::stack(&line.frames, true);
        for (frame, cell) in line.frames.iter().zip(drawn.split(';')) {
            let (r, g, b) = match &flame.steps {
                Some(steps) => colours::rate_colour(steps.get(&frame.text).copied()),
                None => colours::colour(frame),
            };
            map.insert(cell, Color { r, g, b });
        }
    }
    map
}

/// The unit of the values and the factor into it. inferno rounds values before it computes percentages, so times keep
/// at least five digits.
fn scale(unit: &'static str, total: u64) -> (&'static str, f64) {
    match unit {
        "ns" if total >= 100_000_000_000 => ("ms", 1e-6),
        "ns" if total >= 100_000_000 => ("us", 1e-3),
        "microsamples" if total >= 100_000_000_000 => ("samples", 1e-6),
        "microsamples" if total >= 100_000_000 => ("thousandths of a sample", 1e-3),
        "microsamples" => ("millionths of a sample", 1.0),
        "count" => ("events", 1.0),
        "B" => ("bytes", 1.0),
        other => (other, 1.0),
    }
}

/// Position of the legend's first square.
#[derive(Debug, Clone, Copy)]
struct Corner {
    x: usize,
    y: usize,
}

/// Title and subtitle, with a free place for the legend: left of the subtitle or, if that is long, of the title.
fn head(flame: &FlameGraph, legend: &[Entry]) -> (String, String, Corner) {
    let title = columns::middle(&visible(&flame.title), TITLE_COLUMNS);
    let subtitle = columns::end(&visible(&flame.subtitle), SUBTITLE_COLUMNS);
    let free = |text: &str, column_px: f64| (WIDTH_PX - columns::width(text) as f64 * column_px) / 2.0;
    let needed = legend.iter().map(|(name, _)| entry_width(name)).sum::<usize>() as f64 + 10.0;
    let (below, beside) = (Corner { x: 10, y: 39 }, Corner { x: 95, y: 15 });
    if free(&subtitle, SUBTITLE_COLUMN_PX) >= below.x as f64 + needed {
        (title, subtitle, below)
    } else if free(&title, TITLE_COLUMN_PX) >= beside.x as f64 + needed {
        (title, subtitle, beside)
    } else {
        (title, columns::end(&subtitle, SHORT_SUBTITLE_COLUMNS), below)
    }
}

/// A colour of the legend and what it means.
type Entry = (&'static str, (u8, u8, u8));

const SQUARE: usize = 10;
const LETTER: usize = 8;

fn entry_width(name: &str) -> usize {
    SQUARE + 4 + LETTER * name.len() + 8
}

/// Inserts the legend before the frames; inferno's own script reads only what is inside them.
fn with_legend(mut bytes: Vec<u8>, Corner { mut x, y }: Corner, entries: &[Entry]) -> Vec<u8> {
    const FRAMES: &[u8] = b"<svg id=\"frames\"";
    let Some(at) = bytes.windows(FRAMES.len()).position(|window| window == FRAMES) else { return bytes };
    let mut legend = String::from("<g id=\"legend\">");
    for (name, (r, g, b)) in entries {
        let (text_x, text_y) = (x + SQUARE + 4, y + 9);
        legend.push_str(&format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{SQUARE}\" height=\"{SQUARE}\" fill=\"rgb({r},{g},{b})\"/>\
             <text x=\"{text_x}\" y=\"{text_y}\">{name}</text>"
        ));
        x += entry_width(name);
    }
    legend.push_str("</g>");
    bytes.splice(at..at, legend.into_bytes());
    bytes
}
