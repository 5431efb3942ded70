//! The main loop of a watch: takes a snapshot when a window ends, prints changes and triggers actions for alarms.
//! Disk writes and commands run on other threads, so that windows never wait for them.

mod leaving;
mod look;
mod setting;

pub(super) use look::WatchSnapshot;
pub(super) use setting::Setting;

use super::command::{self, Commands};
use super::lines::Lines;
use super::metrics::Metrics;
use super::recording::{self, Detail, Recording};
use super::{Msg, point, refusal};
use crate::analysis::attribution::{Alarm, Assessment, State, Step};
use crate::analysis::baseline;
use crate::cli::args::OnAlarm;
use crate::error::{Error, ErrorKind, Result};
use crate::export::watch as bytes;
use crate::model::BaselineKey;
use crate::session::{History, LiveSession};
use crate::sys::clock;
use crate::units::Nanos;
use crate::view::watch::{Line, Moment, Said, Start, What, cleared, first_suspect, gauges, trouble, window};
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

/// Windows after which an ongoing alarm is reported again if more is known about it.
const NEWS_AFTER: u64 = 10;
/// Windows after which the target's program is known for sure.
const PROGRAM_AFTER: u64 = 10;
/// Reason for the end of a capture that failed.
const FAILED: &str = "the capture has failed";
/// Interval to poll whether output is still read and whether pending work is done.
const LOOK: Duration = Duration::from_millis(200);

/// The current alarm, as last reported.
#[derive(Debug, Clone, PartialEq)]
struct ReportedAlarm {
    at_window: u64,
    what: (&'static str, String, Option<String>),
}

/// The main loop's state.
#[derive(Debug)]
pub(super) struct WatchLoop {
    setting: Setting,
    live_session: LiveSession,
    metrics: Metrics,
    lines: Lines,
    sender: Sender<Msg>,
    recording: Option<Recording>,
    commands: Option<Commands>,
    /// Whether a snapshot is pending, and whether there was a notification in the meantime.
    looking: bool,
    again: bool,
    /// End of the last reported window.
    seen: Nanos,
    state: State,
    told: Option<ReportedAlarm>,
    program_known: bool,
    exit_status: Option<i32>,
    ending: Option<String>,
    /// Whether to cut pending work short.
    hurry: bool,
    failure: Option<Error>,
}

impl WatchLoop {
    pub(super) fn new(
        setting: Setting,
        detail: Detail,
        live_session: LiveSession,
        metrics: Metrics,
        lines: Lines,
        sender: Sender<Msg>,
    ) -> Result<WatchLoop> {
        let (mut recording, mut commands) = (None, None);
        for action in &setting.on_alarm {
            match action {
                OnAlarm::Record => {
                    let (folder, of, before) = (setting.folder.clone(), setting.baseline.clone(), setting.before);
                    recording = Some(Recording::start(folder, detail.clone(), of, before, sender.clone())?);
                }
                OnAlarm::Command(line) => commands = Some(Commands::start(line.clone(), sender.clone())?),
            }
        }
        let (seen, state) = (Nanos(0), State::Waiting);
        Ok(WatchLoop {
            setting,
            live_session,
            metrics,
            lines,
            sender,
            recording,
            commands,
            looking: false,
            again: false,
            seen,
            state,
            told: None,
            program_known: false,
            exit_status: None,
            ending: None,
            hurry: false,
            failure: None,
        })
    }

