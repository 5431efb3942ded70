//! Decisions replayed from scripts: each word is a window or an event, and the actions are compared as text.

use super::{Action, Event, Pending, Policy, State, decide};
use crate::analysis::Window;
use crate::analysis::attribution::{
    Alarm, Assessment, Cause, Diagnosis, NoAlarm, UnusualPeriod, WindowResult, WindowState,
};
use crate::analysis::baseline::{KeyChange, LoadAxis};
use crate::analysis::diff::PRIMARY;
use crate::analysis::finding::Confidence;
use crate::units::Nanos;

const SECOND: u64 = 1_000_000_000;

/// Everything an alarm can lead to.
const ALL: Policy =
    Policy { every: None, exit_on_alarm: false, record: Some(Nanos(60 * SECOND)), command: true, stale_ok: false };

/// A watch under test. Its recordings and commands run until the script says that they are done.
struct Replay {
    state: State,
    assessment: Assessment,
    now: u64,
    pending: Pending,
    /// Whether windows are kept for one assessment.
    batched: bool,
    log: Vec<String>,
}

/// An assessment without an alarm and without a window.
pub(super) fn usual_assessment() -> Assessment {
    let diagnosis = Diagnosis {
        state: WindowState::Usual,
        axis: LoadAxis::OpsPerSecond,
        load: None,
        level: None,
        primary: PRIMARY,
        quantities: vec![],
        unusual: None,
        evidence: vec![],
        location: None,
        suspects: vec![],
        unknown: vec![],
    };
    Assessment { diagnosis, alarms: vec![], timeline: vec![] }
}

impl Replay {
    fn new(policy: Policy) -> Replay {
        Replay {
            state: State::new(policy),
            assessment: usual_assessment(),
            now: 0,
            pending: Pending::default(),
            batched: false,
            log: vec![],
        }
    }

    fn window(&mut self, state: WindowState, raised: bool, cleared: bool) {
        let window = Window { from: Nanos(self.now * SECOND), to: Nanos((self.now + 1) * SECOND) };
        self.now += 1;
        if raised {
            self.assessment.alarms.push(Alarm {
                window,
                raised: window.to,
                raised_after_windows: 3,
                active: true,
                cause: Cause::RunQueue,
                confidence: Confidence::High,
                worst: 1.5,
                suspect: None,
            });
        }
        if let Some(alarm) = self.assessment.alarms.last_mut().filter(|_| cleared) {
            alarm.active = false;
        }
        self.assessment.timeline.push(WindowResult {
            window,
            state,
            load: None,
            ratio: None,
            latency_p99: None,
            raised,
            cleared,
        });
        if !self.batched {
            self.assess();
        }
    }

    fn assess(&mut self) {
        let assessment = self.assessment.clone();
        self.event(&Event::Assessed { assessment: &assessment, now: Nanos(self.now * SECOND), pending: self.pending });
    }

    fn event(&mut self, event: &Event<'_>) {
        for action in decide(&mut self.state, event) {
            self.pending.recording |= matches!(action, Action::StartRecording { .. });
            self.pending.command |= matches!(action, Action::RunCommand(_));
            self.log.extend(brief(&action));
        }
    }

    fn step(&mut self, word: &str) {
        match word {
            "usual" => self.window(WindowState::Usual, false, false),
            "unusual" => {
                let from = Nanos(self.now * SECOND);
                let period = self.assessment.diagnosis.unusual.get_or_insert(UnusualPeriod {
                    window: Window { from, to: from },
                    windows: 0,
                    no_alarm: NoAlarm::MayBeChance,
                });
                (period.window.to, period.windows) = (Nanos((self.now + 1) * SECOND), period.windows + 1);
                self.window(WindowState::Unusual, false, false);
            }
            "as-before" => self.assessment.diagnosis.unusual = None,
            "idle" => self.window(WindowState::Idle, false, false),
            "raise" => self.window(WindowState::Alarm, true, false),
            "alarm" => self.window(WindowState::Alarm, false, false),
            "clear" => self.window(WindowState::Usual, false, true),
            "[" => self.batched = true,
            "]" => {
                self.batched = false;
                self.assess();
            }
            "no-reading" => self.assess(),
            "new-cause" => self.assessment.alarms.iter_mut().for_each(|alarm| alarm.cause = Cause::Steal),
            "recorded" => self.pending.recording = false,
            "command-done" => self.pending.command = false,
            "ended" => self.event(&Event::Ended("the target has ended".to_string())),
            "failed" => self.event(&Event::CaptureFailed),
            "signal" => self.event(&Event::Signal),
            "closed" => self.event(&Event::OutputClosed),
            "waited" => self.event(&Event::Waited(self.pending)),
            "same-program" => self.event(&Event::ProgramKnown(vec![change("kernel", false)])),
            "new-build" => self.event(&Event::ProgramKnown(vec![change("build-id of the program", true)])),
            seconds => self.now += seconds.trim_end_matches('s').parse::<u64>().unwrap_or_else(|_| panic!("{word}")),
        }
    }
}

