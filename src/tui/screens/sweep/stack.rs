//! Where the cores of each width went: one bar per point, divided into the useful part and the losses by reason.
//! An improvement is not part of a bar; it appears next to it as a negative number.

use super::State;
use crate::tui::panel::PanelContext;
use crate::tui::theme::Theme;
use crate::tui::widgets::put_line;
use crate::view::Cause;
use crate::view::fit::{end, width};
use crate::view::number::{percent, three_digits};
use crate::view::sweep::{SliceKind, Stack, SweepView, words};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};

/// Columns before a bar, for the width.
const LEFT: u16 = 6;
/// Columns after a bar, for the useful share.
const RIGHT: u16 = 7;

/// Draws the bars, and below them the legend with the cores at the chosen point.
pub(super) fn draw(state: &State, view: &SweepView, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    if view.stacks.is_empty() {
        let text = match view.ops {
            None => "where cores went takes operations: give --ops",
            Some(_) => "where cores went takes two widths with operations",
        };
        let line = Rect { height: area.height.min(1), ..area };
        put_line(buf, line, line.x + 1, &end(text, room(line), cx.glyphs.ellipsis), cx.theme.dim);
        return;
    }
    let legend = legend(state, view, cx, area);
    title(state, view, cx, area, buf);
    let bars = bars(view, area, &legend);
    for (at, y) in shown(state, view, bars.height).zip(bars.top()..bars.bottom()) {
        row(view, at, state.at() == Some(at), cx, Rect { y, height: 1, ..bars }, buf);
    }
    let below = Rect { y: bars.bottom(), height: area.bottom().saturating_sub(bars.bottom()), ..area };
    for (parts, y) in legend.iter().zip(below.top()..below.bottom()) {
        let line = Rect { y, height: 1, ..below };
        let mut x = line.x + 1;
        for (text, style) in parts {
            x = put_line(buf, line, x, text, *style);
        }
    }
}

/// The point whose bar is at a terminal line.
pub(super) fn point_at(state: &State, view: &SweepView, cx: &PanelContext<'_>, area: Rect, y: u16) -> Option<usize> {
    let bars = bars(view, area, &legend(state, view, cx, area));
    let row = usize::from(y.checked_sub(bars.y)?);
    shown(state, view, bars.height).nth(row).filter(|_| y < bars.bottom())
}

fn room(area: Rect) -> usize {
    usize::from(area.width.saturating_sub(2))
}

fn title(state: &State, view: &SweepView, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let text = match state.chosen().and_then(|n| stack_of(view, n)) {
        Some(stack) => format!("where the cores went; numbers: n = {}", stack.n),
        None => "where the cores went".to_string(),
    };
    put_line(
        buf,
        Rect { height: area.height.min(1), ..area },
        area.x + 1,
        &end(&text, room(area), cx.glyphs.ellipsis),
        cx.theme.heading,
    );
}

/// The area of the bars: one row per point, but at least one line stays free for the legend.
fn bars(view: &SweepView, area: Rect, legend: &[Vec<Span>]) -> Rect {
    let height = area.height.saturating_sub(1);
    let kept = if height > 3 { (legend.len() as u16).min(height / 2).max(1) } else { 0 };
    let wanted = u16::try_from(view.points.len()).unwrap_or(u16::MAX);
    Rect { y: area.y + 1.min(area.height), height: wanted.min(height - kept.min(height)), ..area }
}

/// The points whose bars are visible; the chosen one is always among them.
fn shown(state: &State, view: &SweepView, height: u16) -> impl Iterator<Item = usize> {
    // A table's heading takes a row of its own; the bars have no heading.
    let top = state.widths.top(&state.widths(), height.saturating_add(1));
    top..view.points.len()
}

fn stack_of(view: &SweepView, n: u32) -> Option<&Stack> {
    view.stacks.iter().find(|stack| stack.n == n)
}

