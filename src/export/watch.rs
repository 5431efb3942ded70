//! The lines of a watch: JSON as `assets/schema/watch.schema.json` describes it, or a sentence for people.
//! Each event is exactly one line.

use crate::error::{Error, ErrorKind, Result};
use crate::model::{MetricId, Unit};
use crate::view::escape::visible;
use crate::view::number::{percent, quantity, seconds, several, three_digits};
use crate::view::watch::{
    AlarmCleared, AlarmRaised, BaselineFacts, CommandResult, End, Line, LoadAxis, Message, PRIMARY, QuantityDeviation,
    Recorded, RecordedPeriod, Start, Suspect, WatchEvent, WindowLine, WindowState,
};

/// The schema of [`json`], draft 2020-12.
pub const SCHEMA: &str = include_str!("../../assets/schema/watch.schema.json");

/// One line of JSON, including the line end.
///
/// # Errors
/// `Io` if a value cannot be written as JSON.
pub fn json(line: &Line) -> Result<Vec<u8>> {
    let failed = |error: serde_json::Error| Error::new(ErrorKind::Io, format!("cannot write a line as JSON: {error}"));
    let mut bytes = serde_json::to_vec(line).map_err(failed)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// One line of text, including the line end.
#[must_use]
pub fn text(line: &Line) -> Vec<u8> {
    let what = match &line.event {
        WatchEvent::Start(start) => begin(start),
        WatchEvent::Window(line) => window(line),
        WatchEvent::Alarm(raised) => alarm(raised),
        WatchEvent::Cleared(cleared) => clear(cleared),
        WatchEvent::Recorded(recorded) => record(recorded),
        WatchEvent::Command(result) => command(result),
        WatchEvent::Note(note) => message("note", note),
        WatchEvent::Error(error) => message("error", error),
        WatchEvent::End(end) => last(end),
    };
    format!("{} {}\n", line.time, visible(&what)).into_bytes()
}

fn begin(start: &Start) -> String {
    let against = start.baseline.as_ref().map_or_else(
        || " without a baseline".to_string(),
        |BaselineFacts { path, strength, .. }| {
            let (sources, levels) =
                (several(strength.sources as u64, "recording"), several(strength.known_levels as u64, "level"));
            format!(" against {} ({} windows of {sources}, {levels} known)", path.display(), strength.windows)
        },
    );
    let rows = start.dataset.as_ref().map_or_else(String::new, |dir| format!(", rows to {}", dir.display()));
    let metrics = start.metrics.as_ref().map_or_else(|| "metrics off".to_string(), |at| format!("metrics at {at}"));
    let mut text = format!("watching {}{against}{rows}, {metrics}", start.target);
    for point in &start.stale {
        text.push_str(&format!("; stale: {}", point.text));
    }
    for note in &start.notes {
        text.push_str(&format!("; note: {}", note.text));
    }
    text
}

fn load(load: Option<f64>, axis: LoadAxis) -> String {
    match (load, axis) {
        (None, _) => String::new(),
        (Some(load), LoadAxis::OpsPerSecond) => format!(" at {} operations/s", three_digits(load)),
        (Some(load), LoadAxis::BusyCores) => format!(" at {} busy CPUs", three_digits(load)),
    }
}

fn times(primary: MetricId, ratio: f64) -> String {
    format!("{} {} of usual", primary.name(), percent(ratio).joined())
}

/// The slowdown. It includes waits, so it exceeds the growth of CPU time.
fn longest(primary: MetricId, worst: f64) -> String {
    let what = if primary == PRIMARY { "an operation" } else { "the same work" };
    format!("{what} takes {} of its usual time", percent(worst).joined())
}

fn window(line: &WindowLine) -> String {
    let WindowLine { axis, primary, result, .. } = line;
    let ratio = result.ratio.map(|ratio| format!(", {}", times(*primary, ratio))).unwrap_or_default();
    let p99 = result.latency_p99.map(|ns| format!(", p99 {}", quantity(ns, Unit::Nanos).joined())).unwrap_or_default();
    format!("{}{ratio}{p99}", state(result.state, result.load, *axis))
}

/// A state with its load, or that no operation was counted.
fn state(state: WindowState, at: Option<f64>, axis: LoadAxis) -> String {
    let uncounted = at.is_none() && axis == LoadAxis::OpsPerSecond;
    match state {
        WindowState::UnknownLoad if uncounted => "at an unknown load: operations were not counted".to_string(),
        WindowState::Unusual | WindowState::Alarm if uncounted => {
            format!("{}, operations were not counted", state.label())
        }
        _ => format!("{}{}", state.label(), load(at, axis)),
    }
}

fn alarm(raised: &AlarmRaised) -> String {
    let AlarmRaised { update, cause_text, alarm, diagnosis, .. } = raised;
    // A wait may be made up for by cheaper operations: then its own quantity says what is worse.
    let slower = (alarm.worst >= 1.0).then(|| longest(diagnosis.primary, alarm.worst));
    let worse = || diagnosis.worse(alarm.cause).map(QuantityDeviation::against_usual);
    let how = slower.or_else(worse).map_or(String::new(), |how| format!(", {how}"));
    let mut parts = vec![format!(
        "{}: {cause_text} ({} confidence){how}{}",
        if *update { "alarm goes on" } else { "ALARM" },
        alarm.confidence.word(),
        load(diagnosis.load, diagnosis.axis),
    )];
    parts.extend(diagnosis.fewer().map(throughput));
    parts.extend(diagnosis.location.map(|location| format!("where to look: {}", location.label())));
    parts.extend(diagnosis.evidence.first().map(|evidence| evidence.text.trim_end_matches('.').to_string()));
    let above: Vec<_> = diagnosis.suspects.iter().filter(|it| it.above_threshold).take(3).map(suspect).collect();
    if !above.is_empty() {
        parts.push(format!("suspects (correlated, not proven): {}", above.join(", ")));
    }
    parts.join("; ")
}

/// The loss of throughput.
fn throughput(rate: &QuantityDeviation) -> String {
    format!("{} operations/s, usually {}", three_digits(rate.now), three_digits(rate.expected))
}

fn suspect(suspect: &Suspect) -> String {
    let pid = suspect.pid.map(|pid| format!(" ({pid})")).unwrap_or_default();
    format!("{}{pid} {:.2}, {} CPUs", suspect.name, suspect.score, three_digits(suspect.cores))
}

fn clear(cleared: &AlarmCleared) -> String {
    let alarm = &cleared.alarm;
    let suspect = alarm.suspect.as_ref().map(|name| format!(", suspect {name}")).unwrap_or_default();
    format!(
        "cleared: as usual again after {}; it was {} ({} confidence), at worst {} of usual{suspect}",
        seconds(alarm.window.span().seconds()).joined(),
        alarm.cause.label(),
        alarm.confidence.word(),
        percent(alarm.worst).joined(),
    )
}

fn record(recorded: &Recorded) -> String {
    let period = match recorded.period {
        RecordedPeriod::BeforeAlarm => "the time before the alarm",
        RecordedPeriod::Alarm => "a detailed capture of it",
    };
    let path = recorded.path.display();
    let size = recorded.bytes as f64 / 1e3;
    let removed = recorded.removed.len();
    let removed =
        if removed == 0 { String::new() } else { format!("; removed {}", several(removed as u64, "older recording")) };
    format!("recorded {period}: {path} ({size:.1} kB){removed}")
}

fn command(result: &CommandResult) -> String {
    let short = if result.timed_out { " (timed out)" } else { "" };
    format!("the command ended with status {} after {}{short}", result.status, seconds(result.seconds).joined())
}

fn message(kind: &str, message: &Message) -> String {
    let fix = message.fix.as_ref().map(|fix| format!(" ({fix})")).unwrap_or_default();
    format!("{kind}: {}{fix}", message.text)
}

fn last(end: &End) -> String {
    let (windows, alarms) = (several(end.windows, "window"), several(end.alarms, "alarm"));
    format!("end: {}; {windows}, {alarms}, {} lost", end.reason, several(end.lost, "record"))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::Window;
    use crate::analysis::attribution::{Alarm, Cause, CauseLocation, Diagnosis, Evidence, WindowResult};
    use crate::analysis::baseline::{KeyChange, Strength};
    use crate::analysis::diff::Quantity;
    use crate::analysis::finding::Confidence;
    use crate::units::Nanos;
    use crate::view::watch::{Moment, NeighbourKind, SCHEMA_VERSION};

    fn alarm() -> Alarm {
        Alarm {
            window: Window { from: Nanos(0), to: Nanos(90_000_000_000) },
            raised: Nanos(3_000_000_000),
            raised_after_windows: 3,
            active: false,
            cause: Cause::Llc,
            confidence: Confidence::Medium,
            worst: 2.0,
            suspect: None,
        }
    }

    fn raised() -> AlarmRaised {
        let suspect = Suspect {
            kind: NeighbourKind::Process,
            name: "mine\u{1b}[2J".into(),
            pid: Some(7),
            cgroup: None,
            score: 0.5,
            above_threshold: true,
            cores: 1.5,
            cores_before: 0.0,
            evidence: vec!["ran on the sibling".into()],
        };
        let quantity = Quantity::of(PRIMARY);
        let (now, expected, band, deviations, q) = (2e6, 1e6, (9e5, 1.1e6), 30.0, 0.001);
        let diagnosis = Diagnosis {
            state: WindowState::Alarm,
            axis: LoadAxis::OpsPerSecond,
            load: Some(1000.0),
            level: Some((900.0, 1100.0)),
            primary: PRIMARY,
            quantities: vec![QuantityDeviation {
                quantity,
                now,
                expected,
                band,
                deviations,
                q,
                windows_outside: 3,
                moved: true,
            }],
            unusual: None,
            evidence: vec![Evidence {
                cause: Cause::Llc,
                share: Some(0.8),
                confidence: Confidence::Medium,
                text: "12 misses, 3 usual.".into(),
            }],
            location: Some(CauseLocation::Neighbours),
            suspects: vec![Suspect { above_threshold: false, ..suspect.clone() }, suspect],
            unknown: vec![],
        };
        AlarmRaised { update: false, since: Moment(0), cause_text: Cause::Llc.label(), alarm: alarm(), diagnosis }
    }

    fn start() -> Start {
        let (windows, sources, known_levels, covered, weaknesses) = (100, 1, 2, 0.9, vec![]);
        let strength =
            Strength { windows, sources, known_levels, covered, false_alarms: None, growth_seen: None, weaknesses };
        let text = |text: &str| text.to_string();
        Start {
            schema_version: SCHEMA_VERSION,
            tool: text("1"),
            target: text("pid 4"),
            baseline: Some(BaselineFacts { path: "x.baseline".into(), axis: LoadAxis::BusyCores, strength }),
            dataset: None,
            stale: vec![KeyChange {
                what: "kernel",
                then: text("5"),
                now: text("6"),
                text: text("kernel: 5 then, 6 now"),
                incompatible: false,
            }],
            operations: None,
            interval_s: 1.0,
            rate_hz: None,
            probe: true,
            on_alarm: vec![text("record")],
            metrics: None,
            notes: vec![Message::plain("n")],
        }
    }

    fn lines() -> Vec<(WatchEvent, &'static str)> {
        let result = WindowResult {
            window: Window { from: Nanos(0), to: Nanos(1_000_000_000) },
            state: WindowState::Unusual,
            load: None,
            ratio: Some(1.25),
            latency_p99: Some(1.2e6),
            raised: false,
            cleared: false,
        };
        let window = WindowLine { at: Moment(0), axis: LoadAxis::BusyCores, primary: MetricId::BusyCores, result };
        let (confidence, suspect) = (Confidence::High, Some("s".into()));
        let alarm = Alarm { cause: Cause::Steal, confidence, worst: 1.5, suspect, ..alarm() };
        let cleared = AlarmCleared { since: Moment(0), alarm };
        let period = RecordedPeriod::BeforeAlarm;
        let recorded = Recorded { path: "a.ironlaw".into(), period, bytes: 1500, removed: vec!["b".into()] };
        vec![
            (
                WatchEvent::Start(Box::new(start())),
                "watching pid 4 against x.baseline (100 windows of 1 recording, 2 levels known), metrics off; stale: \
                 kernel: 5 then, 6 now; note: n",
            ),
            (
                WatchEvent::Start(Box::new(Start {
                    baseline: None,
                    dataset: Some("d".into()),
                    stale: vec![],
                    ..start()
                })),
                "watching pid 4 without a baseline, rows to d, metrics off; note: n",
            ),
            (WatchEvent::Window(window), "unusual, not an alarm, busy_cores 125% of usual, p99 1.20 ms"),
            (
                WatchEvent::Alarm(Box::new(raised())),
                "ALARM: more misses of the last-level cache (medium confidence), an operation takes 200% of its usual time at 1,000 \
                 operations/s; where to look: neighbours on this machine; 12 misses, 3 usual; suspects (correlated, \
                 not proven): mine\u{241b}[2J (7) 0.50, 1.50 CPUs",
            ),
            (
                WatchEvent::Cleared(cleared),
                "cleared: as usual again after 90.0 s; it was CPU taken by the hypervisor (high confidence), at \
                 worst 150% of usual, suspect s",
            ),
            (
                WatchEvent::Recorded(recorded),
                "recorded the time before the alarm: a.ironlaw (1.5 kB); removed 1 older recording",
            ),
            (
                WatchEvent::Command(CommandResult { status: 143, seconds: 60.0, timed_out: true }),
                "the command ended with status 143 after 60.0 s (timed out)",
            ),
            (WatchEvent::Note(Message { text: "x".into(), fix: Some("y".into()) }), "note: x (y)"),
            (WatchEvent::Error(Message::plain("x")), "error: x"),
            (
                WatchEvent::End(End { reason: "over".into(), windows: 1, alarms: 2, lost: 3 }),
                "end: over; 1 window, 2 alarms, 3 records lost",
            ),
        ]
    }

    #[test]
    fn each_event_is_one_line_for_people_in_which_no_name_acts() {
        for (event, expected) in lines() {
            let line = Line { time: Moment(1_500_000_000), event };
            let shown = String::from_utf8(text(&line)).unwrap();
            assert_eq!(shown, format!("1970-01-01T00:00:01.500Z {expected}\n"));
        }
    }

    #[test]
    fn each_event_keeps_to_the_schema_and_the_schema_knows_them_apart() {
        let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
        compiler.add_resource("watch.json", serde_json::from_str(SCHEMA).unwrap()).unwrap();
        let id = compiler.compile("watch.json", &mut schemas).unwrap();
        for (event, _) in lines() {
            let bytes = json(&Line { time: Moment(0), event }).unwrap();
            assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 1);
            let mut value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
            if let Err(error) = schemas.validate(&value, id) {
                panic!("{value}: {error:#}");
            }
            value["event"] = "nonesuch".into();
            assert!(schemas.validate(&value, id).is_err(), "{value}");
        }
    }
}
