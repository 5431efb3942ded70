//! The main loop of a watch: takes a snapshot when a window ends, and executes what [`crate::watch`] decides. Disk writes
//! and commands run on other threads, so that windows never wait for them.

use super::Msg;
use super::command::{AlarmCommands, CommandRun};
use super::dataset::{DatasetRecorder, NewRows, RowsRequest};
use super::folder::Folder;
use super::lines::Lines;
use super::metrics::Metrics;
use super::recording::{AlarmRecorder, AlarmRecording};
use crate::analysis::attribution::{Alarm, Assessment};
use crate::analysis::baseline::{self, KeyChange};
use crate::cli::args::{OnAlarm, WatchArgs};
use crate::cli::plan::target_name;
use crate::error::{Error, ErrorKind, Result};
use crate::export::watch as bytes;
use crate::model::{Baseline, BaselineKey, Meta, Plan};
use crate::session::{History, LiveSession};
use crate::sys::clock::{self, Clock};
use crate::units::Nanos;
use crate::view::watch::{
    AlarmCleared, AlarmRaised, End, Line, Message, Moment, Start, WallClock, WatchEvent, WindowLine, first_suspect,
};
use crate::watch::{Action, EndReason, Event, Pending, Policy, State, decide};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

/// Interval to poll whether output is still read and whether pending work is done.
const POLL: Duration = Duration::from_millis(200);
/// The exit code of a watch that raised an alarm; the same as for a violated gate.
const ALARMED: u8 = 3;

/// What the user asked for, as far as the loop needs it.
#[derive(Debug)]
pub(super) struct WatchSettings {
    pub policy: Policy,
    pub target: String,
    pub folder: Folder,
    pub on_alarm: Vec<OnAlarm>,
    /// `None` for a watch that only collects.
    pub baseline: Option<Arc<Baseline>>,
}

impl WatchSettings {
    pub fn of(args: &WatchArgs, meta: &Meta, baseline: Option<Arc<Baseline>>) -> WatchSettings {
        let target = &meta.plan.target;
        let keep = usize::try_from(args.keep).unwrap_or(usize::MAX);
        let policy = Policy {
            every: args.every,
            exit_on_alarm: args.exit_on_alarm,
            record: args.on_alarm.contains(&OnAlarm::Record).then_some(args.before),
            command: args.on_alarm.iter().any(|action| matches!(action, OnAlarm::Command(_))),
            stale_ok: args.stale_ok,
        };
        WatchSettings {
            policy,
            target: target.label(),
            folder: Folder::new(args.output.clone(), target_name(target), keep),
            on_alarm: args.on_alarm.clone(),
            baseline,
        }
    }
}

/// The parts of the history that the watch needs.
#[derive(Debug)]
pub(super) struct WatchSnapshot {
    assessment: Option<Assessment>,
    /// Whether the capture is running.
    live: bool,
    now: Nanos,
    lost: u64,
    exit_status: Option<i32>,
    /// The key of the running target, if requested.
    key: Option<BaselineKey>,
    /// The history before an alarm that was just raised.
    history: Option<History>,
    /// Rows of windows of the data set that ended.
    rows: Option<NewRows>,
    /// Whether it was requested as the last one.
    is_last: bool,
}

/// What the watch asks the history for.
#[derive(Debug)]
struct SnapshotQuestion {
    /// End of the last window taken before.
    seen: Nanos,
    wants_key: bool,
    records: bool,
    rows: Option<RowsRequest>,
    is_last: bool,
}

impl WatchSnapshot {
    /// Takes the snapshot, on the live session's thread.
    fn of(history: &History, question: &SnapshotQuestion) -> WatchSnapshot {
        let SnapshotQuestion { seen, wants_key, records, rows, is_last } = question;
        let assessment = history.assessment();
        let windows = assessment.iter().flat_map(|assessment| &assessment.timeline);
        let raised = windows.filter(|result| result.window.to > *seen).any(|result| result.raised);
        WatchSnapshot {
            live: history.is_live(),
            now: history.now(),
            lost: history.lost(),
            exit_status: history.profile().meta.exit_status,
            key: wants_key.then(|| baseline::key_of(history.profile())),
            history: (raised && *records).then(|| history.copy()),
            rows: rows.as_ref().and_then(|rows| rows.answer(history)),
            is_last: *is_last,
            assessment,
        }
    }
}

