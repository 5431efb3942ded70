//! The thread that polls a source of operations once per interval. An unresponsive source delays only this thread.

use super::outlet::{CountOnceMore, LastCount, Outlet, Point, gap};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::{Note, OpsSpec};
use crate::ops::Meter;
use crate::sys::clock::Clock;
use crate::units::Nanos;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Timeout for the first answer. The server's own timeout is shorter, but name resolution may take longer than that.
const FIRST_PATIENCE: Duration = Duration::from_secs(5);
/// Poll interval while waiting for a source that the started command provides.
pub(super) const LOOK: Nanos = Nanos(20_000_000);

/// A source after its first reading.
#[derive(Debug)]
pub(in crate::session) struct Polling {
    meter: Meter,
    first: Result<Point>,
    clock: Clock,
    so_far: SoFar,
}

/// What is to be noted of the readings so far, for whoever stops waiting for an answer.
pub(super) type SoFar = Arc<Mutex<Option<Note>>>;

impl Polling {
    /// Takes the first reading, because earlier operations do not belong to the session. A source that a command
    /// provides (`starts`) need not answer yet. `None` for sources that are not polled.
    pub(super) fn open(spec: &OpsSpec, starts: bool, clock: Clock) -> Result<Option<Polling>> {
        let Some(meter) = Meter::of(spec, starts) else { return Ok(None) };
        let (meter, first) = first_answer(&spec.label(), meter, move |meter| meter.read(|| clock.now()))?;
        match first {
            Err(error) if !starts => Err(error),
            first => Ok(Some(Polling { meter, first, clock, so_far: SoFar::default() })),
        }
    }

    pub(super) fn clock(&self) -> Clock {
        self.clock
    }

    pub(super) fn so_far(&self) -> SoFar {
        Arc::clone(&self.so_far)
    }

    /// Polls until the mailbox asks for a last count or closes.
    pub(super) fn run(self, interval: Nanos, mut outlet: Outlet, mailbox: &Receiver<CountOnceMore>) -> LastCount {
        let Polling { mut meter, first, clock, so_far } = self;
        let mut record = Record::default();
        if let Some(point) = record.note(meter.has_begun(), first) {
            outlet.send(point);
        }
        loop {
            *so_far.lock().unwrap_or_else(PoisonError::into_inner) = record.gap();
            let pause = if meter.has_begun() { interval } else { interval.min(LOOK) };
            let told = match mailbox.recv_timeout(Duration::from_nanos(pause.0)) {
                Ok(CountOnceMore) => true,
                Err(RecvTimeoutError::Timeout) => false,
                Err(RecvTimeoutError::Disconnected) => return record.end(None),
            };
            // An unresponsive source would only delay the end.
            if told && record.silent {
                return record.end(None);
            }
            let read = meter.read(|| clock.now());
            let point = record.note(meter.has_begun(), read);
            if told || mailbox.try_recv().is_ok() {
                return record.end(point);
            }
            if let Some(point) = point {
                outlet.send(point);
            }
        }
    }
}

/// The first answer of a source, with the source; one that does not answer is given up.
pub(super) fn first_answer<M: Send + 'static, T: Send + 'static>(
    label: &str,
    mut source: M,
    read: impl FnOnce(&mut M) -> T + Send + 'static,
) -> Result<(M, T)> {
    let (tell, answer) = channel();
    let ask = move || {
        let first = read(&mut source);
        // The receiver may have given up.
        let _ = tell.send((source, first));
    };
    std::thread::Builder::new().name("first-answer".into()).spawn(ask).context(|| "cannot start a thread")?;
    answer.recv_timeout(FIRST_PATIENCE).map_err(|_| {
        Error::new(ErrorKind::Io, format!("{label} does not answer"))
            .hint("Does the host's name resolve, and does the server answer others?")
    })
}

/// Statistics of the polls.
#[derive(Debug, Default)]
pub(super) struct Record {
    asked: u64,
    failed: u64,
    begun: bool,
    pub(super) silent: bool,
    reason: Option<Error>,
}

impl Record {
    /// Failed reads before the source has started are not a gap.
    pub(super) fn note<T>(&mut self, begun: bool, read: Result<T>) -> Option<T> {
        self.silent = read.is_err();
        if begun && !std::mem::replace(&mut self.begun, begun) {
            *self = Record { begun, silent: self.silent, ..Record::default() };
        }
        self.asked += 1;
        read.map_err(|error| {
            self.failed += 1;
            // Before the first answer, the last reason says most: the server runs by then, and the page may lack the metric.
            if !begun || self.reason.is_none() {
                self.reason = Some(error);
            }
        })
        .ok()
    }

