//! The decisions of a watch. Each depends on the events so far only, so a test can replay any order of them.

use super::actions::{Action, EndReason, Event, Note, Pending};
use crate::analysis::attribution::{Alarm, Assessment, Cause, QuantityDeviation, Suspect, WindowState};
use crate::analysis::baseline::KeyChange;
use crate::analysis::finding::Confidence;
use crate::units::Nanos;

/// Windows after which an ongoing alarm is reported again if more is known about it, and unusual ones for the first time.
const UPDATE_AFTER: u64 = 10;
/// Windows after which the target's program is known.
const PROGRAM_AFTER: u64 = 10;
/// Minimum time between two detailed captures.
const CAPTURE_PAUSE: Nanos = Nanos(300_000_000_000);

/// What the user asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Policy {
    /// Report every N-th window; without it only those in which the state changes.
    pub every: Option<u64>,
    /// End at the first alarm.
    pub exit_on_alarm: bool,
    /// Record alarms, with this much time before each.
    pub record: Option<Nanos>,
    /// Run a command for alarms.
    pub command: bool,
    /// Accept a baseline of another program.
    pub stale_ok: bool,
}

/// What a watch remembers.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    policy: Policy,
    /// End of the last window taken.
    seen: Nanos,
    windows: u64,
    window_state: WindowState,
    /// The alarm that is on, as last reported, and the number of windows then.
    reported: Option<(ReportedAlarm, u64)>,
    /// The start of the unusual windows that were reported last.
    unusual: Option<Nanos>,
    program_known: bool,
    last_recording: Option<Nanos>,
    last_capture: Option<Nanos>,
    end: Option<EndReason>,
    /// Whether running work is cut short.
    hurry: bool,
}

/// The parts of an alarm that are worth another report when they change.
type ReportedAlarm = (Cause, Confidence, Option<String>);

impl State {
    /// Before the first window.
    #[must_use]
    pub fn new(policy: Policy) -> State {
        State {
            policy,
            seen: Nanos(0),
            windows: 0,
            window_state: WindowState::Waiting,
            reported: None,
            unusual: None,
            program_known: false,
            last_recording: None,
            last_capture: None,
            end: None,
            hurry: false,
        }
    }

    /// End of the last window taken.
    #[must_use]
    pub fn seen(&self) -> Nanos {
        self.seen
    }

    /// Why the watch ends; `None` while it goes on.
    #[must_use]
    pub fn end(&self) -> Option<&EndReason> {
        self.end.as_ref()
    }

    /// Whether the target's program should be looked up for [`Event::ProgramKnown`].
    #[must_use]
    pub fn wants_program(&self) -> bool {
        !self.program_known && self.windows + 1 >= PROGRAM_AFTER
    }
}

/// The actions for an event, in order. A watch that ends takes no further windows.
pub fn decide(state: &mut State, event: &Event<'_>) -> Vec<Action> {
    let mut actions = Vec::new();
    match event {
        Event::Assessed { assessment, now, pending } if state.end.is_none() => {
            assessed(state, assessment, *now, *pending, &mut actions);
        }
        Event::ProgramKnown(changes) if state.end.is_none() => program_known(state, changes, &mut actions),
        Event::Assessed { .. } | Event::ProgramKnown(_) => {}
        Event::Ended(why) => end(state, EndReason::Ended(why.clone()), &mut actions),
        Event::CaptureFailed => end(state, EndReason::CaptureFailed, &mut actions),
        Event::Signal => hurry(state, EndReason::Signal, &mut actions),
        Event::OutputClosed => hurry(state, EndReason::OutputClosed, &mut actions),
        Event::Waited(pending) if state.end.is_some() && *pending == Pending::default() => actions.push(Action::Finish),
        Event::Waited(_) => {}
    }
    actions
}

fn end(state: &mut State, reason: EndReason, actions: &mut Vec<Action>) {
    if state.end.is_none() {
        state.end = Some(reason.clone());
        actions.push(Action::End(reason));
    }
}

/// Ends without waiting for running work.
fn hurry(state: &mut State, reason: EndReason, actions: &mut Vec<Action>) {
    end(state, reason, actions);
    if !std::mem::replace(&mut state.hurry, true) {
        actions.extend([Action::StopRecording, Action::StopCommand]);
    }
}

