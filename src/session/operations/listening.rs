//! The thread that forwards a command's output, immediately and unchanged, and scans it for numbers.

use super::outlet::{CountOnceMore, LastCount, Outlet, Point, gap};
use crate::error::Result;
use crate::model::{Note, NumberKind, OpsSpec, Plan, Target};
use crate::ops::{Matcher, OutputLatencies, Stream};
use crate::sys::clock::Clock;
use crate::sys::tee::{CommandOutput, OutputStreams};
use crate::units::{Nanos, Ops};
use std::io::ErrorKind;
use std::sync::mpsc::{Receiver, TryRecvError};

/// Maximum wait for more output before orders are polled.
const TIMEOUT: Nanos = Nanos(50_000_000);
/// Minimum age of a total before it is sent: by then it is known whether it was printed before the command ended.
const HOLD: Nanos = Nanos(200_000_000);

/// Maximum pieces of output in the pipes after the command's end. A pipe holds at most a megabyte, unless root enlarged
/// it.
const MOST_LEFT: usize = 64;

/// A command's unread output.
#[derive(Debug)]
pub(in crate::session) struct Listening {
    /// Counts operations, if the output does.
    matcher: Option<Matcher>,
    /// Reads how long they took, if the output says.
    latencies: Option<OutputLatencies>,
    command_output: CommandOutput,
    passed_on: OutputStreams,
    clock: Clock,
    failure: Option<String>,
}

impl Listening {
    /// Reads what the plan asks of the output of its command.
    pub(super) fn open(plan: &Plan, command_output: CommandOutput, clock: Clock) -> Result<Listening> {
        let matcher = match &plan.ops {
            Some(OpsSpec::Output { pattern, reads }) if matches!(plan.target, Target::Command { .. }) => {
                Some(Matcher::new(pattern, *reads)?)
            }
            _ => None,
        };
        let (latencies, passed_on) = (OutputLatencies::of(plan)?, OutputStreams::open()?);
        Ok(Listening { matcher, latencies, command_output, passed_on, clock, failure: None })
    }

    pub(super) fn clock(&self) -> Clock {
        self.clock
    }

    /// Forwards output until it ends, or until the session ends and the pipes are empty.
    pub(super) fn run(mut self, interval: Nanos, mut outlet: Outlet, mailbox: &Receiver<CountOnceMore>) -> LastCount {
        let (mut live, mut next, mut held) = (true, self.clock.now() + interval, None);
        let mut next_latencies = next;
        loop {
            self.pass(TIMEOUT);
            match mailbox.try_recv() {
                Ok(CountOnceMore) => live = false,
                Err(TryRecvError::Disconnected) => break,
                Err(TryRecvError::Empty) => {}
            }
            let now = self.clock.now();
            if live && now >= next {
                held = held.or(self.latest().filter(|point| Some(*point) != outlet.sent));
                if let Some(point) = held.filter(|(at, _)| *at + HOLD <= now) {
                    send(&mut outlet, point);
                    (held, next) = (None, now + interval);
                }
            }
            if live && now >= next_latencies {
                outlet.send_latencies(self.latencies.as_mut().map(|it| it.rows(now)).unwrap_or_default());
                next_latencies = now + interval;
            }
        }
        // The command has ended, and its last output is in the pipes. Processes it left behind may print forever.
        for _ in 0..MOST_LEFT {
            if !self.pass(Nanos(0)) {
                break;
            }
        }
        self.last(outlet)
    }

    /// Time of the last number of operations, and the total with it.
    fn latest(&self) -> Option<Point> {
        self.matcher.as_ref().and_then(Matcher::latest)
    }

    /// Forwards the output that arrives within `patience`; true if there was any.
    fn pass(&mut self, patience: Nanos) -> bool {
        let Listening { matcher, latencies, command_output, passed_on, clock, failure } = self;
        let mut gone = None;
        let any = command_output.read(patience, &mut |nth, bytes| {
            let stream = if nth == 0 { Stream::Out } else { Stream::Err };
            match passed_on.write(nth, bytes) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::BrokenPipe => gone = Some(nth),
                Err(error) => drop(failure.get_or_insert(error.to_string())),
            }
            match matcher {
                Some(matcher) if bytes.is_empty() => matcher.end(stream, clock.now()),
                Some(matcher) => matcher.take(stream, bytes, clock.now()),
                None => {}
            }
            latencies.iter_mut().for_each(|latencies| latencies.take(stream, bytes));
        });
        // The reader of the output is gone. The command must notice as if it had written there itself.
        gone.into_iter().for_each(|nth| command_output.close(nth));
        any
    }

    fn last(mut self, outlet: Outlet) -> LastCount {
        let mut notes: Vec<Note> = Vec::new();
        let note = |topic: &str, text: String| Note { topic: topic.to_string(), text, fix: None };
        if self.command_output.is_open() {
            notes.push(note(
                "output-cut",
                "processes that the command left running can no longer print: their output went through ironlaw"
                    .to_string(),
            ));
        }
        let now = self.clock.now();
        if let Some(matcher) = &mut self.matcher {
            [Stream::Out, Stream::Err].into_iter().for_each(|stream| matcher.end(stream, now));
            notes.extend(matcher.note());
        }
        let mut latencies = outlet.waiting;
        if let Some(found) = self.latencies.take() {
            let (rows, found) = found.finish(now);
            latencies.extend(rows);
            notes.extend(found);
        }
        let (latest, reads) = (self.latest(), self.matcher.as_ref().map(Matcher::reads));
        if let Some(failure) = self.failure {
            notes.push(note("output-lost", format!("not all of the command's output could be passed on: {failure}")));
        }
        let mut points = Vec::new();
        match latest {
            None if reads.is_none() => {}
            None => notes.push(Note {
                fix: Some("Try the pattern on what the command prints; its first group is the number.".to_string()),
                ..gap("no line that the command printed holds a number by the pattern of --ops".to_string())
            }),
            Some(latest) => {
                points.extend(outlet.sent.is_none().then_some(START));
                points.extend(Some(latest).filter(|latest| Some(*latest) != outlet.sent));
                // The total is valid until the command's end, so it is sent again.
                if points.is_empty() {
                    points.push(latest);
                }
            }
        }
        LastCount { points, holds_to_end: reads != Some(NumberKind::Rate), latencies, notes }
    }
}

/// Before a command starts, it has done nothing.
const START: Point = (Nanos(0), Ops(0));

/// Sends a zero for the start only along with the first total: until a number has been seen, nothing is known.
fn send(outlet: &mut Outlet, point: Point) {
    if outlet.sent.is_none() {
        outlet.send(START);
    }
    if outlet.sent.is_some() {
        outlet.send(point);
    }
}
