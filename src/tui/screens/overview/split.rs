//! Where the threads' time goes: a bar, and its parts in words. Fill marks as well as colours distinguish the parts.

use super::page::{Drawing, Item, Page, Rows};
use super::tiles::changed;
use super::words;
use crate::tui::panel::PanelContext;
use crate::view::fit::width;
use crate::view::number::{self, percent, three_digits};
use crate::view::overview::{Factor, Overview, Wait};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Lays out the two lines.
pub(super) fn split(view: &Overview, cx: &PanelContext<'_>, rows: &mut Rows, page: &mut Page) {
    let line = rows.take(1);
    let label = label(view, line.width);
    let label_width = width(&label) as u16;
    page.text(line, None, Span::styled(label, cx.theme.dim));
    let left = (label_width + 2).min(line.width);
    page.push(Rect { x: line.x + left, width: line.width - left, ..line }, None, Drawing::Bar);
    let line = rows.take(1);
    let mut x = line.x;
    for (at, part) in view.split.parts.iter().enumerate() {
        let text = words_of(at, part, cx);
        let columns = (text.width() as u16).min(line.right().saturating_sub(x));
        page.text(Rect { x, width: columns, ..line }, Some(Item::Part(part.id)), text);
        x = (x + columns + 3).min(line.right());
    }
    let room = line.right().saturating_sub(x.saturating_sub(2));
    if let Some(text) = waits(&view.split.waits, usize::from(room)) {
        page.text(Rect { x: x - 2, width: room, ..line }, None, Span::styled(text, cx.theme.dim));
    }
}

fn label(view: &Overview, columns: u16) -> String {
    let threads = view.split.threads.value.value().copied();
    match threads {
        Some(threads) if columns >= 70 => {
            let whole = threads.round();
            let is_whole = whole >= 1.0 && (threads / whole - 1.0).abs() < 0.005;
            let count = if is_whole { number::count(whole as u64) } else { three_digits(threads) };
            let noun = if is_whole && count == "1" { "thread's" } else { "threads'" };
            format!("where {count} {noun} time goes")
        }
        _ if columns >= 70 => "where the threads' time goes".to_string(),
        _ => "threads' time".to_string(),
    }
}

/// The part's fill mark, its name, its share and the change of the share.
fn words_of(at: usize, part: &Factor, cx: &PanelContext<'_>) -> Line<'static> {
    let (symbol, style) = mark(at, cx);
    let mut spans = vec![
        Span::styled(symbol.to_string(), style),
        Span::styled(format!(" {} ", part.label), cx.theme.dim),
        match part.value.value() {
            Some(_) => Span::styled(words::value(part), cx.theme.text),
            None => Span::styled(words::DASH, cx.theme.missing),
        },
    ];
    if let Some(change) = &part.change {
        spans.extend([Span::raw(" "), changed(&words::change(change, part.unit), cx)]);
    }
    Line::from(spans)
}

/// The fill and style of a part of the bar.
pub(super) fn mark<'a>(part: usize, cx: &PanelContext<'a>) -> (&'a str, Style) {
    let style = [cx.theme.accent, cx.theme.accent2, cx.theme.dim].get(part).copied();
    (cx.glyphs.fills[part % cx.glyphs.fills.len()], style.unwrap_or(cx.theme.dim))
}

/// As many of the waits as fit.
fn waits(waits: &[Wait], room: usize) -> Option<String> {
    let mut text = String::from("(");
    for wait in waits.iter().filter(|wait| wait.share >= 0.000_5) {
        let glue = if text.len() > 1 { ", " } else { "" };
        let next = format!("{glue}{} {}", wait.label, percent(wait.share).joined());
        if width(&text) + width(&next) + 1 > room {
            break;
        }
        text.push_str(&next);
    }
    (text.len() > 1).then(|| text + ")")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_named_as_far_as_there_is_room() {
        let all = [Wait { label: "lock", share: 0.25 }, Wait { label: "sleep", share: 0.1 }];
        for (room, expected) in
            [(40, Some("(lock 25.0%, sleep 10.0%)")), (24, Some("(lock 25.0%)")), (11, None), (0, None)]
        {
            assert_eq!(waits(&all, room).as_deref(), expected, "{room}");
        }
        assert_eq!(waits(&[], 40), None);
    }
}
