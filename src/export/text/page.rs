//! A page of text under construction.
//! Text is padded before it is coloured, so that colour does not count as width.

use super::Style;
use crate::export::{columns, inert};
use crate::view::escape::visible;

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

/// What acts on a terminal: the beginnings of the inks, and their end.
const COLOURS: [&str; 4] = ["\x1b[1m", "\x1b[2m", "\x1b[33m", "\x1b[0m"];

/// The width that the tables need at least, and that of prose without a terminal.
const NARROWEST: usize = 80;

/// Blank columns before each column of a table.
const SPACE: usize = 2;
/// The first column of a table is not cut below this width.
const LEAST_FIRST: usize = 16;
/// A name in a table that fits its page is not cut below this width.
const LEAST_NAME: usize = 14;

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
        let [heading, quiet, alert, end] = COLOURS;
        let begin = match ink {
            Ink::Heading => heading,
            Ink::Quiet => quiet,
            Ink::Alert => alert,
        };
        if self.colour && !text.trim().is_empty() { format!("{begin}{text}{end}") } else { text.to_string() }
    }

    /// Ends a line. Whatever a caller put into it, nothing but the page's own colours acts on a terminal.
    pub fn line(&mut self, text: &str) {
        inert::push_line(&mut self.out, text.trim_end(), if self.colour { &COLOURS } else { &[] });
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
        let rows = escaped(rows);
        let mut widths = widest(head, &rows);
        let others: usize = widths.iter().skip(1).map(|width| width + SPACE).sum();
        if let Some(first) = widths.first_mut() {
            *first = self.name_column(*first, others + SPACE).max(LEAST_FIRST);
        }
        self.lines(head, 1, &rows, &(0..head.len()).zip(widths).collect::<Vec<_>>());
    }

    /// A table that fits the page: names are narrowed, then the columns with the highest ranks go. Returns the headings
    /// of those.
    pub fn fitted_table<'a>(
        &mut self,
        head: &[&'a str],
        names: usize,
        rows: &[Vec<String>],
        rank: impl Fn(usize) -> usize,
    ) -> Vec<&'a str> {
        let rows = escaped(rows);
        let widths = widest(head, &rows);
        let least = |at: usize| match at < names {
            true => widths[at].min(LEAST_NAME.max(columns::width(head[at]))),
            false => widths[at],
        };
        let mut kept: Vec<usize> = (0..head.len()).collect();
        let spare = |kept: &[usize]| {
            let needed: usize = kept.iter().map(|at| least(*at) + SPACE).sum();
            self.room.checked_sub(needed)
        };
        while spare(&kept).is_none() && kept.len() > 1 {
            let last = (0..kept.len()).max_by_key(|at| rank(kept[*at])).unwrap_or(0);
            kept.remove(last);
        }
        let mut spare = spare(&kept).unwrap_or(0);
        let placed: Vec<(usize, usize)> = kept
            .iter()
            .map(|at| {
                let width = widths[*at].min(least(*at).saturating_add(spare));
                spare -= width - least(*at);
                (*at, width)
            })
            .collect();
        self.lines(head, names, &rows, &placed);
        (0..head.len()).filter(|at| !kept.contains(at)).map(|at| head[at]).collect()
    }

    /// The captions and rows of a table: which columns, and how wide.
    fn lines(&mut self, head: &[&str], names: usize, rows: &[Vec<String>], placed: &[(usize, usize)]) {
        let line = |cell: &dyn Fn(usize) -> String| {
            let cells = placed.iter().map(|(at, width)| {
                let cell = cell(*at);
                let text = match head[*at] {
                    "function" => columns::function(&cell, *width),
                    _ => columns::middle(&cell, *width),
                };
                let aligned = if *at < names { columns::left(&text, *width) } else { columns::right(&text, *width) };
                format!("  {aligned}")
            });
            cells.collect::<String>()
        };
        let captions = line(&|at| head[at].to_string());
        self.captions(&captions);
        for row in rows {
            let text = line(&|at| row.get(at).cloned().unwrap_or_default());
            self.line(&text);
        }
    }

    /// A paragraph that begins with `lead` and continues below its text.
    pub fn paragraph(&mut self, lead: &str, text: &str, ink: Option<Ink>) {
        let indent = columns::width(lead);
        let wrapped = columns::wrap(&visible(text), self.width.saturating_sub(indent));
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

fn escaped(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    let shown = |row: &Vec<String>| row.iter().map(|cell| visible(cell).into_owned()).collect();
    rows.iter().map(shown).collect()
}

/// The widest text of each column.
fn widest(head: &[&str], rows: &[Vec<String>]) -> Vec<usize> {
    let wide = |at: usize| {
        let cells = rows.iter().filter_map(|row| row.get(at)).map(|cell| columns::width(cell));
        cells.max().unwrap_or(0).max(columns::width(head[at]))
    };
    (0..head.len()).map(wide).collect()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// A name that clears the screen, sets the title, reorders text, and uses the page's own colour.
    const HOSTILE: &str = "a\x1b[2J\x1b]0;b\x07\u{202e}\u{9b}1m\nc";

    #[test]
    fn whatever_a_caller_forgets_to_escape_does_not_act() {
        for colour in [false, true] {
            let mut page = Page::new(Style { width: Some(80), colour });
            page.line(HOSTILE);
            page.line(&page.paint(Ink::Alert, HOSTILE));
            page.heading(HOSTILE, HOSTILE);
            page.captions(HOSTILE);
            page.table(&["a", HOSTILE], &[vec![HOSTILE.to_string(), HOSTILE.to_string()]]);
            page.fitted_table(&["a", HOSTILE], 1, &[vec![HOSTILE.to_string(), HOSTILE.to_string()]], |at| at);
            page.paragraph(HOSTILE, HOSTILE, Some(Ink::Quiet));
            page.left_out(1, HOSTILE, HOSTILE);
            let mut text = String::from_utf8(page.finish()).unwrap();
            COLOURS.iter().filter(|_| colour).for_each(|code| text = text.replace(code, ""));
            assert!(text.lines().all(|line| visible(line) == line), "{text:?}");
            assert!(!text.contains('\x1b'), "{text:?}");
        }
    }
}
