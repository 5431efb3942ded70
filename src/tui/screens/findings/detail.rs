//! The detail of one finding as lines: claim, evidence, place, what would refute it, the next step.
//! Sentences are wrapped, not cut.

use crate::model::Why;
use crate::tui::finding;
use crate::tui::panel::PanelContext;
use crate::view::escape::visible;
use crate::view::findings::{EvidenceView, FindingView};
use crate::view::fit::{end, width, wrap};
use crate::view::number::{percent, quantity};
use ratatui::text::{Line, Span};

/// Columns of the label before a paragraph.
const WORD: usize = 12;

/// The detail of a finding: first the claim and the next step, then the evidence.
pub(super) fn found(found: &FindingView, cx: &PanelContext<'_>, room: usize) -> Vec<Line<'static>> {
    let mut lines = vec![title(found, cx, room)];
    lines.extend(wrap(&visible(&found.claim), room).into_iter().map(|text| Line::styled(text, cx.theme.text)));
    lines.push(Line::default());
    lines.extend(paragraph("next", &visible(&found.next_step), cx, room));
    if let Some(place) = &found.place {
        let path = finding::path(place, cx.glyphs);
        if !path.is_empty() {
            lines.extend(paragraph("where", &path, cx, room));
        }
        if !place.threads.is_empty() {
            let threads: Vec<_> = place.threads.iter().map(|thread| visible(thread)).collect();
            lines.extend(paragraph("threads", &threads.join(", "), cx, room));
        }
    }
    lines.push(Line::default());
    lines.extend(evidence(&found.evidence, cx, room));
    lines.extend(paragraph("refuted by", &visible(found.refuted_by), cx, room));
    lines
}

fn title(found: &FindingView, cx: &PanelContext<'_>, room: usize) -> Line<'static> {
    let of = found.share_of.words();
    let share = found.share.map(|share| format!("{} {of}, ", percent(share).joined())).unwrap_or_default();
    let right = format!("{share}confidence {}", finding::confidence(found.confidence));
    let title = end(&visible(found.title), room, cx.glyphs.ellipsis);
    let pad = room.saturating_sub(width(&title) + width(&right));
    if pad < 2 {
        return Line::styled(title, cx.theme.heading);
    }
    Line::from(vec![
        Span::styled(title, cx.theme.heading),
        Span::raw(" ".repeat(pad)),
        Span::styled(right, cx.theme.dim),
    ])
}

/// The checks that are undecided for one reason, with an explanation.
pub(super) fn undecided(
    why: Why,
    titles: impl Iterator<Item = &'static str>,
    cx: &PanelContext<'_>,
    room: usize,
) -> Vec<Line<'static>> {
    let mut lines = vec![Line::styled("cannot be decided here", cx.theme.heading)];
    lines.extend(paragraph("because", why.text(), cx, room));
    if let Some(remedy) = remedy(why) {
        lines.extend(paragraph("to decide", remedy, cx, room));
    }
    lines.push(Line::default());
    for (at, title) in titles.enumerate() {
        lines.extend(paragraph(if at == 0 { "open" } else { "" }, &visible(title), cx, room));
    }
    lines
}

/// The next step towards a decision, unless the reason already names it.
fn remedy(why: Why) -> Option<&'static str> {
    match why {
        Why::NotSupported => Some("measure on hardware, or have the virtual machine's host expose the PMU"),
        Why::NotRecorded => Some("record again with it: --off-cpu shows where threads wait"),
        Why::TooFewSamples => Some("select a longer time, or sample more often (--freq)"),
        Why::LostEvents => Some("sample less often (--freq), or select a time without losses"),
        Why::Idle => Some("select a time in which it ran"),
        Why::OpsSilent => Some("check the notes of the recording on its operation source"),
        Why::NotRead => Some("select a longer time"),
        Why::QueueUnknown => Some("run fewer busy threads than CPUs, or on CPUs of their own"),
        Why::ThreadsUnread => Some("record the waits themselves: --off-cpu sees every thread"),
        Why::TooCostly => Some("count nevertheless: --max-overhead 100"),
        Why::Interleaved => Some("sample each event by itself: -e cycles,instructions"),
        Why::NoSlo => Some("give one: --slo 5ms"),
        Why::BeyondRange
        | Why::TooFewHosts
        | Why::Unvarying
        | Why::CoarseBins
        | Why::RunsScatter
        | Why::Suspect
        | Why::NotPermitted
        | Why::Multiplexed
        | Why::NoOpsSource
        | Why::TargetGone => None,
    }
}

/// Values and their thresholds, in columns.
fn evidence(rows: &[EvidenceView], cx: &PanelContext<'_>, room: usize) -> Vec<Line<'static>> {
    let shown = |value: f64, row: &EvidenceView| quantity(value, row.unit).joined();
    let label = rows.iter().map(|row| width(&visible(row.label))).max().unwrap_or(0).min(room.saturating_sub(26));
    let mut lines = Vec::new();
    if !rows.is_empty() {
        let head = format!("{:label$}  {:>10}  {:>10}", "evidence", "value", "threshold");
        lines.push(Line::styled(head, cx.theme.dim));
    }
    for row in rows {
        let name = end(&visible(row.label), label, cx.glyphs.ellipsis);
        let pad = " ".repeat(label.max(8).saturating_sub(width(&name)) + 2);
        let threshold = row.threshold.map_or_else(String::new, |threshold| shown(threshold, row));
        lines.push(Line::from(vec![
            Span::styled(format!("{name}{pad}"), cx.theme.text),
            Span::styled(format!("{:>10}", shown(row.value, row)), cx.theme.heading),
            Span::styled(format!("  {threshold:>10}"), cx.theme.dim),
        ]));
    }
    if !rows.is_empty() {
        lines.push(Line::default());
    }
    lines
}

/// A label in its own column with the text next to it.
fn paragraph(word: &str, text: &str, cx: &PanelContext<'_>, room: usize) -> Vec<Line<'static>> {
    let lines = wrap(text, room.saturating_sub(WORD).max(10)).into_iter().enumerate();
    lines
        .map(|(at, text)| {
            let word = if at == 0 { word } else { "" };
            Line::from(vec![Span::styled(format!("{word:WORD$}"), cx.theme.dim), Span::styled(text, cx.theme.text)])
        })
        .collect()
}
