//! A page of text under construction.
//! Text is padded before it is coloured, so that colour does not count as width.

use super::Style;
use crate::export::columns;

/// The role of a text, which determines its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::export) enum Ink {
    Heading,
    /// Units, captions, context.
    Quiet,
    /// Text that needs attention.
    Alert,
}

pub(in crate::export) struct Page {
    out: String,
    colour: bool,
    /// The width of prose and charts.
    pub width: usize,
    /// The columns of a line that must not be wider; unlimited without a terminal.
    pub room: usize,
}

/// The width that the tables need at least, and that of prose without a terminal.
const NARROWEST: usize = 80;

impl Page {
    pub fn new(style: Style) -> Page {
        let width = style.width.unwrap_or(NARROWEST).max(NARROWEST);
        let room = style.width.map_or(usize::MAX, |_| width);
        Page { out: String::new(), colour: style.colour, width, room }
    }

    /// The width of a column of names, the widest of which has `widest` columns and which the other columns leave a rest.
    pub fn name_column(&self, widest: usize, others: usize) -> usize {
        widest.min(self.room.saturating_sub(others))
    }

    /// The columns of a line after a lead of this width.
    pub fn room_after(&self, lead: usize) -> usize {
        if self.room == usize::MAX { self.room } else { self.room.saturating_sub(lead) }
    }

    pub fn paint(&self, ink: Ink, text: &str) -> String {
        let code = match ink {
            Ink::Heading => "1",
            Ink::Quiet => "2",
            Ink::Alert => "33",
        };
        if self.colour && !text.trim().is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    pub fn line(&mut self, text: &str) {
        self.out.push_str(text.trim_end());
        self.out.push('\n');
    }

    /// A section's title and what its numbers refer to, after an empty line.
    pub fn heading(&mut self, title: &str, about: &str) {
        let title_painted = self.paint(Ink::Heading, title);
        let room = self.room.saturating_sub(columns::width(title) + 2);
        let about = self.paint(Ink::Quiet, &columns::middle(about, room));
        self.line("");
        self.line(&format!("{title_painted}  {about}"));
    }

    /// The captions of a table.
    pub fn captions(&mut self, text: &str) {
        let text = self.paint(Ink::Quiet, text.trim_end());
        self.line(&text);
    }

    /// A table whose columns are right-aligned but for the first, which is narrowed on a narrow page.
    pub fn table(&mut self, head: &[&str], rows: &[Vec<String>]) {
        let wide = |at: usize| {
            let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| columns::width(cell));
            cells.max().unwrap_or(0).max(columns::width(head[at]))
        };
        let widths: Vec<usize> = (0..head.len()).map(wide).collect();
        let others: usize = widths.iter().skip(1).map(|width| width + 2).sum();
        let first = self.name_column(widths.first().copied().unwrap_or(0), others + 2).max(16);
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let mut out = String::new();
            for (at, cell) in cells.enumerate() {
                out += &match at {
                    0 => format!("  {}", columns::left(&columns::middle(cell, first), first)),
                    _ => format!("  {}", columns::right(cell, widths[at])),
                };
            }
            out
        };
        self.captions(&line(&mut head.iter().copied()));
        for row in rows {
            self.line(&line(&mut row.iter().map(String::as_str)));
        }
    }

    /// A paragraph that begins with `lead` and continues below its text.
    pub fn paragraph(&mut self, lead: &str, text: &str, ink: Option<Ink>) {
        let indent = columns::width(lead);
        let wrapped = columns::wrap(text, self.width.saturating_sub(indent));
        for (at, part) in wrapped.iter().enumerate() {
            let part = ink.map_or(part.clone(), |ink| self.paint(ink, part));
            if at == 0 {
                self.line(&format!("{lead}{part}"))
            } else {
                self.line(&format!("{}{part}", " ".repeat(indent)))
            }
        }
    }

    /// States how many rows a table leaves out.
    pub fn left_out(&mut self, count: usize, what: &str, how: &str) {
        if count > 0 {
            let text = self.paint(Ink::Quiet, &format!("  … and {count} more {what}{how}"));
            self.line(&text);
        }
    }

    pub fn finish(self) -> Vec<u8> {
        self.out.into_bytes()
    }
}
