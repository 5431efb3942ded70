//! The frame around every screen: head line, tabs, the rule below them, and the history strip.

use super::panel::ScreenId;
use super::screens::SessionKind;
use super::theme::{Glyphs, Theme};
use super::time::{Time, clock};
use super::widgets::bar::filled;
use super::widgets::put_line;
use crate::model::Measure;
use crate::units::Nanos;
use crate::view::diff::words;
use crate::view::escape::visible;
use crate::view::fit::{end, middle, width};
use crate::view::number;
use crate::view::snapshot::{ComparisonHeader, FleetHeader, ScreenHeader, SweepHeader};
use crate::view::sweep::Progress;
use crate::view::watch::WindowState;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Columns left of the strip's chart, for the start of the history.
const STRIP_LEFT: u16 = 9;
/// Columns right of the chart, for the shown time.
const STRIP_RIGHT: u16 = 24;

/// Session state that the head line shows in addition to [`ScreenHeader`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionStatus<'a> {
    /// Whether this is a live capture, running or ended.
    pub live: bool,
    /// Whether the capture ended.
    pub ended: bool,
    /// Whether a running capture has sent no window for several intervals.
    pub silent: bool,
    /// A label for the thread filter; empty without one.
    pub filter: &'a str,
}

/// Draws the head line: target and data quality at the left, session state at the right.
pub fn head_line(
    head: &ScreenHeader,
    time: &Time,
    doing: SessionStatus<'_>,
    (theme, glyphs): (&Theme, &Glyphs),
    area: Rect,
    buf: &mut Buffer,
) {
    let state = state(head, time, doing);
    let state_width = width(&state) as u16;
    let right = area.right().saturating_sub(state_width + 1);
    let style = if time.follows() && !doing.ended && !doing.silent { theme.good } else { theme.warn };
    put_line(buf, area, right, &state, style);
    let mut x = put_line(buf, area, area.x + 1, "ironlaw", theme.accent) + 2;
    let room = usize::from(right.saturating_sub(x + 1));
    let who = who(head, doing, glyphs);
    let quality = quality(head);
    // The target has priority over the quality, which loses its last words first.
    let who = middle(&who, room, glyphs.ellipsis);
    x = put_line(buf, area, x, &who, theme.heading) + 3;
    let mut room = usize::from(right.saturating_sub(x + 1));
    for (at, (text, bad)) in quality.iter().enumerate() {
        let text = if at == 0 { text.clone() } else { format!(" {} {text}", glyphs.dot) };
        if width(&text) > room {
            break;
        }
        room -= width(&text);
        x = put_line(buf, area, x, &text, if *bad { theme.warn } else { theme.dim });
    }
}

fn who(head: &ScreenHeader, doing: SessionStatus<'_>, glyphs: &Glyphs) -> String {
    let mut who = visible(&head.target).into_owned();
    if doing.filter.is_empty() {
        if let Measure::Known { value, .. } = head.threads {
            let count = value.round().max(0.0) as u64;
            who = format!("{who} {} {}", glyphs.dot, number::several(count, "thread"));
        }
    } else {
        who = format!("{who} {} {}", glyphs.right, visible(doing.filter));
    }
    who
}

/// The kind and quality of the samples; true marks a problem.
fn quality(head: &ScreenHeader) -> Vec<(String, bool)> {
    let mut parts = match (&head.sweep, &head.comparison, &head.fleet) {
        (Some(sweep), ..) => sweep_parts(sweep),
        (_, Some(comparison), _) => comparison_parts(comparison),
        (.., Some(fleet)) => fleet_parts(fleet),
        (None, None, None) => capture_parts(head),
    };
    if !head.notes.is_empty() {
        parts.push((number::several(head.notes.len() as u64, "note"), false));
    }
    parts
}

fn sweep_parts(sweep: &SweepHeader) -> Vec<(String, bool)> {
    let runs = number::several(u64::from(sweep.runs), "run");
    let ops = match &sweep.ops {
        Some(ops) => (format!("ops: {}", visible(ops)), false),
        None => ("no operations counted".to_string(), true),
    };
    vec![(runs, false), ops, (visible(&sweep.machine).into_owned(), false)]
}

fn comparison_parts(comparison: &ComparisonHeader) -> Vec<(String, bool)> {
    let [base, new] = comparison.runs;
    let runs = format!("{base} against {}", number::several(new as u64, "recording"));
    let per = comparison.per.map_or("no code compared", words::per);
    vec![(runs, false), (per.to_string(), comparison.per.is_none())]
}

fn fleet_parts(fleet: &FleetHeader) -> Vec<(String, bool)> {
    vec![
        (number::several(fleet.hosts, "host"), fleet.hosts == 0),
        (number::several(fleet.windows, "window"), fleet.windows == 0),
    ]
}

