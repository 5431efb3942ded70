//! Records a session: every event goes to disk in order, and nothing is kept that has got there, so that memory does not
//! grow with the session's length. A failing disk never harms the target: it is remembered and told at the end.

use super::flow::{Flow, LastWord, Next};
use super::live::Outcome;
use super::tally::Tally;
use crate::error::Error;
use crate::model::{Event, Meta};
use crate::store::Writer;
use crate::sys::clock::Clock;
use crate::sys::signals::{Signal, Signals};
use crate::units::Nanos;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is buffered is written out this often, so that a killed recording loses no more.
const FLUSH_EVERY: Nanos = Nanos(1_000_000_000);

/// Records a session.
#[derive(Debug)]
pub(super) struct Recorder {
    meta: Meta,
    tally: Tally,
    writer: Writer,
    failure: Option<Error>,
    clock: Clock,
    flushed: Nanos,
}

impl Recorder {
    pub(super) fn new(meta: Meta, writer: Writer, clock: Clock) -> Recorder {
        Recorder { meta, tally: Tally::default(), writer, failure: None, clock, flushed: Nanos(0) }
    }

    /// Records until the capture is over; ends it when a signal or `asked` says so.
    pub(super) fn consume(&mut self, flow: &Flow, mut signals: Signals, asked: &AtomicBool) {
        loop {
            if asked.load(Ordering::Relaxed) {
                flow.stop().stop();
            }
            match flow.next() {
                Next::Events(events) => self.keep(&events),
                Next::Quiet => {}
                Next::Over => return,
            }
            self.keep(&flow.names());
            // Sampling on after the disk has failed would promise a recording that will not exist; the target runs on.
            if !self.flush_when_due() {
                flow.stop().detach();
            }
            while let Some(signal) = signals.take() {
                if signal != Signal::Child {
                    flow.stop().stop();
                }
            }
        }
    }

    /// The last names, the last flush, the final word about the session.
    pub(super) fn finish(mut self, last: &LastWord) -> Outcome {
        self.keep(&last.late);
        last_word(&mut self.meta, last);
        let bytes = self.writer.finish(&self.meta).unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            0
        });
        Outcome { meta: self.meta, tally: self.tally, bytes, write_failure: self.failure, reason: last.ended.reason }
    }

    /// Records events; what the disk refuses stays buffered and is tried again at the next flush.
    pub(super) fn keep(&mut self, events: &[Event]) {
        events.iter().for_each(|event| self.tally.add(event));
        if let Err(error) = self.writer.write(events) {
            self.failure.get_or_insert(error);
        }
    }

    /// What the disk refused first.
    pub(super) fn failure(&self) -> Option<&Error> {
        self.failure.as_ref()
    }

    /// Writes out once a second; false once the disk has failed.
    pub(super) fn flush_when_due(&mut self) -> bool {
        if self.clock.now() - self.flushed >= FLUSH_EVERY {
            self.flushed = self.clock.now();
            if let Err(error) = self.writer.flush() {
                self.failure.get_or_insert(error);
            }
        }
        self.failure.is_none()
    }
}

/// What the capture knows of itself only at its end.
pub(super) fn last_word(meta: &mut Meta, last: &LastWord) {
    meta.notes.extend(last.notes.iter().cloned());
    meta.duration_ns = Some(last.ended.at.0);
    meta.exit_status = last.ended.exit_status;
    meta.coverage.clone_from(&last.ended.coverage);
    meta.records.clone_from(&last.ended.records);
}
