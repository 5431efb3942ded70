//! The list of functions by their losses: cost per operation at the base and here, the growth with its error, its share.

use super::rows::FunctionRow;
use super::{State, words};
use crate::tui::panel::PanelContext;
use crate::tui::theme::Theme;
use crate::tui::widgets::WidgetContext;
use crate::tui::widgets::put_line;
use crate::tui::widgets::table::{Cell, Column, Cut, Table};
use crate::view::CodeKind;
use crate::view::number::{percent, three_digits};
use crate::view::sweep::LossRow;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

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
pub(super) fn draw(state: &State, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let Some(view) = &state.view else { return };
    let (rows, functions) = (state.rows(), state.functions());
    if rows.is_empty() {
        put_line(buf, area, area.x + 1, &words::no_losses(state, view), cx.theme.dim);
        return;
    }
    let table = Table {
        columns: &COLUMNS,
        sorted: None,
        rows: rows.len(),
        selected: state.functions.at(&functions).filter(|_| state.page == super::Page::Functions),
        top: state.functions.top(&functions, area.height),
    };
    let context = WidgetContext { theme: cx.theme, glyphs: cx.glyphs };
    table.draw(|row, column| cell(state, &rows[row], column, cx), context, area, buf);
}

fn cell<'a>(state: &State, row: &FunctionRow<'a>, column: usize, cx: &PanelContext<'_>) -> Cell<'a> {
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

fn name_style(state: &State, row: &FunctionRow<'_>, cx: &PanelContext<'_>) -> Style {
    if state.functions.finds(|text| row.fits(text)) { cx.theme.found } else { cx.theme.text }
}

/// The mark for the kind of code, as in the flame graph.
fn mark(kind: CodeKind) -> &'static str {
    match kind {
        CodeKind::Kernel => "k ",
        CodeKind::Jit => "J ",
        CodeKind::User | CodeKind::Heading => "",
    }
}
