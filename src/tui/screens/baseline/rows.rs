//! The contents of the screen as rows: verdict, timeline, quantities, explanation, suspects, and unknowns.
//! Sentences are wrapped, not cut.

use super::factors::{self, ColumnWidths};
use super::timeline;
use super::words::{self, Key};
use crate::tui::panel::PanelContext;
use crate::tui::widgets::bar::filled;
use crate::view::baseline::words as baseline_words;
use crate::view::baseline::{Alarm, BaselineComparisonView, Evidence, QuantityDeviation, Suspect};
use crate::view::escape::visible;
use crate::view::fit::{end, middle, width, wrap};
use crate::view::number::{percent, three_digits};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// A row of the screen.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub line: Line<'static>,
    pub key: Option<Key>,
}

/// Maximum number of listed alarms; the latest are kept.
const ALARMS: usize = 8;

/// All selectable items, in the order of the screen.
pub(super) fn keys(view: &BaselineComparisonView, all: bool) -> Vec<Key> {
    let quantities = listed(view, all).into_iter().map(|row| Key::Quantity(row.quantity.name));
    let evidence = (0..view.assessment.diagnosis.evidence.len()).map(Key::Evidence);
    let suspects = view.assessment.diagnosis.suspects.iter().map(|suspect| Key::Suspect(suspect.title()));
    quantities.chain(evidence).chain(suspects).chain(alarms(view).map(|(at, _)| Key::Alarm(at))).collect()
}

/// All rows in one column.
pub(super) fn one(view: &BaselineComparisonView, all: bool, cx: &PanelContext<'_>, width: u16) -> Vec<Row> {
    let mut rows = left(view, all, cx, width);
    rows.push(plain(Line::default()));
    rows.extend(right(view, cx, width));
    rows
}

/// The deviations: verdict, timeline and quantities.
pub(super) fn left(view: &BaselineComparisonView, all: bool, cx: &PanelContext<'_>, columns: u16) -> Vec<Row> {
    let room = usize::from(columns);
    let mut out = verdict(view, cx, room);
    out.extend(timeline::lines(view, cx, room).into_iter().map(plain));
    let listed = listed(view, all);
    if !listed.is_empty() {
        out.push(plain(Line::default()));
        let shape = ColumnWidths::of(&listed, room);
        out.push(plain(factors::heading(&shape, cx)));
        out.extend(listed.iter().map(|row| Row {
            line: factors::line(row, row.quantity.id == view.assessment.diagnosis.primary, &shape, cx),
            key: Some(Key::Quantity(row.quantity.name)),
        }));
        let hidden = view.assessment.diagnosis.quantities.len() - listed.len();
        if hidden > 0 {
            let text =
                format!("  {hidden} more as usual: {} lists all", cx.keys.first(crate::tui::keys::Action::Filter));
            out.push(plain(Line::styled(text, cx.theme.dim)));
        }
    }
    out
}

/// The explanation, the suspects, the alarms, the unknowns and the baseline.
pub(super) fn right(view: &BaselineComparisonView, cx: &PanelContext<'_>, columns: u16) -> Vec<Row> {
    let room = usize::from(columns);
    let mut out = Vec::new();
    section(&mut out, "What explains it", evidence(view, cx, room), cx);
    section(&mut out, "Who moved with it: correlated, not proven", suspects(view, cx, room), cx);
    section(&mut out, "Alarms", alarm_rows(view, cx, room), cx);
    let unknown =
        view.assessment.diagnosis.unknown.iter().flat_map(|text| paragraph("? ", text, cx.theme.text, None, room));
    section(&mut out, "Not known", unknown.collect(), cx);
    let weak = view.baseline.weaknesses.iter().flat_map(|text| paragraph("- ", text, cx.theme.dim, None, room));
    section(&mut out, "The baseline itself", baseline(view, cx, room).into_iter().chain(weak).collect(), cx);
    out
}

fn plain(line: Line<'static>) -> Row {
    Row { line, key: None }
}

/// Adds a title and its rows after an empty line; adds nothing without rows.
fn section(out: &mut Vec<Row>, title: &'static str, rows: Vec<Row>, cx: &PanelContext<'_>) {
    if rows.is_empty() {
        return;
    }
    if !out.is_empty() {
        out.push(plain(Line::default()));
    }
    out.push(plain(Line::styled(title, cx.theme.heading)));
    out.extend(rows);
}

/// Wraps a text; continuation lines are indented below its mark.
fn paragraph(mark: &str, text: &str, style: Style, key: Option<Key>, room: usize) -> Vec<Row> {
    let text = visible(text);
    let wrapped = wrap(&text, room.saturating_sub(width(mark)).max(1));
    let lead = |at: usize| if at == 0 { mark.to_string() } else { " ".repeat(width(mark)) };
    let row = |(at, part): (usize, String)| Row {
        line: Line::from(vec![Span::styled(lead(at), style), Span::styled(part, style)]),
        key: key.clone(),
    };
    wrapped.into_iter().enumerate().map(row).collect()
}