fn change(what: &'static str, incompatible: bool) -> KeyChange {
    let (then, now, text) = ("a".to_string(), "b".to_string(), format!("{what}: a then, b now"));
    KeyChange { what, then, now, text, incompatible }
}

/// Nothing for a counted window, which every window is.
fn brief(action: &Action) -> Option<String> {
    Some(match action {
        Action::CountWindow(_) => return None,
        Action::ReportWindow(result) => result.state.name().to_string(),
        Action::RunCommand(_) => "run".to_string(),
        Action::RaiseAlarm(_) => "ALARM".to_string(),
        Action::UpdateAlarm(alarm) => format!("update {}", alarm.cause.name()),
        Action::ClearAlarm(_) => "cleared".to_string(),
        Action::StartRecording { detailed: true } => "record and capture".to_string(),
        Action::StartRecording { detailed: false } => "record".to_string(),
        Action::StopRecording => "stop recording".to_string(),
        Action::StopCommand => "stop command".to_string(),
        Action::Note(note) => format!("({note})"),
        Action::RejectBaseline(_) => "reject".to_string(),
        Action::End(reason) => format!("end: {reason}"),
        Action::Finish => "finish".to_string(),
    })
}

fn actions(policy: Policy, script: &str) -> Vec<String> {
    let mut replay = Replay::new(policy);
    script.split_whitespace().for_each(|word| replay.step(word));
    replay.log
}

fn check(policy: Policy, rows: &[(&str, &str, &[&str])]) {
    for (what, script, expected) in rows {
        assert_eq!(actions(policy, script), *expected, "{what}: {script}");
    }
}

const COMMAND_BUSY: &str = "(the command was not run: it still runs for an earlier alarm)";
const RECORDING_BUSY: &str = "(the alarm was not recorded: an earlier one is still being recorded)";
const NO_CAPTURE: &str = "(no detailed capture: the last one began less than five minutes ago)";

#[test]
fn windows_that_are_unusual_for_long_without_an_alarm_are_noted_once_each_time() {
    let nine = "unusual ".repeat(9);
    let noted = "(unusual for 10 s, not an alarm because the runs and windows of the baseline differ too much to rule out that \
                 it is chance)";
    check(
        ALL,
        &[
            ("nine", &nine, &["unusual"]),
            ("ten and more", &format!("{nine} unusual unusual unusual"), &["unusual", noted]),
            (
                "twice",
                &format!("{nine} unusual as-before usual {nine} unusual"),
                &["unusual", noted, "usual", "unusual", noted],
            ),
        ],
    );
}

#[test]
fn windows_are_reported_where_the_state_changes_or_as_often_as_asked() {
    let quiet = Policy { record: None, command: false, ..ALL };
    check(
        quiet,
        &[
            ("state changes", "usual usual unusual usual idle idle", &["usual", "unusual", "usual", "idle"]),
            ("a gap without a reading", "usual no-reading 100s no-reading usual", &["usual"]),
            ("several windows at once", "[ usual unusual usual ]", &["usual", "unusual", "usual"]),
            ("an alarm without actions", "raise alarm clear", &["alarm", "ALARM", "usual", "cleared"]),
        ],
    );
    check(
        Policy { every: Some(2), ..quiet },
        &[("every second one", "usual usual usual usual unusual", &["usual", "usual", "usual", "unusual"])],
    );
}