/// Whether a snapshot was requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SnapshotRequest {
    None,
    Pending,
    /// A window ended in the meantime, so another one follows.
    PendingAgain,
}

/// Where the watch puts what it learns.
#[derive(Debug)]
pub(super) struct Outputs {
    pub metrics: Metrics,
    pub lines: Lines,
    pub dataset: Option<DatasetRecorder>,
}

/// The main loop's state.
#[derive(Debug)]
pub(super) struct WatchLoop {
    settings: WatchSettings,
    state: State,
    /// Session time to wall-clock time, and the session's clock that it is checked by.
    wall_clock: WallClock,
    session_clock: Clock,
    live_session: LiveSession,
    metrics: Metrics,
    lines: Lines,
    sender: Sender<Msg>,
    recorder: Option<AlarmRecorder>,
    commands: Option<AlarmCommands>,
    dataset: Option<DatasetRecorder>,
    request: SnapshotRequest,
    exit_status: Option<i32>,
    finished: bool,
    failure: Option<Error>,
}

impl WatchLoop {
    pub(super) fn new(
        settings: WatchSettings,
        detailed: Plan,
        meta: &Meta,
        live_session: LiveSession,
        outputs: Outputs,
        sender: Sender<Msg>,
    ) -> Result<WatchLoop> {
        let Outputs { metrics, lines, dataset } = outputs;
        let (mut recorder, mut commands) = (None, None);
        for action in &settings.on_alarm {
            match action {
                OnAlarm::Record => {
                    let Some(baseline) = settings.baseline.clone() else { continue };
                    let folder = settings.folder.clone();
                    recorder = Some(AlarmRecorder::start(folder, detailed.clone(), baseline, sender.clone())?);
                }
                OnAlarm::Command(line) => commands = Some(AlarmCommands::start(line.clone(), sender.clone())?),
            }
        }
        Ok(WatchLoop {
            state: State::new(settings.policy),
            settings,
            wall_clock: WallClock { started_unix_ns: meta.started_unix_ns },
            session_clock: Clock::starting_at(meta.started_mono_ns),
            live_session,
            metrics,
            lines,
            sender,
            recorder,
            commands,
            dataset,
            request: SnapshotRequest::None,
            exit_status: None,
            finished: false,
            failure: None,
        })
    }

