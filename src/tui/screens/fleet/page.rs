//! Tables as lines below each other, and a page of lines that scrolls.

use super::columns::{cell, columns};
use crate::tui::keys::Action;
use crate::tui::list::scrolled;
use crate::tui::panel::PanelContext;
use crate::tui::search::holds;
use crate::tui::theme::Glyphs;
use crate::tui::widgets::put_line;
use crate::tui::widgets::table::{Column, Placed, places};
use crate::view::escape::visible;
use crate::view::fit::{end, left, right, width, wrap};
use crate::view::fleet::Section;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// A table of so few rows stands on its side if it is too wide.
const FEW_ROWS: usize = 2;

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    Heading,
    Captions,
    Text,
    Quiet,
}

/// One line, escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub tone: Tone,
    pub text: String,
}

impl Line {
    fn of(tone: Tone, text: impl Into<String>) -> Line {
        Line { tone, text: text.into() }
    }
}

/// The sections with their tables in lines of at most `room` columns.
pub(super) fn sections(sections: &[Section], room: usize, glyphs: &Glyphs) -> Vec<Line> {
    let mut out = Vec::new();
    for section in sections {
        out.push(Line::of(Tone::Text, ""));
        out.push(Line::of(Tone::Heading, format!("{}  {}", section.title, section.about)));
        out.extend(table(section, room, glyphs));
        out.extend(paragraphs(&section.remarks, room));
    }
    out
}

/// A job or a row: its name, and what is known of it in sentences.
pub(super) fn beginning(name: &str, texts: &[String], room: usize) -> Vec<Line> {
    let name = Line::of(Tone::Heading, visible(name).into_owned());
    std::iter::once(name).chain(paragraphs(texts, room)).collect()
}

/// One row with a line for each column, which is more than a line of the table may have room for.
pub(super) fn row(section: &Section, row: &Vec<String>, room: usize, glyphs: &Glyphs) -> Vec<Line> {
    let mut out = beginning(row.first().map_or("", String::as_str), std::slice::from_ref(&section.about), room);
    out.push(Line::of(Tone::Text, ""));
    out.extend(on_its_side(section, &[row], room, glyphs));
    if !section.remarks.is_empty() {
        out.push(Line::of(Tone::Text, ""));
        out.extend(paragraphs(&section.remarks, room));
    }
    out
}

/// A row in one line for the status line: its names, and its numbers with their headings.
pub(super) fn in_words(section: &Section, row: &[String], glyphs: &Glyphs) -> String {
    let cells: Vec<String> = row.iter().map(|text| cell(text, glyphs)).collect();
    let (names, numbers) = cells.split_at(section.names.min(cells.len()));
    let numbers = numbers.iter().zip(section.head.iter().skip(section.names));
    let numbers: Vec<String> = numbers.map(|(number, title)| format!("{title} {number}")).collect();
    format!("{}: {}", names.join(", "), numbers.join(", "))
}

/// Sentences in lines with an indent.
pub(super) fn paragraphs(texts: &[String], room: usize) -> Vec<Line> {
    let wrapped = |text: &String| wrap(&visible(text), room.saturating_sub(2).max(10));
    texts.iter().flat_map(wrapped).map(|text| Line::of(Tone::Quiet, format!("  {text}"))).collect()
}

fn table(section: &Section, room: usize, glyphs: &Glyphs) -> Vec<Line> {
    let rows: Vec<&Vec<String>> = section.rows.iter().collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let inner = u16::try_from(room.saturating_sub(2)).unwrap_or(u16::MAX);
    let columns = columns(section, &rows, None, inner, glyphs);
    let placed = places(&columns, inner);
    if placed.len() < columns.len() && rows.len() <= FEW_ROWS {
        return on_its_side(section, &rows, room, glyphs);
    }
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let cells: Vec<&str> = cells.collect();
        let cells = placed.iter().map(|place| aligned(&columns[place.column], *place, cells[place.column], glyphs));
        format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end().to_string()
    };
    let captions = Line::of(Tone::Captions, line(&mut section.head.iter().copied()));
    let rows = rows.iter().map(|row| Line::of(Tone::Text, line(&mut row.iter().map(String::as_str))));
    std::iter::once(captions).chain(rows).collect()
}

