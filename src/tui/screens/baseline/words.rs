//! The selected item in full, and the pages for a screen without data. Each page names the next step.

use crate::tui::panel::PanelContext;
use crate::tui::search::holds;
use crate::view::baseline::{Alarm, BaselineComparisonView};
use crate::view::escape::visible;
use crate::view::fit::wrap;
use crate::view::number::{seconds, three_digits};
use ratatui::text::Line;

/// A selectable item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    Quantity(&'static str),
    Evidence(usize),
    Suspect(String),
    Alarm(usize),
}

/// The page before the first snapshot.
pub(super) fn waiting(cx: &PanelContext<'_>) -> Vec<Line<'static>> {
    vec![Line::styled(" waiting for the first window", cx.theme.dim)]
}

/// The page for a session without a baseline: its purpose and how to make one.
pub(super) fn without(cx: &PanelContext<'_>, columns: u16) -> Vec<Line<'static>> {
    let room = usize::from(columns).saturating_sub(2);
    let mut out = vec![Line::styled(" No baseline is given", cx.theme.heading), Line::default()];
    let text = "A baseline describes how this program usually behaves at each level of load. With one, this screen shows what \
                is unusual now, which part of the law it lies in, and which neighbours moved with it.";
    out.extend(wrap(text, room).into_iter().map(|line| Line::styled(format!(" {line}"), cx.theme.text)));
    out.push(Line::default());
    for (what, command) in [
        ("learn it from what this session holds:", ":learn app"),
        ("compare with one that you have:", ":baseline app.baseline"),
        ("record it at its usual work:", "ironlaw record -p PID --ops SPEC -d 10m -o usual"),
        ("learn from that:", "ironlaw baseline build usual.ironlaw -o app.baseline"),
        ("come back with it:", "ironlaw top -p PID --ops SPEC --baseline app.baseline"),
        ("or look at a recording:", "ironlaw view REC.ironlaw --baseline app.baseline"),
    ] {
        out.push(Line::styled(format!(" {what}"), cx.theme.dim));
        out.push(Line::styled(format!("   {command}"), cx.theme.accent));
    }
    out
}

/// An alarm in one line.
pub(super) fn alarm(alarm: &Alarm) -> String {
    let Alarm { window, active, cause, confidence, worst, suspect, .. } = alarm;
    let length = seconds(window.span().seconds()).joined();
    let until = if *active { format!("on for {length}") } else { format!("lasted {length}") };
    let suspect = suspect.as_deref().map_or(String::new(), |name| format!("; with {name}"));
    let worst =
        if *worst > 0.0 { format!(", at worst {} times the usual", three_digits(*worst)) } else { String::new() };
    let clock = crate::tui::time::clock(window.from);
    format!("{clock} {until}: {} (confidence {}){worst}{suspect}", cause.label(), confidence.word())
}

/// The selected item in full.
pub(super) fn status(view: &BaselineComparisonView, key: &Key) -> String {
    let text = match key {
        Key::Quantity(name) => view.assessment.diagnosis.quantities.iter().find(|row| row.quantity.name == *name).map(|row| {
            let moved = if row.moved { "has moved" } else { "as usual" };
            format!(
                "{}: {} now, usually {} ({} to {}); {}, {} deviations away, chance {}; outside in {} of the last windows; \
                 {moved}",
                row.quantity.label,
                row.format(row.now),
                row.format(row.expected),
                row.format(row.band.0.max(0.0)),
                row.format(row.band.1),
                row.change(),
                three_digits(row.deviations),
                if row.q < 0.001 { "below 0.001".to_string() } else { three_digits(row.q) },
                row.windows_outside,
            )
        }),
        Key::Evidence(at) => view.assessment.diagnosis.evidence.get(*at).map(|row| format!("{}: {}", row.cause.label(), row.text)),
        Key::Suspect(title) => view.assessment.diagnosis.suspects.iter().find(|row| row.title() == *title).map(|row| {
            let also = if row.evidence.is_empty() { String::new() } else { format!("; {}", row.evidence.join("; ")) };
            format!(
                "{title}: score {:.2} of 1, {} CPUs while slow, {} before{also}; correlated, not proven",
                row.score,
                three_digits(row.cores),
                three_digits(row.cores_before),
            )
        }),
        Key::Alarm(at) => view.assessment.alarms.get(*at).map(alarm),
    };
    visible(&text.unwrap_or_default()).into_owned()
}

/// The name of the selected item.
pub(super) fn name(view: &BaselineComparisonView, key: &Key) -> String {
    match key {
        Key::Quantity(name) => (*name).to_string(),
        Key::Suspect(title) => title.clone(),
        Key::Evidence(_) | Key::Alarm(_) => status(view, key),
    }
}

/// Whether the item of a key contains the text.
pub(super) fn matches(view: &BaselineComparisonView, key: &Key, text: &str) -> bool {
    holds(&status(view, key), text) || holds(&name(view, key), text)
}