    /// Watches until the end.
    pub(super) fn run(mut self, start: Start, inbox: &Receiver<Msg>) -> Result<ExitCode> {
        self.lines.write(WatchEvent::Start(Box::new(start)));
        while self.state.end().is_none() {
            match inbox.recv_timeout(POLL) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) if self.live_session.is_running() => {}
                Err(_) => self.react(&Event::CaptureFailed),
            }
            if self.lines.is_closed() {
                self.react(&Event::OutputClosed);
            }
        }
        self.finish(inbox)
    }

    fn take(&mut self, message: Msg) {
        match message {
            Msg::WindowEnded => self.request_snapshot(false),
            Msg::Snapshot(snapshot) => {
                let again = std::mem::replace(&mut self.request, SnapshotRequest::None);
                self.assessed(*snapshot);
                if again == SnapshotRequest::PendingAgain {
                    self.request_snapshot(false);
                }
            }
            Msg::Write(event) => self.lines.write(event),
            Msg::Failed(error) => {
                self.lines.write(WatchEvent::Error(Message::of(&error)));
                // The next snapshot shows whether the capture continues.
                self.request_snapshot(false);
            }
            Msg::Ended(why) => self.react(&Event::Ended(why)),
            Msg::Signal => self.react(&Event::Signal),
        }
    }

    /// Requests a snapshot, one at a time, because each covers everything since the last one.
    fn request_snapshot(&mut self, is_last: bool) {
        if self.request != SnapshotRequest::None {
            self.request = SnapshotRequest::PendingAgain;
            return;
        }
        self.request = SnapshotRequest::Pending;
        let question = SnapshotQuestion {
            seen: self.state.seen(),
            wants_key: self.settings.baseline.is_some() && self.state.wants_program(),
            records: self.recorder.is_some(),
            rows: self.dataset.as_ref().map(|dataset| dataset.request(self.wall_clock, is_last)),
            is_last,
        };
        let sender = self.sender.clone();
        self.live_session.submit(move |history| {
            let snapshot = WatchSnapshot::of(history, &question);
            // The watch is over, and the snapshot is not needed.
            let _ = sender.send(Msg::Snapshot(Box::new(snapshot)));
        });
    }

    fn assessed(&mut self, snapshot: WatchSnapshot) {
        // The wall clock may have been set, or the machine may have slept.
        self.wall_clock = self.wall_clock.anchored(self.session_clock.now(), clock::unix_ns());
        self.exit_status = snapshot.exit_status;
        self.metrics.gauges().lost = snapshot.lost;
        if let Some((dataset, rows)) = self.dataset.as_mut().zip(snapshot.rows) {
            dataset.take(rows);
        }
        if let Some(assessment) = &snapshot.assessment {
            self.metrics.gauges().update(assessment);
            let (now, mut history) = (snapshot.now, snapshot.history);
            let event = Event::Assessed { assessment, now, pending: self.pending() };
            for action in decide(&mut self.state, &event) {
                match action {
                    Action::StartRecording { detailed } => self.record(history.take(), now, detailed),
                    action => self.execute(action, Some(assessment)),
                }
            }
        }
        let key = snapshot.key.filter(|key| key.program.is_some());
        if let Some((key, baseline)) = key.zip(self.settings.baseline.as_ref()) {
            let changes = baseline::key_changes(baseline, &key, clock::unix_ns());
            self.react(&Event::ProgramKnown(changes));
        }
        if !snapshot.live && self.state.end().is_none() {
            self.failure = Some(Error::new(ErrorKind::Io, EndReason::CaptureFailed.to_string()));
            self.react(&Event::CaptureFailed);
        }
    }

    fn react(&mut self, event: &Event<'_>) {
        for action in decide(&mut self.state, event) {
            self.execute(action, None);
        }
    }

    fn pending(&self) -> Pending {
        Pending {
            recording: self.recorder.as_ref().is_some_and(AlarmRecorder::is_busy),
            command: self.commands.as_ref().is_some_and(AlarmCommands::is_busy),
        }
    }

    /// Executes an action; those about windows and alarms come with their assessment.
    fn execute(&mut self, action: Action, assessment: Option<&Assessment>) {
        match (action, assessment) {
            (Action::CountWindow(result), _) => {
                let mut gauges = self.metrics.gauges();
                gauges.count_window(result.state);
                gauges.last_window = Some(self.wall_clock.at(result.window.to));
            }
            (Action::ReportWindow(result), Some(assessment)) => {
                self.lines.write(WatchEvent::Window(WindowLine::of(assessment, result, self.wall_clock)));
            }
            (Action::RunCommand(alarm), Some(assessment)) => self.run_command(assessment, &alarm),
            (Action::RaiseAlarm(alarm), Some(assessment)) => {
                self.metrics.gauges().count_alarm(alarm.cause);
                self.collect(&alarm);
                self.lines.write(self.alarm(assessment, &alarm, false));
            }
            (Action::UpdateAlarm(alarm), Some(assessment)) => {
                self.collect(&alarm);
                self.lines.write(self.alarm(assessment, &alarm, true));
            }
            (Action::ClearAlarm(alarm), _) => {
                self.lines.write(WatchEvent::Cleared(AlarmCleared::of(&alarm, self.wall_clock)));
            }
            (Action::StopRecording, _) => self.recorder.iter().for_each(AlarmRecorder::stop),
            (Action::StopCommand, _) => self.commands.iter().for_each(AlarmCommands::stop),
            (Action::Note(note), _) => self.lines.write(WatchEvent::Note(Message::plain(note.to_string()))),
            (Action::RejectBaseline(changes), _) => {
                if let Some(error) = incompatible(&changes) {
                    self.lines.write(WatchEvent::Error(Message::of(&error)));
                    self.failure = Some(error);
                }
            }
            (Action::Finish, _) => self.finished = true,
            // The loop ends by itself, and a recording starts where the history is.
            (Action::End(_) | Action::StartRecording { .. }, _) => {}
            (
                Action::ReportWindow(_) | Action::RunCommand(_) | Action::RaiseAlarm(_) | Action::UpdateAlarm(_),
                None,
            ) => {}
        }
    }

    fn alarm(&self, assessment: &Assessment, alarm: &Alarm, update: bool) -> WatchEvent {
        WatchEvent::Alarm(Box::new(AlarmRaised::of(assessment, alarm, update, self.wall_clock)))
    }

    /// Puts an alarm into the data set.
    fn collect(&mut self, alarm: &Alarm) {
        let raised = self.wall_clock.at(alarm.raised);
        if let Some(dataset) = &mut self.dataset {
            dataset.alarm(alarm, raised);
        }
    }

    fn record(&self, history: Option<History>, now: Nanos, detailed: bool) {
        let (Some(recorder), Some(history)) = (&self.recorder, history) else { return };
        let (at, history) = (self.wall_clock.at(now), history.started_at(self.wall_clock.started_unix_ns));
        recorder.record(AlarmRecording { history, at, detailed });
    }

    fn run_command(&mut self, assessment: &Assessment, alarm: &Alarm) {
        let Some(commands) = &self.commands else { return };
        let line = Line { time: Moment(clock::unix_ns()), event: self.alarm(assessment, alarm, false) };
        match bytes::json(&line) {
            Ok(alarm_json) => commands.run(CommandRun {
                alarm_json,
                target: self.settings.target.clone(),
                cause: alarm.cause.name(),
                suspect: first_suspect(assessment).unwrap_or_default().to_string(),
            }),
            Err(error) => self.lines.write(WatchEvent::Error(Message::of(&error))),
        }
    }

    /// Waits for running work, unless it is cut short. Writes the last line and returns the exit code.
    fn finish(mut self, inbox: &Receiver<Msg>) -> Result<ExitCode> {
        let reason = self.state.end().map(ToString::to_string).unwrap_or_default();
        self.wait_for_work(inbox);
        self.last_snapshot(inbox);
        let WatchLoop { live_session, mut lines, mut metrics, recorder, commands, dataset, .. } = self;
        let (failure, exit_status, settings) = (self.failure, self.exit_status, self.settings);
        // The live session first: this ends a started command and its sampling.
        let finished = live_session.finish();
        recorder.into_iter().for_each(AlarmRecorder::finish);
        commands.into_iter().for_each(AlarmCommands::finish);
        dataset.into_iter().for_each(DatasetRecorder::finish);
        metrics.finish_pushing();
        while let Ok(message) = inbox.try_recv() {
            if let Msg::Write(event) = message {
                lines.write(event);
            }
        }
        let (windows, alarms, lost) = {
            let gauges = metrics.gauges();
            (gauges.all_windows(), gauges.all_alarms(), gauges.lost)
        };
        lines.write(WatchEvent::End(End { reason, windows, alarms, lost }));
        finished?;
        match failure {
            Some(error) => Err(error),
            None if settings.policy.exit_on_alarm && alarms > 0 => Ok(ExitCode::from(ALARMED)),
            None => Ok(ExitCode::from(u8::try_from(exit_status.unwrap_or(0)).unwrap_or(1))),
        }
    }

    fn wait_for_work(&mut self, inbox: &Receiver<Msg>) {
        loop {
            self.react(&Event::Waited(self.pending()));
            if self.finished {
                return;
            }
            match inbox.recv_timeout(POLL) {
                Ok(Msg::Write(event)) => self.lines.write(event),
                Ok(Msg::Signal) => self.react(&Event::Signal),
                _ => {}
            }
        }
    }

    /// Reads what the capture knows only at its end, above all a command's exit code.
    fn last_snapshot(&mut self, inbox: &Receiver<Msg>) {
        self.request = SnapshotRequest::None;
        self.request_snapshot(true);
        while self.request != SnapshotRequest::None {
            match inbox.recv_timeout(10 * POLL) {
                // One from before still lacks what the last one has, rows included.
                Ok(Msg::Snapshot(snapshot)) if snapshot.is_last => {
                    self.request = SnapshotRequest::None;
                    self.exit_status = snapshot.exit_status;
                    self.metrics.gauges().lost = snapshot.lost;
                    if let Some((dataset, rows)) = self.dataset.as_mut().zip(snapshot.rows) {
                        dataset.take(rows);
                    }
                }
                Ok(Msg::Write(event)) => self.lines.write(event),
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }
}

/// The error for a baseline whose numbers are not comparable.
pub(super) fn incompatible(stale: &[KeyChange]) -> Option<Error> {
    let reasons: Vec<_> = stale.iter().filter(|stale| stale.incompatible).map(|stale| stale.text.as_str()).collect();
    (!reasons.is_empty()).then(|| {
        Error::new(
            ErrorKind::Usage,
            format!("the baseline does not match this target or machine: {}", reasons.join("; ")),
        )
        .hint(
            "Build one of the current program and machine with `ironlaw baseline build`, or accept it with --stale-ok.",
        )
    })
}
