//! Tables: right-aligned numbers, a sort arrow, a selected row. Narrow tables drop the least important columns first.
//! The table does not store rows; it asks for the cells it shows.

use super::{WidgetContext, put};
use crate::view::escape::visible;
use crate::view::fit::{end, front, function_name, middle, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::borrow::Cow;
use std::ops::Range;

/// Blank columns between two columns.
const SPACE: u16 = 2;

/// A wider number is cut as well.
const MOST_NUMBER: usize = 24;

/// Which part of a text is cut if it is too long for its column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Cut {
    /// Its end.
    #[default]
    End,
    /// Its middle.
    Middle,
    /// What is around a function's own name.
    Name,
    /// Its front: paths.
    Front,
}

/// One column.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Column<'a> {
    /// Its heading.
    pub title: &'a str,
    /// Minimum width.
    pub least: u16,
    /// Its share of the spare width, relative to the other columns' shares; 0 keeps the minimum.
    pub grows: u16,
    /// Whether it is aligned to the right, as numbers are.
    pub right: bool,
    /// On a narrow terminal, columns with the highest rank are dropped first; rank 0 stays and may be cut.
    pub rank: u8,
    /// How its texts are cut.
    pub cut: Cut,
}

impl Column<'_> {
    /// The text cut to `room` columns as the column's texts are.
    #[must_use]
    pub fn fitted(&self, text: &str, room: usize, ellipsis: &str) -> String {
        match self.cut {
            Cut::End => end(text, room, ellipsis),
            Cut::Middle => middle(text, room, ellipsis),
            Cut::Name => function_name(text, room, ellipsis),
            Cut::Front => front(text, room, ellipsis),
        }
    }
}

/// Widens the columns listed in `numbers` to their widest text in the given rows, because numbers must not be cut.
#[must_use]
pub fn widened<'a, const N: usize>(
    columns: &[Column<'a>; N],
    numbers: &[usize],
    rows: Range<usize>,
    text: impl Fn(usize, usize) -> usize,
) -> [Column<'a>; N] {
    let mut columns = *columns;
    for at in numbers {
        let widest = rows.clone().map(|row| text(row, *at)).max().unwrap_or(0);
        columns[*at].least = columns[*at].least.max(widest.min(MOST_NUMBER) as u16);
    }
    columns
}

/// The contents of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell<'a> {
    /// A mark before the text, which is not cut.
    pub mark: &'static str,
    /// Its text; unprintable characters are made visible.
    pub text: Cow<'a, str>,
    /// Its style.
    pub style: Style,
}

impl<'a> Cell<'a> {
    /// A text in a style.
    pub fn new(text: impl Into<Cow<'a, str>>, style: Style) -> Cell<'a> {
        Cell { mark: "", text: text.into(), style }
    }

    /// The same text with a mark before it.
    #[must_use]
    pub fn marked(self, mark: &'static str) -> Cell<'a> {
        Cell { mark, ..self }
    }
}

/// The position of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// The column's index.
    pub column: usize,
    /// Its first terminal column, from the table's left.
    pub x: u16,
    /// Its width.
    pub width: u16,
}

/// A table without its rows.
#[derive(Debug, Clone, Copy)]
pub struct Table<'a> {
    /// The columns.
    pub columns: &'a [Column<'a>],
    /// The column it is sorted by, and whether the greatest value comes first.
    pub sorted: Option<(usize, bool)>,
    /// The number of rows.
    pub rows: usize,
    /// The selected row.
    pub selected: Option<usize>,
    /// The first visible row.
    pub top: usize,
}

