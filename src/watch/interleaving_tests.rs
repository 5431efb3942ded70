//! What holds of a watch whatever comes in whatever order: it counts each window once, ends once, and never starts twice what
//! still runs.

use super::actions::Note;
use super::tests::usual_assessment;
use super::{Action, EndReason, Event, Pending, Policy, State, decide};
use crate::analysis::Window;
use crate::analysis::attribution::{Alarm, Assessment, Cause, WindowResult, WindowState};
use crate::analysis::baseline::KeyChange;
use crate::analysis::finding::Confidence;
use crate::units::Nanos;
use proptest::prelude::*;

const SECOND: u64 = 1_000_000_000;
const CAPTURE_PAUSE_SECONDS: u64 = 300;

/// One thing that happens, or that work which runs beside the watch does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// A window so many seconds after the last.
    Window {
        after: u64,
        state: WindowState,
        raised: bool,
        cleared: bool,
    },
    /// Windows that were kept back are assessed together.
    Assess,
    RecordingDone,
    CommandDone,
    Program {
        other: bool,
        incompatible: bool,
    },
    Ended,
    CaptureFailed,
    Signal,
    OutputClosed,
    Waited,
}

fn step() -> impl Strategy<Value = Step> {
    let states =
        prop::sample::select(vec![WindowState::Idle, WindowState::Usual, WindowState::Unusual, WindowState::Alarm]);
    let window =
        (prop_oneof![8 => 1u64..3, 1 => 50u64..400], states, prop::bool::weighted(0.3), prop::bool::weighted(0.2))
            .prop_map(|(after, state, raised, cleared)| Step::Window { after, state, raised, cleared });
    prop_oneof![
        24 => window,
        4 => Just(Step::Assess),
        4 => Just(Step::RecordingDone),
        4 => Just(Step::CommandDone),
        1 => (any::<bool>(), any::<bool>()).prop_map(|(other, incompatible)| Step::Program { other, incompatible }),
        1 => prop::sample::select(vec![Step::Ended, Step::CaptureFailed, Step::Signal, Step::OutputClosed]),
        3 => Just(Step::Waited),
    ]
}

fn policy() -> impl Strategy<Value = Policy> {
    (prop::option::of(1u64..4), any::<bool>(), prop::option::of(1u64..120), any::<bool>(), any::<bool>()).prop_map(
        |(every, exit_on_alarm, record, command, stale_ok)| Policy {
            every,
            exit_on_alarm,
            record: record.map(|seconds| Nanos(seconds * SECOND)),
            command,
            stale_ok,
        },
    )
}

/// A watch, and the session around it as its actions change it.
struct Session {
    policy: Policy,
    state: State,
    assessment: Assessment,
    now: u64,
    pending: Pending,
    given: u64,
    raised: u64,
    recorded: Vec<(u64, bool)>,
    actions: Vec<Action>,
}

impl Session {
    fn new(policy: Policy) -> Session {
        Session {
            policy,
            state: State::new(policy),
            assessment: usual_assessment(),
            now: 0,
            pending: Pending::default(),
            given: 0,
            raised: 0,
            recorded: Vec::new(),
            actions: Vec::new(),
        }
    }

    fn step(&mut self, step: Step, assess: bool) {
        match step {
            Step::Window { after, state, raised, cleared } => {
                self.window(after, state, raised, cleared);
                if assess {
                    self.assess();
                }
            }
            Step::Assess => self.assess(),
            Step::RecordingDone => self.pending.recording = false,
            Step::CommandDone => self.pending.command = false,
            Step::Program { other, incompatible } => {
                let what = if other { "program" } else { "kernel" };
                let change = KeyChange {
                    what,
                    text: "another".to_string(),
                    then: String::new(),
                    now: String::new(),
                    incompatible,
                };
                self.event(&Event::ProgramKnown(vec![change]));
            }
            Step::Ended => self.event(&Event::Ended("the target has ended".to_string())),
            Step::CaptureFailed => self.event(&Event::CaptureFailed),
            Step::Signal => self.event(&Event::Signal),
            Step::OutputClosed => self.event(&Event::OutputClosed),
            Step::Waited => self.event(&Event::Waited(self.pending)),
        }
    }

    fn window(&mut self, after: u64, state: WindowState, raised: bool, cleared: bool) {
        let window = Window { from: Nanos(self.now * SECOND), to: Nanos((self.now + after) * SECOND) };
        self.now += after;
        let is_on = self.assessment.alarms.last().is_some_and(|alarm| alarm.active);
        let (raised, cleared) = (raised && !is_on, cleared && is_on);
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
        self.given += 1;
        self.raised += u64::from(raised);
        self.assessment.timeline.push(WindowResult {
            window,
            state,
            load: None,
            ratio: None,
            latency_p99: None,
            raised,
            cleared,
        });
    }

    fn assess(&mut self) {
        let assessment = self.assessment.clone();
        self.event(&Event::Assessed { assessment: &assessment, now: Nanos(self.now * SECOND), pending: self.pending });
    }