fn aligned(column: &Column<'_>, place: Placed, text: &str, glyphs: &Glyphs) -> String {
    let room = usize::from(place.width);
    let text = column.fitted(&cell(text, glyphs), room, glyphs.ellipsis);
    if column.right { right(&text, room) } else { left(&text, room) }
}

/// A line for each column, with the cells of all rows.
fn on_its_side(section: &Section, rows: &[&Vec<String>], room: usize, glyphs: &Glyphs) -> Vec<Line> {
    let titles = section.head.iter().map(|title| width(title)).max().unwrap_or(0);
    let wide = |row: &&Vec<String>| row.iter().map(|text| width(&cell(text, glyphs))).max().unwrap_or(0);
    let widest: Vec<usize> = rows.iter().map(wide).collect();
    let room = room.saturating_sub(titles + 2);
    let fits = widest.iter().map(|wide| wide + 2).sum::<usize>() <= room;
    let each = (room / rows.len().max(1)).saturating_sub(2).max(6);
    let widths: Vec<usize> = widest.into_iter().map(|wide| if fits { wide } else { wide.min(each) }).collect();
    let line = |(at, title): (usize, &&str)| {
        let cells = rows.iter().zip(&widths).map(|(row, wide)| {
            let text = row.get(at).map_or(String::new(), |text| cell(text, glyphs));
            // A single row has no neighbour to run into.
            if rows.len() == 1 { text } else { left(&end(&text, *wide, glyphs.ellipsis), *wide) }
        });
        let text = format!("  {}  {}", left(title, titles), cells.collect::<Vec<_>>().join("  "));
        Line::of(Tone::Text, text.trim_end())
    };
    section.head.iter().enumerate().map(line).collect()
}

/// Draws lines from the one at `top`; those that contain the search text stand out.
pub(super) fn draw(lines: &[Line], top: usize, needle: &str, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let top = top.min(lines.len().saturating_sub(usize::from(area.height)));
    for (line, y) in lines.iter().skip(top).zip(area.top()..area.bottom()) {
        let style = match line.tone {
            _ if fits(line, needle) => cx.theme.found,
            Tone::Heading | Tone::Captions => cx.theme.heading,
            Tone::Text => cx.theme.text,
            Tone::Quiet => cx.theme.dim,
        };
        let row = Rect { y, height: 1, ..area };
        let room = usize::from(row.width.saturating_sub(2));
        // What the numbers of a table refer to matters less than its title.
        let (first, rest) = match (line.tone, line.text.split_once("  ")) {
            (Tone::Heading, Some((title, about))) => (title, about),
            _ => (line.text.as_str(), ""),
        };
        let x = put_line(buf, row, row.x + 1, &end(first, room, cx.glyphs.ellipsis), style);
        let room = room.saturating_sub(width(first) + 2);
        if !rest.is_empty() && room > 0 {
            put_line(buf, row, x + 2, &end(rest, room, cx.glyphs.ellipsis), cx.theme.dim);
        }
    }
}

/// The first visible line after an action; `None` if it is not one that scrolls.
pub(super) fn turned(action: Action, lines: &[Line], top: usize, needle: &str, height: u16) -> Option<usize> {
    let by = match action {
        Action::SearchNext => 1,
        Action::SearchPrevious => -1,
        action => return scrolled(action, top, lines.len(), height),
    };
    let most = lines.len().saturating_sub(usize::from(height));
    let (here, count) = (top.min(most) as isize, lines.len() as isize);
    let next =
        (1..=count).map(|step| (here + by * step).rem_euclid(count) as usize).find(|at| fits(&lines[*at], needle));
    Some(next.unwrap_or(top).min(most))
}

fn fits(line: &Line, needle: &str) -> bool {
    !needle.is_empty() && holds(&line.text, needle)
}