#[test]
fn an_alarm_runs_the_command_and_is_recorded_and_clearing_it_stops_neither() {
    let raised = ["alarm", "run", "ALARM", "record and capture"];
    let then = |rest: &[&'static str]| [&raised[..], rest].concat();
    let too_soon = "(the alarm was not recorded: the last recording ended 3.0 s ago, less than --before (60 s))";
    check(
        ALL,
        &[
            ("cleared", "raise recorded command-done clear", &then(&["usual", "cleared"])),
            ("cleared while it is recorded", "raise clear recorded usual", &then(&["usual", "cleared"])),
            (
                "again while the first is recorded",
                "raise clear raise",
                &then(&["usual", "cleared", "alarm", COMMAND_BUSY, "ALARM", RECORDING_BUSY]),
            ),
            (
                "again while only the command runs",
                "raise recorded clear 100s raise",
                &then(&["usual", "cleared", "alarm", COMMAND_BUSY, "ALARM", "record", NO_CAPTURE]),
            ),
            (
                "again within the recorded time",
                "raise recorded command-done clear usual raise",
                &then(&["usual", "cleared", "alarm", "run", "ALARM", too_soon]),
            ),
            (
                "again after the pause between captures",
                "raise recorded command-done clear 300s raise",
                &then(&["usual", "cleared", "alarm", "run", "ALARM", "record and capture"]),
            ),
            (
                "raised, cleared and raised within one assessment",
                "[ raise clear raise ]",
                &then(&["usual", "cleared", "alarm", COMMAND_BUSY, "ALARM", RECORDING_BUSY]),
            ),
            ("a gap during an alarm", "raise no-reading 60s no-reading alarm", &raised),
        ],
    );
}

#[test]
fn an_alarm_that_is_skipped_for_recording_does_not_postpone_the_next_one() {
    let log = actions(Policy { command: false, ..ALL }, "raise recorded clear 30s raise clear 30s raise");
    let records = log.iter().filter(|action| action.starts_with("record")).count();
    assert_eq!(records, 2, "{log:?}");
}

#[test]
fn an_ongoing_alarm_is_reported_again_after_ten_windows_if_its_cause_changed() {
    let policy = Policy { record: None, command: false, ..ALL };
    let (nine, ten) = ("alarm ".repeat(9), "alarm ".repeat(10));
    for (script, updates) in [
        (format!("raise {ten}"), 0),
        (format!("raise new-cause {nine}"), 0),
        (format!("raise new-cause {ten}"), 1),
        (format!("raise new-cause {ten}{ten}"), 1),
        (format!("raise new-cause {nine} clear {ten}"), 0),
    ] {
        let log = actions(policy, &script);
        assert_eq!(log.iter().filter(|action| *action == "update steal").count(), updates, "{script}: {log:?}");
    }
}

#[test]
fn the_end_waits_for_what_runs_unless_somebody_is_in_a_hurry() {
    let raised = ["alarm", "run", "ALARM", "record and capture"];
    let then = |rest: &[&'static str]| [&raised[..], rest].concat();
    let stop = ["stop recording", "stop command"];
    check(
        ALL,
        &[
            ("nothing runs", "usual ended waited", &["usual", "end: the target has ended", "finish"]),
            (
                "the target ends during an alarm",
                "raise ended waited recorded waited command-done waited",
                &then(&["end: the target has ended", "finish"]),
            ),
            (
                "a signal during an alarm",
                "raise signal waited signal recorded command-done waited",
                &then(&["end: stopped by a signal", stop[0], stop[1], "finish"]),
            ),
            (
                "a signal while the end waits",
                "raise ended waited signal recorded command-done waited",
                &then(&["end: the target has ended", stop[0], stop[1], "finish"]),
            ),
            (
                "a reader that goes away",
                "usual closed waited",
                &["usual", "end: the standard output was closed", stop[0], stop[1], "finish"],
            ),
            ("the first reason counts", "failed ended waited", &["end: the capture has failed", "finish"]),
            ("no window after the end", "ended usual raise", &["end: the target has ended"]),
            ("waiting ends nothing", "usual waited usual", &["usual"]),
        ],
    );
}

#[test]
fn exit_on_alarm_takes_the_rest_of_the_assessment_and_no_window_after() {
    let policy = Policy { exit_on_alarm: true, command: false, ..ALL };
    let raised: &[&str] = &["alarm", "ALARM", "record and capture", "end: an alarm was raised"];
    check(
        policy,
        &[
            ("one window at a time", "raise clear", raised),
            (
                "with later windows in the same assessment",
                "[ raise clear ] usual",
                &["alarm", "ALARM", "record and capture", "usual", "cleared", "end: an alarm was raised"],
            ),
            ("it waits for the recording", "raise waited recorded waited", &[raised, &["finish"]].concat()),
        ],
    );
}

#[test]
fn another_program_ends_the_watch_unless_that_is_accepted() {
    let stale = "(the baseline is stale: build-id of the program: a then, b now)";
    check(
        ALL,
        &[
            ("another kernel is no other program", "usual same-program usual", &["usual"]),
            (
                "another build",
                "usual new-build usual",
                &["usual", stale, "reject", "end: the baseline is of another program"],
            ),
        ],
    );
    check(Policy { stale_ok: true, ..ALL }, &[("accepted", "usual new-build unusual", &["usual", stale, "unusual"])]);
}

#[test]
fn the_program_is_looked_up_once_after_ten_windows() {
    let mut replay = Replay::new(ALL);
    let wants: Vec<bool> = (0..12)
        .map(|at| {
            let wants = replay.state.wants_program();
            replay.step(if at == 10 { "same-program" } else { "usual" });
            wants
        })
        .collect();
    assert_eq!(wants.iter().position(|wants| *wants), Some(9), "{wants:?}");
    assert!(!replay.state.wants_program());
}
