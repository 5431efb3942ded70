//! The columns of the tables: how wide they are, and which stay on a narrow terminal.

use crate::tui::theme::Glyphs;
use crate::tui::widgets::table::{Column, Cut};
use crate::view::escape::visible;
use crate::view::fit::width;
use crate::view::fleet::Section;

/// A name is not cut below this width.
const LEAST_NAME: usize = 14;
/// A wider number is cut.
const MOST_NUMBER: usize = 32;
/// Blank columns between two columns.
const SPACE: usize = 2;

/// The columns of a section with these rows in `room` columns; `sorted` has an arrow in its heading.
pub(super) fn columns<'a>(
    section: &'a Section,
    rows: &[&Vec<String>],
    sorted: Option<usize>,
    room: u16,
    glyphs: &Glyphs,
) -> Vec<Column<'a>> {
    let widest = |(at, title): (usize, &&str)| {
        let arrow = if sorted == Some(at) { SPACE } else { 0 };
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|text| width(&cell(text, glyphs)));
        cells.max().unwrap_or(0).max(width(title) + arrow)
    };
    let widths: Vec<usize> = section.head.iter().enumerate().map(widest).collect();
    let all = widths.iter().sum::<usize>() + SPACE * widths.len().saturating_sub(1);
    let fits = all <= usize::from(room);
    let column = |((at, title), widest): ((usize, &&'a str), &usize)| {
        let is_name = at < section.names;
        let least = match (fits, is_name) {
            (true, _) => *widest,
            (false, true) => (*widest).min(LEAST_NAME.max(width(title))),
            (false, false) => (*widest).min(MOST_NUMBER),
        };
        let grows = if is_name { widest - least } else { 0 };
        Column {
            title,
            least: u16::try_from(least).unwrap_or(u16::MAX),
            grows: u16::try_from(grows).unwrap_or(u16::MAX),
            right: !is_name,
            // What the rows are sorted by stays.
            rank: if sorted == Some(at) { 1 } else { u8::try_from(section.rank(at)).unwrap_or(u8::MAX) },
            cut: cut(title, is_name),
        }
    };
    section.head.iter().enumerate().zip(&widths).map(column).collect()
}

/// Hosts and platforms differ at both ends.
fn cut(title: &str, is_name: bool) -> Cut {
    match title {
        "function" => Cut::Name,
        "module" => Cut::Front,
        _ if is_name => Cut::Middle,
        _ => Cut::End,
    }
}

/// A cell's text as it is drawn.
pub(super) fn cell(text: &str, glyphs: &Glyphs) -> String {
    visible(text).replace('±', glyphs.plus_minus)
}
