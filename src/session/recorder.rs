//! The reader that records a live session: every event goes to disk in order, and nothing is kept that has got there, so that
//! memory does not grow with the session's length. A failing disk never harms the target: it is remembered and told at the end.

use super::counting::Counting;
use super::live::Outcome;
use super::naming::Namer;
use super::tally::Tally;
use crate::collect::sampler::Ended;
use crate::error::{Error, Result};
use crate::model::{Event, Meta};
use crate::store::Writer;
use crate::sys::clock::Clock;
use crate::sys::signals::{Signal, Signals, StopToken};
use crate::units::Nanos;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// What is buffered is written out this often, so that a killed recording loses no more.
const FLUSH_EVERY: Nanos = Nanos(1_000_000_000);

/// How long to wait for events before looking at signals, the clock and finished names.
const PATIENCE: Duration = Duration::from_millis(100);

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

    /// Takes batches until every source has hung up.
    pub(super) fn consume(
        &mut self,
        batches: &Receiver<Vec<Event>>,
        namer: &Namer,
        counting: &Counting,
        stop: &StopToken,
        mut signals: Signals,
    ) {
        loop {
            match batches.recv_timeout(PATIENCE) {
                Ok(batch) => {
                    namer.ask(&batch);
                    counting.follow(&batch);
                    self.keep(&batch);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.keep(&namer.ready());
            if self.clock.now() - self.flushed >= FLUSH_EVERY {
                self.flush(stop);
            }
            while let Some(signal) = signals.take() {
                if signal != Signal::Child {
                    stop.stop();
                }
            }
        }
    }

    /// The last names, the last flush, the final word about the session.
    pub(super) fn finish(mut self, namer: Namer, counting: Counting, ended: Ended) -> Result<Outcome> {
        let (names, notes) = namer.finish();
        self.keep(&names);
        self.meta.notes.extend(notes);
        self.meta.notes.extend(counting.finish());
        self.meta.duration_ns = Some(ended.at.0);
        self.meta.exit_status = ended.exit_status;
        self.meta.coverage = ended.coverage;
        let bytes = self.writer.finish(&self.meta).unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            0
        });
        Ok(Outcome { meta: self.meta, tally: self.tally, bytes, write_failure: self.failure })
    }

    /// Records events; what the disk refuses stays buffered and is tried again at the next flush.
    pub(super) fn keep(&mut self, events: &[Event]) {
        events.iter().for_each(|event| self.tally.add(event));
        if let Err(error) = self.writer.write(events) {
            self.failure.get_or_insert(error);
        }
    }

    /// Sampling on after the disk has failed would promise a recording that will not exist; the target runs on.
    fn flush(&mut self, stop: &StopToken) {
        self.flushed = self.clock.now();
        if let Err(error) = self.writer.flush() {
            self.failure.get_or_insert(error);
        }
        if self.failure.is_some() {
            stop.detach();
        }
    }
}