fn verdict(view: &BaselineComparisonView, cx: &PanelContext<'_>, room: usize) -> Vec<Row> {
    let (mark, style) =
        (timeline::mark(view.assessment.diagnosis.state), timeline::style(view.assessment.diagnosis.state, cx));
    let state = view.assessment.diagnosis.state.label();
    let load = match (view.assessment.diagnosis.load, view.assessment.diagnosis.level) {
        (Some(load), Some(level)) => {
            format!(
                "{}, known: {}",
                baseline_words::load(view.assessment.diagnosis.axis, load),
                baseline_words::range(view.assessment.diagnosis.axis, level)
            )
        }
        (Some(load), None) => baseline_words::load(view.assessment.diagnosis.axis, load),
        (None, _) => "load not known".to_string(),
    };
    let head = format!("{mark} {state}");
    let load = end(&load, room.saturating_sub(width(&head) + 3), cx.glyphs.ellipsis);
    let first = Line::from(vec![Span::styled(head, style), Span::raw("   "), Span::styled(load, cx.theme.dim)]);
    let mut rows = vec![plain(first)];
    for (at, sentence) in view.verdict.iter().enumerate() {
        let style = if at == 0 { cx.theme.heading } else { cx.theme.text };
        rows.extend(paragraph("  ", sentence, style, None, room));
    }
    rows
}

/// The quantities to show.
fn listed(view: &BaselineComparisonView, all: bool) -> Vec<&QuantityDeviation> {
    if all { view.assessment.diagnosis.quantities.iter().collect() } else { view.notable().collect() }
}

fn evidence(view: &BaselineComparisonView, cx: &PanelContext<'_>, room: usize) -> Vec<Row> {
    let mut out = Vec::new();
    for (at, row) in view.assessment.diagnosis.evidence.iter().enumerate() {
        let Evidence { cause, share, confidence, text } = row;
        let share = share.map_or(String::new(), |share| format!(", {} of the slowdown", percent(share).joined()));
        let title = format!("{}{share} (confidence {})", cause.label(), confidence.word());
        out.extend(paragraph("! ", &title, cx.theme.accent2, Some(Key::Evidence(at)), room));
        out.extend(paragraph("  ", text, cx.theme.text, None, room));
    }
    out
}

/// Columns of a suspect's bar.
const BAR: usize = 12;

fn suspects(view: &BaselineComparisonView, cx: &PanelContext<'_>, room: usize) -> Vec<Row> {
    let mut out = Vec::new();
    for suspect in &view.assessment.diagnosis.suspects {
        out.push(Row { line: suspect_line(suspect, cx, room), key: Some(Key::Suspect(suspect.title())) });
        out.extend(suspect.evidence.iter().flat_map(|text| paragraph("    ", text, cx.theme.dim, None, room)));
    }
    out
}

/// Name, bar and score, CPUs before and now.
fn suspect_line(suspect: &Suspect, cx: &PanelContext<'_>, room: usize) -> Line<'static> {
    let Suspect { score, above_threshold, cores, cores_before, .. } = suspect;
    let bar = filled(score.clamp(0.0, 1.0), BAR, cx.glyphs);
    let pad = " ".repeat(BAR.saturating_sub(width(&bar)));
    let numbers = format!(" {score:>5.2}  {} {} {} CPUs", three_digits(*cores_before), "->", three_digits(*cores));
    let (mark, style) = if *above_threshold { ("! ", cx.theme.accent2) } else { ("  ", cx.theme.text) };
    let name_room = room.saturating_sub(2 + 1 + BAR + width(&numbers)).clamp(8, 40);
    let name = middle(&visible(&suspect.title()), name_room, cx.glyphs.ellipsis);
    let gap = " ".repeat(name_room.saturating_sub(width(&name)) + 1);
    Line::from(vec![
        Span::styled(mark, style),
        Span::styled(name, style),
        Span::raw(gap),
        Span::styled(bar, cx.theme.series[0]),
        Span::raw(pad),
        Span::styled(numbers, cx.theme.text),
    ])
}

/// The latest alarms with their indices among all alarms.
fn alarms(view: &BaselineComparisonView) -> impl Iterator<Item = (usize, &Alarm)> {
    view.assessment.alarms.iter().enumerate().rev().take(ALARMS)
}

fn alarm_rows(view: &BaselineComparisonView, cx: &PanelContext<'_>, room: usize) -> Vec<Row> {
    let row = |(at, alarm): (usize, &Alarm)| {
        let (mark, style) = if alarm.active { ("! ", cx.theme.bad) } else { ("  ", cx.theme.text) };
        let mut rows = paragraph(mark, &words::alarm(alarm), style, None, room);
        rows.iter_mut().take(1).for_each(|row| row.key = Some(Key::Alarm(at)));
        rows
    };
    let mut rows: Vec<Row> = alarms(view).flat_map(row).collect();
    let more = view.assessment.alarms.len().saturating_sub(ALARMS);
    if more > 0 {
        rows.push(plain(Line::styled(format!("  and {more} before"), cx.theme.dim)));
    }
    rows
}

fn baseline(view: &BaselineComparisonView, cx: &PanelContext<'_>, room: usize) -> Vec<Row> {
    let head = &view.baseline;
    let several = baseline_words::several;
    let text = format!(
        "{} of {} at {} of load",
        several(head.windows, "window"),
        several(head.sources, "recording"),
        several(head.known_levels, "known level"),
    );
    let mut rows = paragraph("  ", &text, cx.theme.dim, None, room);
    for stale in &head.stale {
        let style = if stale.incompatible { cx.theme.bad } else { cx.theme.warn };
        rows.extend(paragraph(if stale.incompatible { "! " } else { "- " }, &stale.text, style, None, room));
    }
    rows
}
