//! What a watch reacts to, and what it can do.

use crate::analysis::attribution::{Alarm, Assessment, UnusualPeriod, WindowResult};
use crate::analysis::baseline::KeyChange;
use crate::units::Nanos;
use std::fmt;

/// Work that runs beside the watch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pending {
    /// An alarm is being recorded.
    pub recording: bool,
    /// The alarm command runs.
    pub command: bool,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event<'a> {
    /// Windows were assessed; an assessment contains those of before as well.
    Assessed {
        /// The assessment.
        assessment: &'a Assessment,
        /// Session time.
        now: Nanos,
        /// Running work.
        pending: Pending,
    },
    /// The target's program is known, with what has changed since the baseline was built.
    ProgramKnown(Vec<KeyChange>),
    /// The session ended: its target has, or its time is over.
    Ended(String),
    /// The capture failed.
    CaptureFailed,
    /// A signal asks to end.
    Signal,
    /// Nobody reads the output any more.
    OutputClosed,
    /// Time passed while the watch ends.
    Waited(Pending),
}

/// What the watch does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Count a window.
    CountWindow(WindowResult),
    /// Write an event: a window.
    ReportWindow(WindowResult),
    /// Run the alarm command.
    RunCommand(Alarm),
    /// Count an alarm and write it.
    RaiseAlarm(Alarm),
    /// Write an alarm again, because more is known about it.
    UpdateAlarm(Alarm),
    /// Write the end of an alarm.
    ClearAlarm(Alarm),
    /// Save the time before the alarm; with `detailed`, start a detailed capture too.
    StartRecording {
        /// Whether a detailed capture follows.
        detailed: bool,
    },
    /// Cut a recording short.
    StopRecording,
    /// Terminate the alarm command.
    StopCommand,
    /// Write a note.
    Note(Note),
    /// Report that the baseline is of another program, and fail.
    RejectBaseline(Vec<KeyChange>),
    /// Begin to end: no further window is assessed, and running work is waited for.
    End(EndReason),
    /// Write the last line and exit.
    Finish,
}

/// Why something was skipped, or what is worth knowing.
#[derive(Debug, Clone, PartialEq)]
pub enum Note {
    /// The alarm command still runs.
    CommandBusy,
    /// The alarm before is still being recorded.
    RecordingBusy,
    /// The last recording ended too recently: the two would overlap.
    RecordedRecently {
        /// Time since then.
        since: Nanos,
        /// The recorded time before an alarm.
        before: Nanos,
    },
    /// There was a detailed capture recently.
    CapturedRecently,
    /// The baseline is stale in this point.
    Stale(String),
    /// Windows have been unusual for long without an alarm.
    Unusual {
        /// Since when, and why they are no alarm.
        period: UnusualPeriod,
        /// The quantity that is most unusual, with its usual value.
        what: Option<String>,
        /// The neighbour that fits best; correlated, not proven.
        suspect: Option<String>,
    },
}

/// Why a watch ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EndReason {
    /// The session ended, and why.
    Ended(String),
    /// An alarm was raised, and the watch ends at the first one.
    AlarmRaised,
    /// A signal.
    Signal,
    /// Nobody reads the output.
    OutputClosed,
    /// The capture failed.
    CaptureFailed,
    /// The baseline is of another program.
    OtherProgram,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::CommandBusy => write!(f, "the command was not run: it still runs for an earlier alarm"),
            Note::RecordingBusy => write!(f, "the alarm was not recorded: an earlier one is still being recorded"),
            Note::RecordedRecently { since, before } => write!(
                f,
                "the alarm was not recorded: the last recording ended {:.1} s ago, less than --before ({} s)",
                since.seconds(),
                before.seconds()
            ),
            Note::CapturedRecently => {
                write!(f, "no detailed capture: the last one began less than five minutes ago")
            }
            Note::Stale(text) => write!(f, "the baseline is stale: {text}"),
            Note::Unusual { period, what, suspect } => {
                let (seconds, reason) = (period.window.span().seconds(), period.no_alarm.reason());
                write!(f, "unusual for {seconds:.0} s, not an alarm because {reason}")?;
                what.iter().try_for_each(|what| write!(f, "; {what}"))?;
                suspect.iter().try_for_each(|name| write!(f, "; suspect (correlated, not proven): {name}"))
            }
        }
    }
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EndReason::Ended(why) => why,
            EndReason::AlarmRaised => "an alarm was raised",
            EndReason::Signal => "stopped by a signal",
            EndReason::OutputClosed => "the standard output was closed",
            EndReason::CaptureFailed => "the capture has failed",
            EndReason::OtherProgram => "the baseline is of another program",
        })
    }
}