fn capture_parts(head: &ScreenHeader) -> Vec<(String, bool)> {
    let mut parts = vec![(format!("{} {}", visible(&head.event), head.rate), false)];
    if let Some(whole) = head.whole {
        parts.push((format!("stacks {} complete", number::percent(whole).joined()), whole < 0.95));
    }
    if let Measure::Known { value, .. } = head.coverage
        && (value.is_low() || value.is_high())
    {
        parts.push((format!("samples cover {} of CPU time", number::percent(value.share).joined()), true));
    }
    parts.push((format!("lost {}", number::count(head.lost)), head.lost > 0));
    if let Measure::Known { value, .. } = head.own_cpu {
        parts.push((format!("own cost {}", number::percent(value).joined()), value > 0.05));
    }
    parts
}

fn state(head: &ScreenHeader, time: &Time, doing: SessionStatus<'_>) -> String {
    match head.sweep.as_ref().map(|sweep| sweep.progress) {
        Some(Some(Progress { over, planned, .. })) => return format!("RUNS {over}/{planned}"),
        Some(None) => return if doing.ended { "ENDED" } else { "SWEEP" }.to_string(),
        None => {}
    }
    if let Some(ComparisonHeader { at: [at, count], .. }) = head.comparison {
        return if count > 1 { format!("DIFF {}/{count}", at + 1) } else { "DIFF".to_string() };
    }
    if head.fleet.is_some() {
        return "FLEET".to_string();
    }
    let word = match (doing.live, doing.ended, time.follows()) {
        (false, _, true) => "RECORDING",
        (_, _, false) => "PAUSED",
        (true, true, true) => "ENDED",
        (true, false, true) if doing.silent => "NO DATA SINCE",
        (true, false, true) => "LIVE",
    };
    format!("{word} {}", clock(Nanos(head.to.0)))
}

/// A screen, its tab's label, and the tab's first column.
pub type Tab = (ScreenId, String, u16);

/// The tabs with their positions, the number of findings, and a mark if the session deviates from its baseline.
/// On a narrow terminal the labels are cut to their numbers and first letters.
#[must_use]
pub fn tabs(kind: SessionKind, findings: Option<usize>, standing: Option<WindowState>, columns: u16) -> Vec<Tab> {
    let count = |screen| match (screen, findings, standing) {
        (ScreenId::Findings, Some(count @ 1..), _) => format!(" {count}"),
        (ScreenId::Baseline, _, Some(WindowState::Alarm)) => " !".to_string(),
        (ScreenId::Baseline, _, Some(WindowState::Unusual)) => " +".to_string(),
        _ => String::new(),
    };
    // A tab has its number and a blank before its name, and a gap behind it; the hint at the help needs the rest.
    let wide = |(cut, gap): (usize, usize)| {
        let tabs = kind.screens().map(|(_, screen, name)| name.len().min(cut) + count(screen).len() + 2 + gap);
        tabs.sum::<usize>() + 8
    };
    let shapes = [(usize::MAX, 2), (4, 2), (4, 1), (3, 1)];
    let (cut, gap) = shapes.into_iter().find(|shape| wide(*shape) <= usize::from(columns)).unwrap_or((2, 1));
    let mut x = 1;
    let tab = |(number, screen, name): (u8, ScreenId, &str)| {
        let label = format!("{number} {}{}", name.chars().take(cut).collect::<String>(), count(screen));
        let start = x;
        x += (label.len() + gap) as u16;
        (screen, label, start)
    };
    kind.screens().map(tab).collect()
}

/// Draws the tabs and marks the open one by more than colour.
pub fn tab_line(tabs: &[Tab], open: ScreenId, help: &str, theme: &Theme, area: Rect, buf: &mut Buffer) {
    for (screen, label, start) in tabs {
        put_line(buf, area, area.x + start, label, if *screen == open { theme.tab_open } else { theme.dim });
    }
    let help = format!("{help} help");
    let x = area.right().saturating_sub(width(&help) as u16 + 1);
    put_line(buf, area, x, &help, theme.dim);
}

/// The part of the strip's row that is the time axis.
#[must_use]
pub fn strip_chart(area: Rect) -> Rect {
    let width = area.width.saturating_sub(STRIP_LEFT + STRIP_RIGHT);
    Rect { x: area.x + STRIP_LEFT.min(area.width), width, ..area }
}

/// The moment at a column of the strip.
#[must_use]
pub fn moment_at(head: &ScreenHeader, area: Rect, column: u16) -> Nanos {
    let chart = strip_chart(area);
    let share = f64::from(column.saturating_sub(chart.x)) / f64::from(chart.width.saturating_sub(1).max(1));
    head.since + Nanos(((head.now - head.since).as_f64() * share.clamp(0.0, 1.0)) as u64)
}

