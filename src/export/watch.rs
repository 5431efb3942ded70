//! The lines of a watch: JSON as `assets/schema/watch.schema.json` describes it, or a sentence for people.
//! It never breaks one event over several lines.

use crate::error::{Error, ErrorKind, Result};
use crate::view::escape::visible;
use crate::view::number::{percent, seconds, three_digits};
use crate::view::watch::{
    Cleared, End, Holds, Line, LoadAxis, Ran, Recorded, Said, Standing, Start, Suspected, Trouble, What, cause_words,
    confidence_words, state_words, where_words,
};

/// The schema of [`json`], draft 2020-12.
pub const SCHEMA: &str = include_str!("../../assets/schema/watch.schema.json");

/// One line of JSON, its end included.
///
/// # Errors
/// `Io` if a value cannot be written as JSON.
pub fn json(line: &Line) -> Result<Vec<u8>> {
    let failed = |error: serde_json::Error| Error::new(ErrorKind::Io, format!("cannot write a line as JSON: {error}"));
    let mut bytes = serde_json::to_vec(line).map_err(failed)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// One line of text, its end included.
#[must_use]
pub fn text(line: &Line) -> Vec<u8> {
    let what = match &line.what {
        What::Start(start) => begin(start),
        What::Window(standing) => window(standing),
        What::Alarm(trouble) => alarm(trouble),
        What::Cleared(cleared) => clear(cleared),
        What::Recorded(recorded) => record(recorded),
        What::Command(ran) => command(ran),
        What::Note(said) => said_of("note", said),
        What::Error(said) => said_of("error", said),
        What::End(end) => last(end),
    };
    format!("{} {}\n", line.time, visible(&what)).into_bytes()
}

fn begin(start: &Start) -> String {
    let strength = &start.baseline.strength;
    let metrics = start.metrics.as_ref().map_or_else(|| "metrics off".to_string(), |at| format!("metrics at {at}"));
    let mut text = format!(
        "watching {} against {} ({} windows of {}, {} known), {metrics}",
        start.target,
        start.baseline.path.display(),
        strength.windows,
        counted(strength.sources, "recording"),
        counted(strength.known_levels, "level"),
    );
    for point in &start.stale {
        text.push_str(&format!("; stale: {}", point.text));
    }
    for note in &start.notes {
        text.push_str(&format!("; note: {}", note.text));
    }
    text
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn load(load: Option<f64>, axis: LoadAxis) -> String {
    match (load, axis) {
        (None, _) => String::new(),
        (Some(load), LoadAxis::OpsPerSecond) => format!(" at {} operations/s", three_digits(load)),
        (Some(load), LoadAxis::BusyCores) => format!(" at {} busy CPUs", three_digits(load)),
    }
}

fn times(primary: &str, ratio: f64) -> String {
    format!("{primary} {} of usual", percent(ratio).joined())
}

fn window(standing: &Standing) -> String {
    let ratio = standing.ratio.map(|ratio| format!(", {}", times(standing.primary, ratio))).unwrap_or_default();
    format!("{}{}{ratio}", state_words(standing.state), load(standing.load, standing.axis))
}

fn alarm(trouble: &Trouble) -> String {
    let mut parts = vec![format!(
        "{}: {} ({} confidence), {}{}",
        if trouble.update { "alarm goes on" } else { "ALARM" },
        trouble.cause_text,
        confidence_words(trouble.confidence),
        times(trouble.primary, trouble.worst),
        load(trouble.load, trouble.axis),
    )];
    parts.extend(trouble.place.map(|place| where_words(place).to_string()));
    parts.extend(trouble.evidence.first().map(|reason| reason.text.trim_end_matches('.').to_string()));
    let above: Vec<_> = trouble.suspects.iter().filter(|it| it.above_threshold).take(3).map(suspect).collect();
    if !above.is_empty() {
        parts.push(format!("suspects (correlated, not proven): {}", above.join(", ")));
    }
    parts.join("; ")
}

fn suspect(suspect: &Suspected) -> String {
    let pid = suspect.pid.map(|pid| format!(" ({pid})")).unwrap_or_default();
    format!("{}{pid} {:.2}, {} CPUs", suspect.name, suspect.score, three_digits(suspect.cores))
}

fn clear(cleared: &Cleared) -> String {
    let suspect = cleared.suspect.as_ref().map(|name| format!(", suspect {name}")).unwrap_or_default();
    format!(
        "cleared: as usual again after {}; it was {} ({} confidence), at worst {} of usual{suspect}",
        seconds(cleared.seconds).joined(),
        cause_words(cleared.cause),
        confidence_words(cleared.confidence),
        percent(cleared.worst).joined(),
    )
}

fn record(recorded: &Recorded) -> String {
    let holds = match recorded.holds {
        Holds::Before => "the time before the alarm",
        Holds::Alarm => "a detailed capture of it",
    };
    let path = recorded.path.display();
    let size = recorded.bytes as f64 / 1e3;
    let removed = recorded.removed.len();
    let removed =
        if removed == 0 { String::new() } else { format!("; removed {}", counted(removed, "older recording")) };
    format!("recorded {holds}: {path} ({size:.1} kB){removed}")
}

fn command(ran: &Ran) -> String {
    let short = if ran.cut_short { ", its time was over" } else { "" };
    format!("the command ended with status {} after {}{short}", ran.status, seconds(ran.seconds).joined())
}

fn said_of(kind: &str, said: &Said) -> String {
    let fix = said.fix.as_ref().map(|fix| format!(" ({fix})")).unwrap_or_default();
    format!("{kind}: {}{fix}", said.text)
}

fn last(end: &End) -> String {
    let windows = usize::try_from(end.windows).unwrap_or(usize::MAX);
    let alarms = usize::try_from(end.alarms).unwrap_or(usize::MAX);
    format!(
        "end: {}; {}, {}, {} records lost",
        end.reason,
        counted(windows, "window"),
        counted(alarms, "alarm"),
        end.lost
    )
}