fn assessed(state: &mut State, assessment: &Assessment, now: Nanos, mut pending: Pending, actions: &mut Vec<Action>) {
    let mut ends = false;
    for result in &assessment.timeline {
        if result.window.to <= state.seen {
            continue;
        }
        state.seen = result.window.to;
        state.windows += 1;
        actions.push(Action::CountWindow(*result));
        let changed = std::mem::replace(&mut state.window_state, result.state) != result.state;
        if changed || state.policy.every.is_some_and(|every| state.windows.is_multiple_of(every)) {
            actions.push(Action::ReportWindow(*result));
        }
        if result.cleared {
            state.reported = None;
            let over = assessment.alarms.iter().rev().find(|alarm| !alarm.active);
            actions.extend(over.cloned().map(Action::ClearAlarm));
        }
        if let Some(alarm) = assessment.alarms.last().filter(|_| result.raised) {
            raise(state, alarm, now, &mut pending, actions);
            ends |= state.policy.exit_on_alarm;
        }
    }
    update(state, assessment, actions);
    note_unusual(state, assessment, actions);
    if ends {
        end(state, EndReason::AlarmRaised, actions);
    }
}

fn raise(state: &mut State, alarm: &Alarm, now: Nanos, pending: &mut Pending, actions: &mut Vec<Action>) {
    state.reported = Some((reported(alarm), state.windows));
    if state.policy.command {
        let busy = std::mem::replace(&mut pending.command, true);
        actions.push(if busy { Action::Note(Note::CommandBusy) } else { Action::RunCommand(alarm.clone()) });
    }
    actions.push(Action::RaiseAlarm(alarm.clone()));
    if let Some(before) = state.policy.record {
        record(state, before, now, pending, actions);
    }
}

fn record(state: &mut State, before: Nanos, now: Nanos, pending: &mut Pending, actions: &mut Vec<Action>) {
    if std::mem::replace(&mut pending.recording, true) {
        return actions.push(Action::Note(Note::RecordingBusy));
    }
    if let Some(since) = state.last_recording.map(|last| now - last).filter(|since| *since < before) {
        pending.recording = false;
        return actions.push(Action::Note(Note::RecordedRecently { since, before }));
    }
    let detailed = state.last_capture.is_none_or(|last| now - last >= CAPTURE_PAUSE);
    state.last_recording = Some(now);
    actions.push(Action::StartRecording { detailed });
    if detailed {
        state.last_capture = Some(now);
    } else {
        actions.push(Action::Note(Note::CapturedRecently));
    }
}

/// Reports an ongoing alarm again if what is known about it has changed.
fn update(state: &mut State, assessment: &Assessment, actions: &mut Vec<Action>) {
    let Some(alarm) = assessment.alarms.last().filter(|alarm| alarm.active) else { return };
    let now = reported(alarm);
    let due = |(then, at): &(ReportedAlarm, u64)| state.windows >= at + UPDATE_AFTER && now != *then;
    if state.reported.as_ref().is_none_or(due) {
        state.reported = Some((now, state.windows));
        actions.push(Action::UpdateAlarm(alarm.clone()));
    }
}

/// Reports unusual windows that raise no alarm, once for each time.
fn note_unusual(state: &mut State, assessment: &Assessment, actions: &mut Vec<Action>) {
    let diagnosis = &assessment.diagnosis;
    let Some(period) = diagnosis.unusual.filter(|period| u64::from(period.windows) >= UPDATE_AFTER) else { return };
    if state.unusual.replace(period.window.from) != Some(period.window.from) {
        let what = diagnosis.most_unusual().map(QuantityDeviation::against_usual);
        let suspect = diagnosis.suspects.first().map(Suspect::title);
        actions.push(Action::Note(Note::Unusual { period, what, suspect }));
    }
}

fn reported(alarm: &Alarm) -> ReportedAlarm {
    (alarm.cause, alarm.confidence, alarm.suspect.clone())
}

/// A baseline of another program is rejected even while the watch runs.
fn program_known(state: &mut State, changes: &[KeyChange], actions: &mut Vec<Action>) {
    state.program_known = true;
    let of_program: Vec<KeyChange> = changes.iter().filter(|change| change.what.contains("program")).cloned().collect();
    actions.extend(of_program.iter().map(|change| Action::Note(Note::Stale(change.text.clone()))));
    if of_program.iter().any(|change| change.incompatible) && !state.policy.stale_ok {
        actions.push(Action::RejectBaseline(of_program));
        end(state, EndReason::OtherProgram, actions);
    }
}