fn row(view: &SweepView, at: usize, chosen: bool, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let Some(point) = view.points.get(at) else { return };
    let label = format!("{:>4}", point.n);
    put_line(buf, area, area.x + 1, &label, if chosen { cx.theme.heading } else { cx.theme.text });
    if area.width > LEFT + RIGHT + 4 {
        let bar = Rect { x: area.x + LEFT, width: area.width - LEFT - RIGHT, ..area };
        match stack_of(view, point.n) {
            Some(stack) => {
                parts(stack, cx, bar, buf);
                let text = format!("{:>6}", percent(stack.useful / f64::from(point.n.max(1))).joined());
                put_line(buf, area, bar.right(), &text, cx.theme.text);
            }
            None => _ = put_line(buf, area, bar.x, "-  cannot be compared with the base", cx.theme.missing),
        }
    }
    if chosen {
        // The bar's own colours show its parts, so only the text around it is highlighted.
        for x in [area.x..area.x + LEFT.min(area.width), area.right().saturating_sub(RIGHT)..area.right()] {
            buf.set_style(
                Rect { x: x.start, width: x.end - x.start, ..area }.intersection(buf.area),
                cx.theme.selected,
            );
        }
    }
}

/// Draws one bar: the useful part, then each reason with its letter and hue.
fn parts(stack: &Stack, cx: &PanelContext<'_>, area: Rect, buf: &mut Buffer) {
    let lost = stack.slices.iter().filter(|slice| slice.cores > 0.0 && slice.cores.is_finite());
    let useful = if stack.useful.is_finite() { stack.useful.max(0.0) } else { 0.0 };
    let all: Vec<(Option<SliceKind>, f64)> =
        std::iter::once((None, useful)).chain(lost.map(|slice| (Some(slice.kind), slice.cores))).collect();
    let whole = all.iter().map(|(_, cores)| cores).sum::<f64>().max(f64::from(stack.n));
    let (mut sum, mut x) = (0.0, area.x);
    for (kind, cores) in all {
        sum += cores;
        let to = area.x + (sum / whole * f64::from(area.width)).round().clamp(0.0, f64::from(area.width)) as u16;
        for at in x..to {
            let letter = kind.map_or(cx.glyphs.full, letter);
            let (symbol, style) = match (kind, cx.theme.is_mono() || !cx.glyphs.unicode) {
                // Without colours, letters fill the whole part.
                (Some(_), true) => (letter, style(kind, cx.theme)),
                (Some(_), false) if at == x => (letter, filled(kind, cx.theme)),
                (Some(_), false) => (" ", filled(kind, cx.theme)),
                (None, _) => (cx.glyphs.full, style(kind, cx.theme)),
            };
            put_line(buf, area, at, symbol, style);
        }
        x = to.max(x);
    }
}

/// A part of a line with its style.
type Span = (String, Style);

/// The legend with cores at the chosen point: in full if that takes few lines, else one word per reason.
fn legend(state: &State, view: &SweepView, cx: &PanelContext<'_>, area: Rect) -> Vec<Vec<Span>> {
    let full = legend_of(state, view, cx, area, words::slice);
    let few = full.len() <= usize::from(area.height / 6).max(2);
    if few { full } else { legend_of(state, view, cx, area, |kind| short(kind).to_string()) }
}

fn legend_of(
    state: &State,
    view: &SweepView,
    cx: &PanelContext<'_>,
    area: Rect,
    word: impl Fn(SliceKind) -> String,
) -> Vec<Vec<Span>> {
    let chosen = state.chosen().and_then(|n| stack_of(view, n));
    let useful = chosen.map_or(String::new(), |stack| format!(" {}", three_digits(stack.useful)));
    let mut all = vec![(mark(None, cx), format!("useful{useful}"))];
    for kind in kinds(view) {
        let cores = chosen.and_then(|stack| stack.slices.iter().find(|slice| slice.kind == kind));
        let cores = cores.map_or(String::new(), |slice| format!(" {}", three_digits(slice.cores)));
        all.push((mark(Some(kind), cx), format!("{}{cores}", word(kind))));
    }
    let mut lines: Vec<Vec<Span>> = vec![Vec::new()];
    let mut used = 0;
    for ((symbol, style), text) in all {
        let needed = width(&symbol) + 1 + width(&text);
        if used > 0 && used + 2 + needed > room(area) {
            lines.push(Vec::new());
            used = 0;
        }
        let gap = if used > 0 { "  " } else { "" };
        let cut = end(&text, room(area).saturating_sub(width(&symbol) + 1), cx.glyphs.ellipsis);
        if let Some(line) = lines.last_mut() {
            line.extend([(gap.to_string(), cx.theme.text), (symbol, style), (format!(" {cut}"), cx.theme.text)]);
        }
        used += needed + gap.len();
    }
    lines
}

