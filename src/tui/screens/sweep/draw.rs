//! Draws the parts of the screen in their areas, with the page names between them.

use super::areas::{Areas, Page};
use super::{State, chart, losses, stack, table, words};
use crate::tui::panel::PanelContext;
use crate::tui::widgets::put_line;
use crate::view::fit::{end, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Draws the screen.
pub(super) fn draw(state: &State, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let area = area.intersection(buf.area);
    let Some(view) = state.view.as_deref() else {
        put_line(buf, area, area.x + 1, "waiting for the sweep", cx.theme.dim);
        return;
    };
    let areas = Areas::of(area, state.page, view.points.len());
    if !areas.chart.is_empty() {
        chart::draw(state, view, cx, areas.chart, buf);
    }
    if !areas.stack.is_empty() {
        stack::draw(state, view, cx, areas.stack, buf);
    }
    if !areas.tabs.is_empty() {
        tabs(state, &areas, cx, buf);
    }
    if !areas.points.is_empty() {
        table::draw(state, view, cx, areas.points, buf);
    }
    if !areas.rule.is_empty() {
        let name = if state.page == Page::Functions { cx.theme.tab_open } else { cx.theme.dim };
        let x = put_line(buf, areas.rule, areas.rule.x + 1, Page::Functions.title(), name);
        let x = put_line(buf, areas.rule, x + 1, "by what they lost", cx.theme.dim);
        lost(state, cx, areas.rule, x + 3, buf);
    }
    if !areas.losses.is_empty() {
        losses::draw(state, cx, areas.losses, buf);
    }
}

/// The pages and the columns where their names begin.
fn names(areas: &Areas) -> impl Iterator<Item = (Page, u16)> {
    let shown = areas.pages.iter().filter(|page| areas.rule.is_empty() || **page != Page::Functions);
    shown.scan(areas.tabs.x + 1, |x, page| {
        let here = *x;
        *x = here.saturating_add(page.title().len() as u16 + 2);
        Some((*page, here))
    })
}

/// The page whose name covers a column.
pub(super) fn page_at(areas: &Areas, column: u16) -> Option<Page> {
    names(areas).find(|(page, x)| column >= *x && column < x + page.title().len() as u16).map(|(page, _)| page)
}

fn tabs(state: &State, areas: &Areas, cx: &PanelContext<'_>, buf: &mut Buffer) {
    let area = areas.tabs;
    let mut after = area.x + 1;
    for (page, x) in names(areas) {
        // A page that is not separate at this size is shown with the points.
        let open = state.page == page || page == Page::Points && !areas.pages.contains(&state.page);
        after = put_line(buf, area, x, page.title(), if open { cx.theme.tab_open } else { cx.theme.dim });
    }
    if areas.rule.is_empty() {
        lost(state, cx, area, after + 3, buf);
    }
}

/// Draws the total loss of the functions at the right, if there is room.
fn lost(state: &State, cx: &PanelContext<'_>, area: Rect, from: u16, buf: &mut Buffer) {
    let Some(text) = state.view.as_deref().and_then(|view| words::lost(state, view)) else { return };
    let room = usize::from(area.right().saturating_sub(from + 1));
    // Half a sentence is worse than none.
    if room < width(&text) / 2 {
        return;
    }
    let text = end(&text, room, cx.glyphs.ellipsis);
    put_line(buf, area, area.right().saturating_sub(width(&text) as u16 + 1), &text, cx.theme.dim);
}