    /// Watches until the end.
    pub(super) fn run(mut self, start: Start, inbox: &Receiver<Msg>) -> Result<ExitCode> {
        self.lines.tell(What::Start(Box::new(start)));
        while self.ending.is_none() {
            match inbox.recv_timeout(LOOK) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) if self.live_session.is_running() => {}
                Err(_) => self.end(FAILED),
            }
            if self.lines.is_closed() {
                self.end("nobody reads any more");
            }
        }
        self.leave(inbox)
    }

    fn take(&mut self, message: Msg) {
        match message {
            Msg::Fresh => self.look(),
            Msg::Looked(look) => {
                self.looking = false;
                self.looked(*look);
                if std::mem::take(&mut self.again) {
                    self.look();
                }
            }
            Msg::Tell(what) => self.lines.tell(what),
            Msg::Failed(error) => {
                self.lines.tell(What::Error(Said::of(&error)));
                // The next snapshot shows whether the capture continues.
                self.look();
            }
            Msg::Ended(why) => self.end(why),
            Msg::Stop => {
                self.hurry = true;
                self.end("stopped by a signal");
            }
        }
    }

    fn end(&mut self, why: impl Into<String>) {
        self.ending.get_or_insert_with(|| why.into());
    }

    /// Requests a snapshot, one at a time, because each covers everything since the last one.
    fn look(&mut self) {
        if std::mem::replace(&mut self.looking, true) {
            self.again = true;
            return;
        }
        let (sender, seen, records) = (self.sender.clone(), self.seen, self.recording.is_some());
        let wants_key = !self.program_known && self.windows() + 1 >= PROGRAM_AFTER;
        self.live_session.look(move |held| {
            let look = WatchSnapshot::at(held, seen, wants_key, records);
            // The watch is over, and the snapshot is not needed.
            let _ = sender.send(Msg::Looked(Box::new(look)));
        });
    }

    fn windows(&self) -> u64 {
        self.metrics.gauges().all_windows()
    }

    fn looked(&mut self, look: WatchSnapshot) {
        self.setting.follow_clock();
        self.exit_status = look.exit_status;
        self.known(look.key);
        if !look.live && self.ending.is_none() {
            self.failure = Some(Error::new(ErrorKind::Io, FAILED));
            self.end(FAILED);
        }
        let Some(assessment) = look.assessment else { return };
        {
            let mut all = self.metrics.gauges();
            gauges(&mut all, &assessment);
            all.lost = look.lost;
        }
        let mut held = look.held;
        let steps: Vec<&Step> = assessment.steps.iter().filter(|step| step.window.to > self.seen).collect();
        for step in steps {
            self.step(&assessment, step);
            if step.cleared {
                self.clear(&assessment);
            }
            if step.raised
                && let Some(alarm) = assessment.alarms.last()
            {
                self.raise(&assessment, alarm, held.take(), look.now);
            }
        }
        self.go_on(&assessment);
    }

    fn step(&mut self, assessment: &Assessment, step: &Step) {
        self.seen = step.window.to;
        let count = {
            let mut gauges = self.metrics.gauges();
            gauges.count_window(step.state);
            gauges.last_window = Some(self.setting.clock.at(step.window.to));
            gauges.all_windows()
        };
        let changed = std::mem::replace(&mut self.state, step.state) != step.state;
        if changed || self.setting.every.is_some_and(|every| count.is_multiple_of(every)) {
            self.lines.tell(What::Window(window(assessment, step, self.setting.clock)));
        }
    }

    fn raise(&mut self, assessment: &Assessment, alarm: &Alarm, held: Option<History>, now: Nanos) {
        self.metrics.gauges().count_alarm(alarm.cause);
        self.told = Some(self.as_told(alarm));
        let what = What::Alarm(Box::new(trouble(assessment, alarm, false, self.setting.clock)));
        let line = Line { time: Moment(clock::unix_ns()), what };
        self.command(assessment, alarm, &line);
        self.lines.tell(line.what);
        self.record(held, now);
        if self.setting.exit_on_alarm {
            self.end("an alarm was raised");
        }
    }

    fn record(&mut self, held: Option<History>, now: Nanos) {
        let (Some(recording), Some(held)) = (&mut self.recording, held) else { return };
        match recording.may(now) {
            Ok(detailed) => {
                let at = self.setting.clock.at(now);
                let held = held.started_at(self.setting.clock.started_unix_ns);
                recording.record(recording::Order { held, at, detailed }, now);
                if !detailed {
                    let text = "no detailed capture: the last one began less than five minutes ago";
                    self.lines.tell(What::Note(Said::plain(text)));
                }
            }
            Err(why) => self.lines.tell(What::Note(Said::plain(why))),
        }
    }

    fn command(&mut self, assessment: &Assessment, alarm: &Alarm, line: &Line) {
        let Some(commands) = &self.commands else { return };
        let suspect = first_suspect(assessment).unwrap_or_default().to_string();
        let order = bytes::json(line).map(|alarm_json| command::Order {
            alarm: alarm_json,
            target: self.setting.target.clone(),
            cause: alarm.cause.name(),
            suspect,
        });
        match order.map(|order| commands.run(order)) {
            Ok(true) => {}
            Ok(false) => {
                let text = "the command was not run: it still runs for an earlier alarm";
                self.lines.tell(What::Note(Said::plain(text)));
            }
            Err(error) => self.lines.tell(What::Error(Said::of(&error))),
        }
    }

    fn clear(&mut self, assessment: &Assessment) {
        self.told = None;
        if let Some(alarm) = assessment.alarms.iter().rev().find(|alarm| !alarm.on) {
            self.lines.tell(What::Cleared(cleared(alarm, self.setting.clock)));
        }
    }

    /// Reports an ongoing alarm again if what is known about it has changed.
    fn go_on(&mut self, assessment: &Assessment) {
        let Some(alarm) = assessment.alarms.last().filter(|alarm| alarm.on) else { return };
        let now = self.as_told(alarm);
        let due = |told: &ReportedAlarm| now.at_window >= told.at_window + NEWS_AFTER && now.what != told.what;
        if self.told.as_ref().is_none_or(due) {
            self.lines.tell(What::Alarm(Box::new(trouble(assessment, alarm, true, self.setting.clock))));
            self.told = Some(now);
        }
    }

    fn as_told(&self, alarm: &Alarm) -> ReportedAlarm {
        let confidence = format!("{:?}", alarm.confidence);
        ReportedAlarm { at_window: self.windows(), what: (alarm.cause.name(), confidence, alarm.suspect.clone()) }
    }

    /// Checks the program once it is known: a baseline of another program is rejected even then.
    fn known(&mut self, key: Option<BaselineKey>) {
        let Some(key) = key.filter(|key| key.program.is_some()) else { return };
        self.program_known = true;
        let stale = baseline::stale(&self.setting.baseline, &key, clock::unix_ns());
        let of_program: Vec<_> = stale.into_iter().filter(|stale| stale.what.contains("program")).collect();
        for stale in &of_program {
            let text = format!("the baseline is stale: {}", point(stale).text);
            self.lines.tell(What::Note(Said::plain(text)));
        }
        if let Some(error) = refusal(&of_program).filter(|_| !self.setting.stale_ok) {
            self.lines.tell(What::Error(Said::of(&error)));
            self.failure = Some(error);
            self.end("the baseline is of another program");
        }
    }
}