/// The reasons at all points, in the order of the bars.
fn kinds(view: &SweepView) -> Vec<SliceKind> {
    let mut kinds = Vec::new();
    for slice in view.stacks.iter().flat_map(|stack| &stack.slices) {
        if !kinds.contains(&slice.kind) && slice.cores != 0.0 {
            kinds.push(slice.kind);
        }
    }
    kinds
}

fn mark(kind: Option<SliceKind>, cx: &PanelContext<'_>) -> Span {
    let symbol = kind.map_or(cx.glyphs.full, letter).to_string();
    let plain = kind.is_none() || cx.theme.is_mono() || !cx.glyphs.unicode;
    (symbol, if plain { style(kind, cx.theme) } else { filled(kind, cx.theme) })
}

/// A one-word name for a reason.
fn short(kind: SliceKind) -> &'static str {
    match kind {
        SliceKind::MoreWork => "work",
        SliceKind::Smt => "SMT",
        SliceKind::Cpi => "CPI",
        SliceKind::Frequency => "clock",
        SliceKind::CpuTime => "CPU time",
        SliceKind::RunQueue => "queue",
        SliceKind::Throttled => "quota",
        SliceKind::Unseen => "unseen",
        SliceKind::Blocked(cause) => match cause {
            Cause::Lock => "lock",
            Cause::BlockIo => "disk",
            Cause::Network => "network",
            Cause::Sleep => "sleep",
            Cause::RunQueue => "preempted",
            Cause::Events => "events",
            Cause::Pipe => "pipe",
            Cause::Other => "other",
            Cause::Unknown => "unknown",
        },
    }
}

/// A unique letter for each reason.
pub(super) fn letter(kind: SliceKind) -> &'static str {
    match kind {
        SliceKind::MoreWork => "W",
        SliceKind::Smt => "S",
        SliceKind::Cpi => "C",
        SliceKind::Frequency => "F",
        SliceKind::CpuTime => "T",
        SliceKind::RunQueue => "Q",
        SliceKind::Throttled => "H",
        SliceKind::Unseen => "?",
        SliceKind::Blocked(cause) => match cause {
            Cause::Lock => "L",
            Cause::BlockIo => "D",
            Cause::Network => "N",
            Cause::Sleep => "Z",
            Cause::RunQueue => "P",
            Cause::Events => "E",
            Cause::Pipe => "I",
            Cause::Other => "O",
            Cause::Unknown => "U",
        },
    }
}

/// The hue shows the class of a reason: more work, slower work, waiting for a CPU, blocked.
fn style(kind: Option<SliceKind>, theme: &Theme) -> Style {
    let series = match kind {
        None => 0,
        Some(SliceKind::MoreWork | SliceKind::CpuTime) => 1,
        Some(SliceKind::Cpi | SliceKind::Smt | SliceKind::Frequency) => 4,
        Some(SliceKind::RunQueue | SliceKind::Throttled) => 2,
        Some(SliceKind::Blocked(_)) => 3,
        Some(SliceKind::Unseen) => 5,
    };
    theme.series[series]
}

fn filled(kind: Option<SliceKind>, theme: &Theme) -> Style {
    style(kind, theme).add_modifier(Modifier::REVERSED)
}
