//! The lines of a watch: JSON as `assets/schema/watch.schema.json` describes it, or a sentence for people.
//! Each event is exactly one line.

use crate::error::{Error, ErrorKind, Result};
use crate::view::escape::visible;
use crate::view::number::{percent, seconds, three_digits};
use crate::view::watch::{
    Cleared, End, Factor, Holds, Line, LoadAxis, PRIMARY, RATE, Ran, Recorded, Said, Standing, Start, Suspected,
    Trouble, What,
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

/// The slowdown. It includes waits, so it exceeds the growth of CPU time.
fn longest(primary: &str, worst: f64) -> String {
    let what = if primary == PRIMARY.name() { "an operation" } else { "the same work" };
    format!("{what} takes {} of its usual time", percent(worst).joined())
}

fn window(standing: &Standing) -> String {
    let ratio = standing.ratio.map(|ratio| format!(", {}", times(standing.primary, ratio))).unwrap_or_default();
    format!("{}{}{ratio}", standing.state.label(), load(standing.load, standing.axis))
}

fn alarm(trouble: &Trouble) -> String {
    let mut parts = vec![format!(
        "{}: {} ({} confidence), {}{}",
        if trouble.update { "alarm goes on" } else { "ALARM" },
        trouble.cause_text,
        trouble.confidence.word(),
        longest(trouble.primary, trouble.worst),
        load(trouble.load, trouble.axis),
    )];
    parts.extend(throughput(trouble));
    parts.extend(trouble.place.map(|place| format!("where to look: {}", place.label())));
    parts.extend(trouble.evidence.first().map(|reason| reason.text.trim_end_matches('.').to_string()));
    let above: Vec<_> = trouble.suspects.iter().filter(|it| it.above_threshold).take(3).map(suspect).collect();
    if !above.is_empty() {
        parts.push(format!("suspects (correlated, not proven): {}", above.join(", ")));
    }
    parts.join("; ")
}

/// The loss of throughput, if any.
fn throughput(trouble: &Trouble) -> Option<String> {
    let fell = |it: &&Factor| it.quantity == RATE.name() && it.moved && it.now < it.expected;
    let rate = trouble.factors.iter().find(fell)?;
    Some(format!("{} operations/s, usually {}", three_digits(rate.now), three_digits(rate.expected)))
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
        cleared.cause.label(),
        cleared.confidence.word(),
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

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::model::Unit;
    use crate::view::watch::{
        Cause, Confidence, Factor, Known, Moment, NeighbourKind, Reason, SCHEMA_VERSION, StalePoint, State, Strength,
        Where,
    };

    fn alarm() -> Trouble {
        let suspect = Suspected {
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
        let unit = Unit::Nanos;
        let (now, expected, band, deviations, moved) = (2e6, 1e6, (9e5, 1.1e6), 30.0, true);
        Trouble {
            update: false,
            since: Moment(0),
            cause: Cause::Llc,
            cause_text: Cause::Llc.label(),
            confidence: Confidence::Medium,
            place: Some(Where::Neighbours),
            primary: "cpu_ns_per_op",
            worst: 2.0,
            load: Some(1000.0),
            axis: LoadAxis::OpsPerSecond,
            level: Some((900.0, 1100.0)),
            evidence: vec![Reason {
                cause: Cause::Llc,
                share: Some(0.8),
                confidence: Confidence::Medium,
                text: "12 misses, 3 usual.".into(),
            }],
            suspects: vec![Suspected { above_threshold: false, ..suspect.clone() }, suspect],
            factors: vec![Factor {
                quantity: "cpu_ns_per_op",
                label: "x",
                unit,
                now,
                expected,
                band,
                deviations,
                moved,
            }],
            unknown: vec![],
        }
    }

    fn start() -> Start {
        let (windows, sources, known_levels, covered, wanting) = (100, 1, 2, 0.9, vec![]);
        let strength =
            Strength { windows, sources, known_levels, covered, false_alarms: None, growth_seen: None, wanting };
        let text = |text: &str| text.to_string();
        Start {
            schema_version: SCHEMA_VERSION,
            tool: text("1"),
            target: text("pid 4"),
            baseline: Known { path: "x.baseline".into(), axis: LoadAxis::BusyCores, strength },
            stale: vec![StalePoint {
                what: text("kernel"),
                then: text("5"),
                now: text("6"),
                text: text("kernel: 5 then, 6 now"),
                refuses: false,
            }],
            operations: None,
            interval_s: 1.0,
            rate_hz: None,
            probe: true,
            on_alarm: vec![text("record")],
            metrics: None,
            notes: vec![Said::plain("n")],
        }
    }

    fn lines() -> Vec<(What, &'static str)> {
        let standing = Standing {
            at: Moment(0),
            seconds: 1.0,
            state: State::Unusual,
            load: None,
            axis: LoadAxis::BusyCores,
            primary: "busy_cores",
            ratio: Some(1.25),
        };
        let (since, seconds, confidence, worst, suspect) = (Moment(0), 90.0, Confidence::High, 1.5, Some("s".into()));
        let cleared = Cleared { since, seconds, cause: Cause::Steal, confidence, worst, suspect };
        let recorded =
            Recorded { path: "a.ironlaw".into(), holds: Holds::Before, bytes: 1500, removed: vec!["b".into()] };
        vec![
            (
                What::Start(Box::new(start())),
                "watching pid 4 against x.baseline (100 windows of 1 recording, 2 levels known), metrics off; stale: \
                 kernel: 5 then, 6 now; note: n",
            ),
            (What::Window(standing), "unusual, but not for long enough, busy_cores 125% of usual"),
            (
                What::Alarm(Box::new(alarm())),
                "ALARM: more misses of the last-level cache (medium confidence), an operation takes 200% of its usual time at 1,000 \
                 operations/s; where to look: neighbours on this machine; 12 misses, 3 usual; suspects (correlated, \
                 not proven): mine\u{241b}[2J (7) 0.50, 1.50 CPUs",
            ),
            (
                What::Cleared(cleared),
                "cleared: as usual again after 90.0 s; it was CPU taken by the hypervisor (high confidence), at \
                 worst 150% of usual, suspect s",
            ),
            (
                What::Recorded(recorded),
                "recorded the time before the alarm: a.ironlaw (1.5 kB); removed 1 older recording",
            ),
            (
                What::Command(Ran { status: 143, seconds: 60.0, cut_short: true }),
                "the command ended with status 143 after 60.0 s, its time was over",
            ),
            (What::Note(Said { text: "x".into(), fix: Some("y".into()) }), "note: x (y)"),
            (What::Error(Said::plain("x")), "error: x"),
            (
                What::End(End { reason: "over".into(), windows: 1, alarms: 2, lost: 3 }),
                "end: over; 1 window, 2 alarms, 3 records lost",
            ),
        ]
    }

    #[test]
    fn each_event_is_one_line_for_people_in_which_no_name_acts() {
        for (what, expected) in lines() {
            let line = Line { time: Moment(1_500_000_000), what };
            let shown = String::from_utf8(text(&line)).unwrap();
            assert_eq!(shown, format!("1970-01-01T00:00:01.500Z {expected}\n"));
        }
    }

    #[test]
    fn each_event_keeps_to_the_schema_and_the_schema_knows_them_apart() {
        let (mut schemas, mut compiler) = (boon::Schemas::new(), boon::Compiler::new());
        compiler.add_resource("watch.json", serde_json::from_str(SCHEMA).unwrap()).unwrap();
        let id = compiler.compile("watch.json", &mut schemas).unwrap();
        for (what, _) in lines() {
            let bytes = json(&Line { time: Moment(0), what }).unwrap();
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