    fn end(self, point: Option<Point>) -> LastCount {
        let notes = self.gap().into_iter().collect();
        LastCount { points: point.into_iter().collect(), holds_to_end: true, notes, ..LastCount::default() }
    }

    /// A note about readings that failed, if some did.
    fn gap(&self) -> Option<Note> {
        let (text, fix) = self.failures("the source never gave a total")?;
        Some(Note { fix, ..gap(text) })
    }

    /// How many readings failed and why, with what to do; `never`: that all did.
    pub(super) fn failures(&self, never: &str) -> Option<(String, Option<String>)> {
        let error = self.reason.as_ref()?;
        let text = if self.begun {
            format!("{} of {} readings failed, the first because: {error}", self.failed, self.asked)
        } else {
            format!("{never}: {error}")
        };
        Some((text, error.remedy().map(ToString::to_string)))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::model::Event;
    use crate::units::Ops;
    use std::sync::mpsc::sync_channel;

    fn file(text: &str) -> (tempfile::TempDir, OpsSpec, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("total");
        if !text.is_empty() {
            std::fs::write(&path, text).unwrap();
        }
        (dir, OpsSpec::File { path: path.clone() }, path)
    }

    #[test]
    fn what_is_not_there_is_an_error_unless_the_command_may_bring_it() {
        let (_dir, spec, _) = file("");
        let clock = Clock::start();
        assert!(Polling::open(&spec, false, clock).unwrap_err().to_string().contains("total"));
        let waiting = Polling::open(&spec, true, clock).unwrap().unwrap();
        assert!(!waiting.meter.has_begun());
        assert!(
            Polling::open(&OpsSpec::Tracepoint { category: "a".into(), name: "b".into() }, false, clock)
                .unwrap()
                .is_none()
        );
    }

    /// Runs until the reader has seen `wait_for`, then ends the thread.
    fn run(polling: Polling, wait_for: u64, mut set: impl FnMut(u64)) -> (Vec<u64>, LastCount) {
        let (out, events) = sync_channel(64);
        let (orders, mailbox) = channel();
        let thread = std::thread::spawn(move || polling.run(Nanos(5_000_000), Outlet::new(out), &mailbox));
        let mut totals = Vec::new();
        for batch in &events {
            totals.extend(batch.iter().filter_map(|event| match event {
                Event::Ops { total, .. } => Some(total.0),
                _ => None,
            }));
            set(*totals.last().unwrap());
            if totals.last() == Some(&wait_for) {
                break;
            }
        }
        orders.send(CountOnceMore).unwrap();
        (totals, thread.join().unwrap())
    }

    #[test]
    fn totals_come_until_the_last_which_is_kept_for_the_end() {
        let (_dir, spec, path) = file("100");
        let polling = Polling::open(&spec, false, Clock::start()).unwrap().unwrap();
        std::fs::write(&path, "142").unwrap();
        let (totals, last) = run(polling, 42, |_| ());
        assert!(totals.starts_with(&[0, 42]), "{totals:?}");
        assert_eq!(last.points.last().unwrap().1, Ops(42));
        assert!(last.notes.is_empty() && last.holds_to_end);
    }

    #[test]
    fn gaps_are_told_once_and_a_source_that_never_came_is_told_apart() {
        let mut record = Record::default();
        let error = || Err(Error::new(ErrorKind::Io, "no luck").hint("Try harder."));
        assert_eq!(record.note(false, error()), None);
        let never = std::mem::take(&mut record).end(None).notes;
        assert!(never[0].text.contains("never gave a total: no luck") && never[0].fix.is_some(), "{never:?}");
        assert!(record.gap().is_none());
        record.note(false, error());
        assert!(record.gap().is_some_and(|note| note.text.contains("no luck")));
        record.note::<Point>(false, Err(Error::new(ErrorKind::NotFound, "unknown metric 'x'")));
        assert!(record.gap().is_some_and(|note| note.text.contains("never gave a total: unknown metric")));
        for read in [Ok((Nanos(1), Ops(0))), error(), Ok((Nanos(2), Ops(5))), error()] {
            record.note(true, read);
        }
        let notes = record.end(None).notes;
        assert!(notes.len() == 1 && notes[0].text.contains("2 of 4 readings failed"), "{notes:?}");
        assert_eq!(notes[0].topic, "ops-gap");
    }
}