impl Table<'_> {
    /// Draws the heading and the rows below it; `cell` returns the cell of a row and a column.
    pub fn draw<'c>(
        &self,
        cell: impl Fn(usize, usize) -> Cell<'c>,
        context: WidgetContext<'_>,
        area: Rect,
        buf: &mut Buffer,
    ) {
        let area = area.intersection(buf.area);
        let placed = places(self.columns, inner(area).width);
        self.heading(&placed, context, area, buf);
        let shown = self.shown(area);
        for row in shown.clone() {
            let y = area.y + 1 + (row - shown.start) as u16;
            for place in &placed {
                self.cell(*place, y, &cell(row, place.column), context, area, buf);
            }
            if self.selected == Some(row) {
                buf.set_style(Rect { y, height: 1, ..area }, context.theme.selected);
            }
        }
        self.thumb(&shown, context, area, buf);
    }

    /// The row at a terminal line.
    #[must_use]
    pub fn row_at(&self, area: Rect, y: u16) -> Option<usize> {
        let row = self.top + usize::from(y.checked_sub(area.y + 1)?);
        (y < area.bottom() && row < self.rows).then_some(row)
    }

    /// The column whose heading or cells cover a terminal column.
    #[must_use]
    pub fn column_at(&self, area: Rect, x: u16) -> Option<usize> {
        let inner = inner(area);
        let x = x.checked_sub(inner.x)?;
        let at = places(self.columns, inner.width).into_iter().find(|place| x < place.x + place.width)?;
        Some(at.column)
    }

    fn shown(&self, area: Rect) -> std::ops::Range<usize> {
        let height = usize::from(area.height.saturating_sub(1));
        let top = self.top.min(self.rows.saturating_sub(height));
        top..self.rows.min(top + height)
    }

    fn heading(&self, placed: &[Placed], context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
        for place in placed {
            let column = &self.columns[place.column];
            match self.sorted {
                Some((sorted, descending)) if sorted == place.column => {
                    let arrow = if descending { context.glyphs.down } else { context.glyphs.up };
                    let title = format!("{} {arrow}", column.title);
                    let title = Cell::new(title, context.theme.heading.patch(context.theme.accent));
                    self.cell(*place, area.y, &title, context, area, buf);
                }
                _ => self.cell(*place, area.y, &Cell::new(column.title, context.theme.heading), context, area, buf),
            }
        }
    }

    fn cell(&self, place: Placed, y: u16, cell: &Cell<'_>, context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
        let column = &self.columns[place.column];
        let (wide, ellipsis) = (usize::from(place.width), context.glyphs.ellipsis);
        let room = wide.saturating_sub(width(cell.mark));
        let text = column.fitted(&visible(&cell.text), room, ellipsis);
        let indent = if column.right { room.saturating_sub(width(&text)) } else { 0 };
        let at = inner(area).x + place.x;
        let at = put(buf, area, (at + indent as u16, y), cell.mark, cell.style);
        put(buf, area, (at, y), &text, cell.style);
    }

    /// Draws the scroll thumb at the right edge; nothing if all rows are visible.
    fn thumb(&self, shown: &std::ops::Range<usize>, context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
        let height = usize::from(area.height.saturating_sub(1));
        if shown.len() == self.rows || height == 0 || area.width == 0 {
            return;
        }
        let length = (shown.len() * height / self.rows).max(1);
        let room = self.rows - shown.len();
        let start = (shown.start * (height - length) + room / 2) / room;
        for at in start..start + length {
            put(buf, area, (area.right() - 1, area.y + 1 + at as u16), context.glyphs.bar, context.theme.dim);
        }
    }
}

/// The area without one column at the left, as everywhere, and one at the right for the thumb.
fn inner(area: Rect) -> Rect {
    Rect { x: area.x + area.width.min(1), width: area.width.saturating_sub(2), ..area }
}

