//! The last windows: their states as one row of characters, and the cost of an operation as one row of levels.
//! Shows as many windows as fit.

use crate::tui::panel::PanelContext;
use crate::tui::time::clock;
use crate::view::baseline::{BaselineComparisonView, WindowResult};
use crate::view::fit::width;
use crate::view::number::three_digits;
use crate::view::watch::WindowState;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// The character for a state; states differ without colours.
pub(super) fn mark(state: WindowState) -> &'static str {
    match state {
        WindowState::Waiting => " ",
        WindowState::Idle => ".",
        WindowState::UnknownLoad => "?",
        WindowState::Usual => "=",
        WindowState::Unusual => "+",
        WindowState::Alarm => "!",
    }
}

pub(super) fn style(state: WindowState, cx: &PanelContext<'_>) -> Style {
    match state {
        WindowState::Waiting | WindowState::Idle => cx.theme.dim,
        WindowState::UnknownLoad => cx.theme.missing,
        WindowState::Usual => cx.theme.good,
        WindowState::Unusual => cx.theme.warn,
        WindowState::Alarm => cx.theme.bad,
    }
}

/// The last windows that fit, with a legend.
pub(super) fn lines(view: &BaselineComparisonView, cx: &PanelContext<'_>, room: usize) -> Vec<Line<'static>> {
    const LEAD: usize = 10;
    let windows = &view.assessment.timeline;
    let shown = &windows[windows.len().saturating_sub(room.saturating_sub(LEAD))..];
    let (Some(first), Some(last)) = (shown.first(), shown.last()) else { return Vec::new() };
    let states = shown.iter().map(|result| Span::styled(mark(result.state), style(result.state, cx)));
    let lead = |text: &str| Span::styled(format!("{text:<LEAD$}"), cx.theme.dim);
    let mut out = vec![Line::from([vec![lead("  windows")], states.collect()].concat())];
    let most = shown.iter().filter_map(|result| result.ratio).fold(0.0, f64::max);
    if most > 0.0 {
        let level = |result: &WindowResult| match result.ratio {
            Some(ratio) => Span::styled(cx.glyphs.spark(ratio, most.max(1.5)), style(result.state, cx)),
            None => Span::styled(cx.glyphs.gap, cx.theme.missing),
        };
        out.push(Line::from([vec![lead("  cost")], shown.iter().map(level).collect()].concat()));
    }
    let at = |result: &WindowResult| clock(result.window.to);
    let (from, to) = (at(first), at(last));
    let worst = if most > 0.0 { format!(", highest {} times the usual", three_digits(most)) } else { String::new() };
    let meaning = format!("{from} to {to}{worst}   = usual  + unusual  ! alarm  ? unknown load  . idle");
    let fits = width(&meaning) + LEAD <= room;
    let text = if fits { meaning } else { "= usual + unusual ! alarm ? unknown load . idle".to_string() };
    out.push(Line::from(vec![lead(""), Span::styled(text, cx.theme.dim)]));
    out
}