    /// Decides, checks what each action may rely on, and lets it take effect.
    fn event(&mut self, event: &Event<'_>) {
        let had_ended = self.state.end().is_some();
        for action in decide(&mut self.state, event) {
            match &action {
                Action::StartRecording { detailed } => {
                    assert!(!self.pending.recording, "a recording while another runs");
                    let before = self.policy.record.expect("records only if asked to").0 / SECOND;
                    let last = self.recorded.last().map(|(at, _)| *at);
                    assert!(last.is_none_or(|last| self.now - last >= before), "two recordings overlap");
                    let captured = self.recorded.iter().rev().find(|(_, detailed)| *detailed).map(|(at, _)| *at);
                    let paused = captured.is_none_or(|at| self.now - at >= CAPTURE_PAUSE_SECONDS);
                    assert_eq!(*detailed, paused, "a detailed capture whenever the last is long ago, and only then");
                    self.recorded.push((self.now, *detailed));
                    self.pending.recording = true;
                }
                Action::RunCommand(_) => {
                    assert!(self.policy.command && !self.pending.command, "a command while another runs");
                    self.pending.command = true;
                }
                Action::StopRecording => self.pending.recording = false,
                Action::StopCommand => self.pending.command = false,
                Action::Finish => assert_eq!(self.pending, Pending::default(), "it finishes while something runs"),
                _ => {}
            }
            let allowed = matches!(action, Action::Finish | Action::StopRecording | Action::StopCommand);
            assert!(!had_ended || allowed, "{action:?} after the end");
            self.actions.push(action);
        }
    }

    fn count(&self, wanted: impl Fn(&Action) -> bool) -> usize {
        self.actions.iter().filter(|action| wanted(action)).count()
    }
}

fn replay(policy: Policy, steps: &[Step]) -> Session {
    let mut session = Session::new(policy);
    steps.iter().for_each(|step| session.step(*step, true));
    session
}

/// The ends of the windows that were counted, in order.
fn counted(session: &Session) -> Vec<Nanos> {
    let ends = session.actions.iter().filter_map(|action| match action {
        Action::CountWindow(result) => Some(result.window.to),
        _ => None,
    });
    ends.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_window_counts_once_and_none_after_the_end(policy in policy(), steps in prop::collection::vec(step(), 0..60)) {
        let session = replay(policy, &steps);
        let ends = counted(&session);
        prop_assert!(ends.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", ends);
        prop_assert!(ends.len() as u64 <= session.given);
        if session.state.end().is_none() {
            prop_assert_eq!(ends.len() as u64, session.given);
            prop_assert_eq!(session.count(|action| matches!(action, Action::RaiseAlarm(_))) as u64, session.raised);
        }
        if policy.every == Some(1) {
            prop_assert_eq!(session.count(|action| matches!(action, Action::ReportWindow(_))), ends.len());
        }
    }

    #[test]
    fn it_ends_once_and_the_reason_is_the_first(policy in policy(), steps in prop::collection::vec(step(), 0..60)) {
        let session = replay(policy, &steps);
        let reasons: Vec<&EndReason> = session.actions.iter().filter_map(|action| match action {
            Action::End(reason) => Some(reason),
            _ => None,
        }).collect();
        prop_assert!(reasons.len() <= 1, "{:?}", reasons);
        prop_assert_eq!(reasons.first().copied(), session.state.end());
        prop_assert!(session.count(|action| matches!(action, Action::StopRecording)) <= 1);
        prop_assert!(session.count(|action| matches!(action, Action::StopCommand)) <= 1);
        if policy.exit_on_alarm && session.count(|action| matches!(action, Action::RaiseAlarm(_))) > 0 {
            prop_assert!(session.state.end().is_some(), "it goes on after its first alarm");
        }
    }

    #[test]
    fn once_it_has_ended_and_nothing_runs_it_finishes(policy in policy(), steps in prop::collection::vec(step(), 0..40)) {
        let mut session = replay(policy, &steps);
        for last in [Step::Signal, Step::RecordingDone, Step::CommandDone, Step::Waited] {
            session.step(last, true);
        }
        prop_assert!(session.state.end().is_some());
        prop_assert_eq!(session.actions.last(), Some(&Action::Finish));
    }

    #[test]
    fn an_alarm_runs_its_command_or_says_why_not(policy in policy(), steps in prop::collection::vec(step(), 0..60)) {
        let session = replay(policy, &steps);
        let raised = session.count(|action| matches!(action, Action::RaiseAlarm(_)));
        let busy = |action: &Action| matches!(action, Action::Note(Note::CommandBusy));
        let ran = session.count(|action| matches!(action, Action::RunCommand(_))) + session.count(busy);
        prop_assert_eq!(ran, if policy.command { raised } else { 0 });
        let kept = session.count(|action| {
            matches!(action, Action::StartRecording { .. } | Action::Note(Note::RecordingBusy | Note::RecordedRecently { .. }))
        });
        prop_assert_eq!(kept, if policy.record.is_some() { raised } else { 0 });
    }

    #[test]
    fn windows_that_come_together_count_as_those_that_come_alone(
        every in prop::option::of(1u64..4),
        steps in prop::collection::vec(step().prop_filter("windows only", |step| matches!(step, Step::Window { .. })), 0..30),
        cuts in prop::collection::vec(any::<bool>(), 30),
    ) {
        let policy = Policy { every, ..Policy::default() };
        let alone = replay(policy, &steps);
        let mut together = Session::new(policy);
        for (step, cut) in steps.iter().zip(cuts) {
            together.step(*step, cut);
        }
        together.assess();
        prop_assert_eq!(counted(&alone), counted(&together));
        let reported = |action: &Action| matches!(action, Action::ReportWindow(_));
        prop_assert_eq!(alone.count(reported), together.count(reported));
    }

    #[test]
    fn the_same_events_lead_to_the_same_actions(policy in policy(), steps in prop::collection::vec(step(), 0..40)) {
        prop_assert_eq!(replay(policy, &steps).actions, replay(policy, &steps).actions);
    }
}