/// The positions of the columns that fit: those with the highest rank are dropped until the rest fits.
#[must_use]
pub fn places(columns: &[Column<'_>], room: u16) -> Vec<Placed> {
    let mut kept: Vec<usize> = (0..columns.len()).collect();
    let least = |kept: &[usize]| {
        let widths: u32 = kept.iter().map(|at| u32::from(columns[*at].least)).sum();
        widths + u32::from(SPACE) * (kept.len() as u32).saturating_sub(1)
    };
    while least(&kept) > u32::from(room) {
        // Ties go to the rightmost column.
        let Some(last) = (0..kept.len()).max_by_key(|at| columns[kept[*at]].rank) else { break };
        if columns[kept[last]].rank == 0 {
            break;
        }
        kept.remove(last);
    }
    let spare = u32::from(room).saturating_sub(least(&kept));
    let grows: u32 = kept.iter().map(|at| u32::from(columns[*at].grows)).sum();
    let (mut x, mut given, mut before) = (0_u16, 0, 0);
    let mut placed = Vec::with_capacity(kept.len());
    for at in kept {
        before += u32::from(columns[at].grows);
        let upto = spare * before / grows.max(1);
        let wanted = columns[at].least + (upto - given) as u16;
        given = upto;
        let width = wanted.min(room.saturating_sub(x));
        if width > 0 {
            placed.push(Placed { column: at, x, width });
        }
        x = x.saturating_add(wanted + SPACE);
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::theme::Glyphs;
    use crate::tui::widgets::testing::{HOSTILE, drawn};
    use proptest::prelude::*;

    const COLUMNS: [Column<'static>; 4] = [
        Column { title: "self", least: 6, grows: 0, right: true, rank: 0, cut: Cut::End },
        Column { title: "samples", least: 8, grows: 0, right: true, rank: 2, cut: Cut::End },
        Column { title: "function", least: 12, grows: 3, right: false, rank: 0, cut: Cut::Name },
        Column { title: "module", least: 8, grows: 1, right: false, rank: 3, cut: Cut::Front },
    ];
    const ROWS: [[&str; 4]; 5] = [
        ["31.2%", "1,234", "std::vec::Vec<T>::push_back_all", "/usr/lib/libfoo.so"],
        ["9.87%", "391", "日本語の関数名", "app"],
        ["4.50%", "178", "\x1b[2Jmain", "app"],
        ["0.10%", "4", "f", "[kernel]"],
        ["-", "0", "g", "[kernel]"],
    ];

    fn shown(width: u16, height: u16, selected: usize, top: usize, glyphs: &Glyphs) -> String {
        let table = Table { columns: &COLUMNS, sorted: Some((0, true)), rows: 5, selected: Some(selected), top };
        drawn(width, height, glyphs, |context, area, buf| {
            table.draw(|row, column| Cell::new(ROWS[row][column], context.theme.text), context, area, buf);
        })
    }

    #[test]
    fn numbers_stand_to_the_right_and_names_are_cut_by_columns() {
        // The text has a blank after each wide character, as in the buffer.
        let expected = [
            " self ▼   samples  function                   module",
            "  31.2%     1,234  vec::Vec::push_back_all    …ib/libfoo.so",
            "  9.87%       391  日 本 語 の 関 数 名              app",
            "  4.50%       178  ␛[2Jmain                   app",
            "  0.10%         4  f                          [kernel]",
            "      -         0  g                          [kernel]",
        ];
        let text = shown(60, 6, 0, 0, &Glyphs::UNICODE);
        assert_eq!(text, expected.join("\n"), "\n{text}");
    }

    #[test]
    fn what_matters_least_goes_first_where_it_is_narrow() {
        for (room, expected) in [
            (60, &[0, 1, 2, 3][..]),
            (39, &[0, 1, 2]),
            (30, &[0, 1, 2]),
            (29, &[0, 2]),
            (12, &[0, 2]),
            (5, &[0]),
            (0, &[]),
        ] {
            let placed = places(&COLUMNS, room);
            let kept: Vec<usize> = placed.iter().map(|place| place.column).collect();
            assert_eq!(kept, expected, "{room}");
            assert!(placed.iter().all(|place| place.x + place.width <= room), "{placed:?}");
        }
        let all = places(&COLUMNS, 60);
        assert_eq!(all.last().map(|place| place.x + place.width), Some(60), "what is left over is given away");
    }

    #[test]
    fn a_click_finds_the_row_and_the_column() {
        let area = Rect::new(3, 2, 60, 4);
        let table = Table { columns: &COLUMNS, sorted: None, rows: 5, selected: None, top: 2 };
        assert_eq!((table.row_at(area, 2), table.row_at(area, 3), table.row_at(area, 5)), (None, Some(2), Some(4)));
        assert_eq!((table.row_at(area, 6), table.row_at(area, 0)), (None, None));
        assert_eq!(
            (table.column_at(area, 5), table.column_at(area, 0), table.column_at(area, 63)),
            (Some(0), None, None)
        );
    }

    #[test]
    fn a_thumb_shows_which_part_is_seen_only_if_there_is_more() {
        let ends = |text: &str| text.lines().map(|line| line.ends_with('│')).collect::<Vec<_>>();
        assert_eq!(ends(&shown(40, 6, 0, 0, &Glyphs::UNICODE)), [false; 6]);
        assert_eq!(ends(&shown(40, 4, 0, 0, &Glyphs::UNICODE)), [false, true, false, false]);
        assert_eq!(ends(&shown(40, 4, 4, 2, &Glyphs::UNICODE)), [false, false, false, true]);
    }

    proptest! {
        #[test]
        fn it_can_be_drawn_at_any_size((width, height) in (0_u16..300, 0_u16..40), top in 0_usize..9, at in 0_usize..8) {
            shown(width, height, at, top, &Glyphs::ASCII);
            let table = Table { columns: &COLUMNS, sorted: None, rows: 3, selected: Some(1), top };
            drawn(width, height, &Glyphs::UNICODE, |context, area, buf| {
                table.draw(|row, column| Cell::new(HOSTILE[(row + column + at) % 8], context.theme.bad), context, area, buf);
            });
        }
    }
}
