//! The list of findings, and the layout of list and detail. Undecided checks are listed as well as findings.

use super::Key;
use crate::model::Why;
use crate::tui::finding;
use crate::tui::panel::PanelContext;
use crate::view::escape::visible;
use crate::view::findings::{FindingView, FindingsView};
use crate::view::fit::{end, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

/// From this width on, list and detail are side by side.
const SIDE_BY_SIDE: u16 = 110;
/// Columns between them.
const GAP: u16 = 3;

/// The areas of list and detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Areas {
    pub list: Rect,
    /// The line between them, if they are stacked.
    pub rule: Rect,
    pub detail: Rect,
}

impl Areas {
    pub fn of(area: Rect, view: Option<&FindingsView>) -> Areas {
        let margin = u16::from(area.width > 50);
        let area = Rect { x: area.x + margin, width: area.width - margin, ..area };
        if area.width >= SIDE_BY_SIDE {
            let left = area.width * 2 / 5;
            let detail = Rect { x: area.x + left + GAP, width: area.width - left - GAP, ..area };
            return Areas { list: Rect { width: left, ..area }, rule: Rect::default(), detail };
        }
        let wanted = view.map_or(1, |view| all_rows(view, false).len() as u16);
        let list = wanted.min((area.height / 2).max(area.height.saturating_sub(14)));
        let rule = u16::from(area.height > list);
        Areas {
            list: Rect { height: list, ..area },
            rule: Rect { y: area.y + list, height: rule, ..area },
            detail: Rect { y: area.y + list + rule, height: area.height - list - rule, ..area },
        }
    }
}

/// A row of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Row {
    Text(String),
    Key(Key),
}

/// All rows; `by_name` lists each check by name, if there is room.
fn all_rows(view: &FindingsView, by_name: bool) -> Vec<Row> {
    let mut rows = vec![Row::Text(heading(view))];
    rows.extend(view.found.iter().map(|found| Row::Key(Key::Found(found.rule))));
    let name = |name: &&str| Row::Text(format!("    {name}"));
    for (why, _) in view.undecided_by_reason() {
        rows.push(Row::Key(Key::Undecided(why)));
        let titles = view.undecided.iter().filter(|other| by_name && other.why == why).map(|other| other.title);
        rows.extend(titles.map(|title| name(&title)));
    }
    match view.clear.len() {
        0 => {}
        count if by_name => {
            rows.push(Row::Text(format!("  {count} checked and clear")));
            rows.extend(view.clear.iter().map(name));
        }
        count => rows.push(Row::Text(format!("  {count} checked and clear: {}", view.clear.join(", ")))),
    }
    rows
}

fn heading(view: &FindingsView) -> String {
    match view.found.len() {
        0 => "nothing found in this time".to_string(),
        1 => "1 finding".to_string(),
        count => format!("{count} findings"),
    }
}

/// The rows that fit into that height. The list scrolls only as far as the selected row needs.
pub(super) fn rows(view: &FindingsView, chosen: Option<Key>, height: u16) -> Vec<Row> {
    let height = usize::from(height);
    let all = all_rows(view, true);
    let rows = if all.len() <= height { all } else { all_rows(view, false) };
    let at = rows.iter().position(|row| matches!(row, Row::Key(key) if Some(*key) == chosen)).unwrap_or(0);
    let above = (at + 1).saturating_sub(height);
    rows.into_iter().skip(above).take(height).collect()
}

/// Draws the screen before the first snapshot.
pub(super) fn waiting(cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    put(buf, area, 0, &Line::styled(" waiting for the first window", cx.theme.dim));
}

/// Draws the list.
pub(super) fn list(view: &FindingsView, chosen: Option<Key>, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let room = usize::from(area.width);
    for (at, row) in rows(view, chosen, area.height).iter().enumerate() {
        let line = match row {
            Row::Text(text) => Line::styled(end(text, room, cx.glyphs.ellipsis), cx.theme.dim),
            Row::Key(Key::Found(rule)) => {
                let found = view.found.iter().find(|found| found.rule == *rule);
                found.map(|found| found_line(found, cx, room)).unwrap_or_default()
            }
            Row::Key(Key::Undecided(why)) => {
                let count = view.undecided.iter().filter(|other| other.why == *why).count();
                undecided_line(*why, count, cx, room)
            }
        };
        put(buf, area, at as u16, &line);
        if matches!(row, Row::Key(key) if Some(*key) == chosen) {
            let row = Rect { y: area.y + at as u16, height: 1, ..area };
            buf.set_style(row.intersection(buf.area), cx.theme.selected);
        }
    }
}

fn found_line(found: &FindingView, cx: &PanelContext<'_>, room: usize) -> Line<'static> {
    let right = format!("{:>6}  {:<6}", finding::share(found), finding::confidence(found.confidence));
    let title = end(&visible(found.title), room.saturating_sub(width(&right) + 4), cx.glyphs.ellipsis);
    let pad = room.saturating_sub(2 + width(&title) + width(&right));
    Line::from(vec![
        Span::styled("! ", cx.theme.accent2),
        Span::styled(title, cx.theme.heading),
        Span::raw(" ".repeat(pad)),
        Span::styled(right, cx.theme.text),
    ])
}

fn undecided_line(why: Why, count: usize, cx: &PanelContext<'_>, room: usize) -> Line<'static> {
    let text = format!("{count} undecided: {}", why.text());
    Line::from(vec![
        Span::styled("? ", cx.theme.dim),
        Span::styled(end(&text, room.saturating_sub(2), cx.glyphs.ellipsis), cx.theme.text),
    ])
}

/// Draws the selected item's detail below the list or next to it.
pub(super) fn detail(lines: &[Line<'static>], scroll: usize, areas: &Areas, cx: &PanelContext<'_>, buf: &mut Buffer) {
    for x in areas.rule.left()..areas.rule.right() {
        put(buf, Rect { x, width: 1, ..areas.rule }, 0, &Line::styled(cx.glyphs.rule, cx.theme.dim));
    }
    let most = lines.len().saturating_sub(usize::from(areas.detail.height));
    let shown = lines.iter().skip(scroll.min(most)).take(usize::from(areas.detail.height));
    for (at, line) in shown.enumerate() {
        put(buf, areas.detail, at as u16, line);
    }
    if scroll < most {
        let corner = Rect { x: areas.detail.right().saturating_sub(1), width: 1, ..areas.detail };
        put(buf, corner, areas.detail.height.saturating_sub(1), &Line::styled(cx.glyphs.down, cx.theme.dim));
    }
}

fn put(buf: &mut Buffer, area: Rect, row: u16, line: &Line<'_>) {
    let at = Rect { y: area.y.saturating_add(row), height: 1, ..area }.intersection(area).intersection(buf.area);
    if at.area() > 0 {
        buf.set_line(at.x, at.y, line, at.width);
    }
}
