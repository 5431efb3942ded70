//! A canvas of dots for lines: eight Braille dots per cell, or one per cell as the line's letter.

use super::WidgetContext;
use super::put;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Bits of the Braille dots of a cell, by row from the top and column.
const BRAILLE: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
/// Columns between two letters of a line.
const LETTERS_APART: usize = 30;

/// The set dots, and the line that set each cell last.
#[derive(Debug)]
pub struct Canvas {
    columns: usize,
    rows: usize,
    /// Dots per cell, horizontally and vertically.
    dots: (usize, usize),
    cells: Vec<Cell>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    bits: u8,
    line: u8,
}

/// The letter of a line.
pub(super) fn letter(line: usize) -> char {
    char::from(b'a' + (line % 26) as u8)
}

impl Canvas {
    /// Creates a canvas of that many cells; without Braille, a dot is a whole cell.
    #[must_use]
    pub fn new(columns: u16, rows: u16, braille: bool) -> Canvas {
        let (columns, rows) = (usize::from(columns), usize::from(rows));
        let dots = if braille { (2, 4) } else { (1, 1) };
        Canvas { columns, rows, dots, cells: vec![Cell::default(); columns * rows] }
    }

    /// The dot at two shares, from the left and from the bottom.
    #[must_use]
    pub fn dot(&self, across: f64, up: f64) -> (usize, usize) {
        let scaled = |share: f64, count: usize| {
            let last = count.saturating_sub(1);
            ((share.clamp(0.0, 1.0) * last as f64).round() as usize).min(last)
        };
        let height = self.rows * self.dots.1;
        (scaled(across, self.columns * self.dots.0), height.saturating_sub(1) - scaled(up, height))
    }

    /// Sets every dot between two dots, ends included (Bresenham).
    pub fn line(&mut self, line: usize, from: (usize, usize), to: (usize, usize)) {
        let (steps_x, steps_y) = (from.0.abs_diff(to.0), from.1.abs_diff(to.1));
        let steps = steps_x.max(steps_y);
        let between = |a: usize, b: usize, at: usize| {
            let moved = (a.abs_diff(b) * at * 2 + steps) / (steps * 2).max(1);
            if b >= a { a + moved } else { a - moved }
        };
        for at in 0..=steps {
            self.set(line, between(from.0, to.0, at), between(from.1, to.1, at));
        }
    }

    fn set(&mut self, line: usize, x: usize, y: usize) {
        let (across, down) = self.dots;
        let at = y / down * self.columns + x / across;
        if let Some(cell) = self.cells.get_mut(at).filter(|_| x / across < self.columns) {
            cell.bits |= BRAILLE[y % down][x % across];
            cell.line = line as u8;
        }
    }

    /// Draws the dots; with `letters`, each line also carries its letter at intervals.
    pub fn draw(&self, letters: bool, context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
        for (at, cell) in self.cells.iter().enumerate().filter(|(_, cell)| cell.bits != 0) {
            let place = (area.x + (at % self.columns) as u16, area.y + (at / self.columns) as u16);
            let style = context.theme.series[usize::from(cell.line) % context.theme.series.len()];
            let symbol = match (self.dots.0 == 1, letters) {
                (true, true) => letter(usize::from(cell.line)),
                (true, false) => '*',
                (false, _) => char::from_u32(0x2800 + u32::from(cell.bits)).unwrap_or('*'),
            };
            put(buf, area, place, symbol.encode_utf8(&mut [0; 4]), style);
        }
        if letters && self.dots.0 > 1 {
            self.letters(context, area, buf);
        }
    }

    /// Draws the dots in one style; `plain` replaces a dot where there is no Braille.
    pub fn paint(&self, plain: &str, style: Style, area: Rect, buf: &mut Buffer) {
        for (at, cell) in self.cells.iter().enumerate().filter(|(_, cell)| cell.bits != 0) {
            let place = (area.x + (at % self.columns) as u16, area.y + (at / self.columns) as u16);
            match char::from_u32(0x2800 + u32::from(cell.bits)).filter(|_| self.dots.0 > 1) {
                Some(dots) => put(buf, area, place, dots.encode_utf8(&mut [0; 4]), style),
                None => put(buf, area, place, plain, style),
            };
        }
    }

    /// Puts letters next to each line, at even distances that differ per line, because colour alone is not enough.
    fn letters(&self, context: WidgetContext<'_>, area: Rect, buf: &mut Buffer) {
        let lines = self.cells.iter().filter(|cell| cell.bits != 0).map(|cell| usize::from(cell.line)).max();
        for line in 0..=lines.unwrap_or(0) {
            let style = context.theme.series[line % context.theme.series.len()];
            let mut written = None;
            for column in (0..self.columns).rev() {
                let far = written.is_none_or(|last: usize| last - column >= LETTERS_APART);
                // The first letter is near the right end, further left for each further line.
                let begun = column + 2 + line * 4 < self.columns || written.is_some();
                if let Some(row) = self.row_of(line, column).filter(|_| far && begun) {
                    let place = (area.x + column as u16, area.y + row as u16);
                    put(buf, area, place, letter(line).encode_utf8(&mut [0; 4]), style);
                    written = Some(column);
                }
            }
        }
    }

    fn row_of(&self, line: usize, column: usize) -> Option<usize> {
        (0..self.rows).find(|row| {
            let cell = self.cells[row * self.columns + column];
            cell.bits != 0 && usize::from(cell.line) == line
        })
    }
}
