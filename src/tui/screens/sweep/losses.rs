//! The functions by their losses: cost per operation at the base and here, the growth with its error, its share.
//! The rows keep the order of the analysis.

use super::State;
use super::words;
use crate::tui::panel::Cx;
use crate::tui::theme::Theme;
use crate::tui::widgets::Pen;
use crate::tui::widgets::put_line;
use crate::tui::widgets::table::{Cell, Column, Cut, Table};
use crate::view::CodeKind;
use crate::view::number::{percent, three_digits};
use crate::view::sweep::{FunctionId, Loss, LossRow};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

/// Identifies a row by its function and whether it shows the function's waits.
pub(super) type Key = (bool, FunctionId);

/// A row of the list.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'a> {
    /// Whether the loss is time blocked.
    pub waits: bool,
    pub loss: &'a LossRow,
}

impl Row<'_> {
    pub fn key(&self) -> Key {
        (self.waits, self.loss.function.clone())
    }

    /// Whether its name or module contains the text, which is in lower case.
    pub fn fits(&self, text: &str) -> bool {
        let FunctionId { name, module, .. } = &self.loss.function;
        name.to_lowercase().contains(text) || module.to_lowercase().contains(text)
    }

    /// From -2, much less, to 2, much more; 0 if chance may explain the change.
    pub fn step(&self) -> i8 {
        let LossRow { base, here, .. } = self.loss;
        let much = *here >= 2.0 * base || *base >= 2.0 * here;
        match (self.loss.is_real(), self.loss.growth() < 0.0) {
            (false, _) => 0,
            (true, true) => -1 - i8::from(much),
            (true, false) => 1 + i8::from(much),
        }
    }
}

/// The functions on a CPU and the waits; the group with the larger total loss comes first.
pub(super) fn rows(loss: &Loss) -> Vec<Row<'_>> {
    let row = |waits| move |loss| Row { waits, loss };
    let (running, waiting) = (loss.functions.iter().map(row(false)), loss.waits.iter().map(row(true)));
    let waited = loss.blocked.map_or(0.0, |(base, here)| here - base);
    if waited > loss.here - loss.base { waiting.chain(running).collect() } else { running.chain(waiting).collect() }
}

const fn column(title: &'static str, least: u16, grows: u16, right: bool, rank: u8) -> Column<'static> {
    Column { title, least, grows, right, rank, cut: Cut::Middle }
}

const COLUMNS: [Column<'static>; 9] = [
    column("", 2, 0, false, 0),
    Column { cut: Cut::Name, ..column("function", 14, 4, false, 0) },
    column("module", 12, 1, false, 5),
    column("cost", 4, 0, false, 3),
    column("base", 7, 0, true, 2),
    column("here", 7, 0, true, 1),
    column("growth", 8, 0, true, 0),
    column("error", 7, 0, true, 4),
    column("share", 6, 0, true, 1),
];

/// Draws the list, or the reason why it is empty.
pub(super) fn draw(state: &State, cx: &Cx<'_>, area: Rect, buf: &mut Buffer) {
    let Some(view) = &state.view else { return };
    let (rows, keys) = (state.rows(), state.keys());
    if rows.is_empty() {
        put_line(buf, area, area.x + 1, &words::no_losses(state, view), cx.theme.dim);
        return;
    }
    let table = Table {
        columns: &COLUMNS,
        sorted: None,
        rows: rows.len(),
        selected: state.functions.at(&keys).filter(|_| state.page == super::Page::Functions),
        top: state.functions.top(&keys, area.height),
    };
    let pen = Pen { theme: cx.theme, glyphs: cx.glyphs };
    table.draw(|row, column| cell(state, &rows[row], column, cx), pen, area, buf);
}

fn cell<'a>(state: &State, row: &Row<'a>, column: usize, cx: &Cx<'_>) -> Cell<'a> {
    let LossRow { function, base, here, error, share, .. } = row.loss;
    let changed = cx.theme.change_text(row.step());
    match column {
        0 => Cell::new(Theme::change_mark(row.step()), changed),
        1 => Cell::new(function.name.as_str(), name_style(state, row, cx)).marked(mark(function.kind)),
        2 => Cell::new(function.module.as_str(), cx.theme.dim),
        3 => Cell::new(if row.waits { "wait" } else { "CPU" }, cx.theme.dim),
        4 => Cell::new(three_digits(*base), cx.theme.dim),
        5 => Cell::new(three_digits(*here), cx.theme.text),
        6 => Cell::new(words::signed(row.loss.growth()), changed),
        7 => Cell::new(format!("{}{}", cx.glyphs.plus_minus, three_digits(*error)), cx.theme.dim),
        _ => match share {
            Some(share) => Cell::new(percent(*share).joined(), cx.theme.text),
            None => Cell::new("-", cx.theme.missing),
        },
    }
}

fn name_style(state: &State, row: &Row<'_>, cx: &Cx<'_>) -> Style {
    if !state.search.is_empty() && row.fits(&state.search) { cx.theme.found } else { cx.theme.text }
}

/// The mark for the kind of code, as in the flame graph.
fn mark(kind: CodeKind) -> &'static str {
    match kind {
        CodeKind::Kernel => "k ",
        CodeKind::Jit => "J ",
        CodeKind::User | CodeKind::Heading => "",
    }
}
