//! The last windows: their states as one row of characters, and the cost of an operation as one row of levels.
//! Shows as many windows as fit.

use crate::tui::panel::Cx;
use crate::tui::time::clock;
use crate::units::Nanos;
use crate::view::against::{AgainstView, StepRow};
use crate::view::fit::width;
use crate::view::number::three_digits;
use crate::view::watch::State;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// The character for a state; states differ without colours.
pub(super) fn mark(state: State) -> &'static str {
    match state {
        State::Waiting => " ",
        State::Idle => ".",
        State::UnknownLoad => "?",
        State::Usual => "=",
        State::Unusual => "+",
        State::Alarm => "!",
    }
}

pub(super) fn style(state: State, cx: &Cx<'_>) -> Style {
    match state {
        State::Waiting | State::Idle => cx.theme.dim,
        State::UnknownLoad => cx.theme.missing,
        State::Usual => cx.theme.good,
        State::Unusual => cx.theme.warn,
        State::Alarm => cx.theme.bad,
    }
}

/// The last windows that fit, with a legend.
pub(super) fn lines(view: &AgainstView, cx: &Cx<'_>, room: usize) -> Vec<Line<'static>> {
    const LEAD: usize = 10;
    let steps = &view.timeline;
    let shown = &steps[steps.len().saturating_sub(room.saturating_sub(LEAD))..];
    let (Some(first), Some(last)) = (shown.first(), shown.last()) else { return Vec::new() };
    let states = shown.iter().map(|step| Span::styled(mark(step.state), style(step.state, cx)));
    let lead = |text: &str| Span::styled(format!("{text:<LEAD$}"), cx.theme.dim);
    let mut out = vec![Line::from([vec![lead("  windows")], states.collect()].concat())];
    let most = shown.iter().filter_map(|step| step.ratio).fold(0.0, f64::max);
    if most > 0.0 {
        let level = |step: &StepRow| match step.ratio {
            Some(ratio) => Span::styled(cx.glyphs.spark(ratio, most.max(1.5)), style(step.state, cx)),
            None => Span::styled(cx.glyphs.gap, cx.theme.missing),
        };
        out.push(Line::from([vec![lead("  cost")], shown.iter().map(level).collect()].concat()));
    }
    let at = |step: &StepRow| clock(Nanos((step.to_s.max(0.0) * 1e9) as u64));
    let (from, to) = (at(first), at(last));
    let worst = if most > 0.0 { format!(", highest {} times the usual", three_digits(most)) } else { String::new() };
    let meaning = format!("{from} to {to}{worst}   = usual  + unusual  ! alarm  ? unknown load  . idle");
    let fits = width(&meaning) + LEAD <= room;
    let text = if fits { meaning } else { "= usual + unusual ! alarm ? unknown load . idle".to_string() };
    out.push(Line::from(vec![lead(""), Span::styled(text, cx.theme.dim)]));
    out
}