/// Draws the history as busy cores over time, with the shown part highlighted and the marks labelled.
pub fn strip(head: &ScreenHeader, time: &Time, theme: &Theme, glyphs: &Glyphs, area: Rect, buf: &mut Buffer) {
    if let Some(sweep) = &head.sweep {
        return progress(sweep, theme, glyphs, area, buf);
    }
    let line = match (&head.comparison, &head.fleet) {
        (Some(comparison), _) => Some(format!("load: {} {} {}", comparison.load, glyphs.dot, comparison.settings)),
        (None, Some(fleet)) => {
            let (jobs, platforms) = (number::several(fleet.jobs, "job"), number::several(fleet.platforms, "platform"));
            Some(format!("{} {} {jobs} on {platforms}", fleet.covered, glyphs.dot))
        }
        (None, None) => None,
    };
    if let Some(text) = line {
        let room = usize::from(area.width.saturating_sub(2));
        put_line(buf, area, area.x + 1, &end(&visible(&text), room, glyphs.ellipsis), theme.dim);
        return;
    }
    let chart = strip_chart(area);
    put_line(buf, area, area.x + 1, &clock(head.since), theme.dim);
    let columns = columns(head, chart.width);
    let top = columns.iter().flatten().copied().fold(0.0, f64::max);
    for (at, value) in columns.iter().enumerate() {
        let x = chart.x + at as u16;
        let (from, to) = (moment_at(head, area, x), moment_at(head, area, x + 1));
        let shown = to > head.from && from < head.to;
        let (symbol, style) = match value {
            Some(value) => (glyphs.spark(*value, top), if shown { theme.shown } else { theme.dim }),
            None => (glyphs.gap, theme.dim),
        };
        put_line(buf, area, x, symbol, style);
    }
    for mark in head.marks.iter().filter(|mark| mark.at >= head.since && chart.width > 0) {
        let span = (head.now - head.since).as_f64().max(1.0);
        let at = (mark.at - head.since).as_f64() / span * f64::from(chart.width - 1);
        put_line(buf, area, chart.x + at.min(f64::from(chart.width - 1)) as u16, "m", theme.accent2);
    }
    let label = format!("{} {}", clock(head.now), shown_label(time));
    put_line(buf, area, chart.right() + 1, &end(&label, usize::from(STRIP_RIGHT - 2), glyphs.ellipsis), theme.text);
}

/// Draws a sweep's progress in place of a history; once the sweep is over, the placement of its runs.
fn progress(sweep: &SweepHeader, theme: &Theme, glyphs: &Glyphs, area: Rect, buf: &mut Buffer) {
    let Some(Progress { over, planned, running, eta_seconds }) = sweep.progress else {
        let text = format!("placement: {}", visible(&sweep.placement));
        let room = usize::from(area.width.saturating_sub(2));
        put_line(buf, area, area.x + 1, &end(&text, room, glyphs.ellipsis), theme.dim);
        return;
    };
    let mut text = format!("{over} of {planned} runs");
    if let Some(n) = running {
        text += &format!(" {} n = {n} runs", glyphs.dot);
    }
    if let Some(seconds) = eta_seconds {
        text += &format!(" {} about {} left", glyphs.dot, clock(Nanos(seconds.saturating_mul(1_000_000_000))));
    }
    let right = put_line(
        buf,
        area,
        area.x + 1,
        &end(&text, usize::from(area.width.saturating_sub(2)), glyphs.ellipsis),
        theme.text,
    );
    let columns = usize::from(area.right().saturating_sub(right + 3));
    let share = f64::from(over) / f64::from(planned.max(1));
    put_line(buf, area, right + 2, &filled(share, columns, glyphs), theme.shown);
}

fn shown_label(time: &Time) -> String {
    match (time.range, time.compare) {
        (Some(range), _) if range.open => format!("{} ..", time.label()),
        (None, true) => format!("{} vs before", time.label()),
        _ => time.label(),
    }
}

/// The mean of the windows that end in each column; several columns may share one window.
fn columns(head: &ScreenHeader, width: u16) -> Vec<Option<f64>> {
    let span = (head.now - head.since).as_f64();
    let mut sums = vec![(0.0, 0_u32); usize::from(width)];
    if span <= 0.0 || sums.is_empty() {
        return vec![None; sums.len()];
    }
    let column = |at: Nanos| (((at - head.since).as_f64() / span * f64::from(width)) as usize).min(sums.len() - 1);
    let mut start = 0;
    let mut filled: Vec<(usize, usize, f64)> = Vec::with_capacity(head.strip.at.len());
    for (at, busy) in head.strip.at.iter().zip(&head.strip.busy) {
        let here = column(*at);
        if let Some(busy) = busy {
            filled.push((start.min(here), here, *busy));
        }
        start = here + 1;
    }
    for (from, to, busy) in filled {
        for sum in &mut sums[from..=to] {
            *sum = (sum.0 + busy, sum.1 + 1);
        }
    }
    sums.into_iter().map(|(sum, count)| (count > 0).then(|| sum / f64::from(count))).collect()
}
