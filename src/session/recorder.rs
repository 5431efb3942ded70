//! Records a session: writes every event to disk in order and drops it from memory, so that memory does not grow with
//! the session's length. A disk failure does not affect the target: it is reported at the end.

use super::command_beside::CommandBeside;
use super::flow::{CaptureEnd, CaptureStep, RunningCapture};
use super::operations::AddedOperations;
use crate::collect::sampler::EndReason;
use crate::error::{Error, Result};
use crate::model::{Event, Meta, Note, StackEnd};
use crate::store::Writer;
use crate::sys::clock::Clock;
use crate::sys::signals::{Signal, Signals};
use crate::units::Nanos;
use std::sync::atomic::{AtomicBool, Ordering};

/// Flush interval of the buffer: the most that a killed recording loses.
const FLUSH_EVERY: Nanos = Nanos(1_000_000_000);

/// The result of a finished capture.
#[derive(Debug)]
pub struct Outcome {
    /// The session's final metadata.
    pub meta: Meta,
    /// Totals of the capture.
    pub capture_stats: CaptureStats,
    /// Size of the recording on disk, bytes; 0 if it could not be finished.
    pub bytes: u64,
    /// Why the recording on disk is incomplete, if it is.
    pub write_failure: Option<Error>,
    /// Why the capture ended.
    pub reason: EndReason,
}

/// Records a session.
#[derive(Debug)]
pub(super) struct Recorder {
    meta: Meta,
    capture_stats: CaptureStats,
    writer: Writer,
    failure: Option<Error>,
    clock: Clock,
    flushed: Nanos,
}

impl Recorder {
    pub(super) fn new(meta: Meta, writer: Writer, clock: Clock) -> Recorder {
        Recorder { meta, capture_stats: CaptureStats::default(), writer, failure: None, clock, flushed: Nanos(0) }
    }

    /// Records until the capture ends. Stops it on a signal, or when `asked` is set. The command beside the target begins
    /// when samples are taken.
    pub(super) fn consume(
        &mut self,
        flow: &RunningCapture,
        signals: &mut Signals,
        beside: &mut CommandBeside,
        asked: &AtomicBool,
    ) -> Result<()> {
        loop {
            if asked.load(Ordering::Relaxed) {
                flow.stop().stop();
            }
            let step = flow.next();
            // Not with the first events: those of the counters come before samples are taken.
            if flow.is_sampling() {
                beside.begin(flow.stop())?;
            }
            match step {
                CaptureStep::Events(events) => self.keep(&events),
                CaptureStep::Quiet => {}
                CaptureStep::Over => return Ok(()),
            }
            self.keep(&flow.names());
            // After a disk failure, further sampling cannot produce a recording. The target keeps running.
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

    /// Writes the last names, flushes, and writes the final metadata.
    pub(super) fn finish(mut self, last: &CaptureEnd) -> Outcome {
        self.keep(&last.late);
        add_capture_end(&mut self.meta, last);
        let bytes = self.writer.finish(&self.meta).unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            0
        });
        Outcome {
            meta: self.meta,
            capture_stats: self.capture_stats,
            bytes,
            write_failure: self.failure,
            reason: last.ended.reason,
        }
    }

    /// Records events. Data that could not be written stays buffered until the next flush.
    pub(super) fn keep(&mut self, events: &[Event]) {
        events.iter().for_each(|event| self.capture_stats.add(event));
        if let Err(error) = self.writer.write(events) {
            self.failure.get_or_insert(error);
        }
    }

    /// The first disk error.
    pub(super) fn failure(&self) -> Option<&Error> {
        self.failure.as_ref()
    }

    /// The operations that are counted from now on.
    pub(super) fn count(&mut self, added: &AddedOperations) {
        self.meta.plan.ops = Some(added.spec.clone());
        self.meta.notes.extend_from_slice(&added.notes);
    }

    /// Flushes once a second; false after a disk failure.
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

/// Adds the metadata that is known only at the end of a capture.
pub(super) fn add_capture_end(meta: &mut Meta, last: &CaptureEnd) {
    // The last rate says what the first did, and more.
    if last.notes.iter().any(|note| note.topic == Note::SAMPLING_SLOWED) {
        meta.notes.retain(|note| note.topic != Note::SAMPLING_SLOWED);
    }
    meta.notes.extend(last.notes.iter().cloned());
    meta.target.conditions.clone_from(&last.conditions);
    meta.duration_ns = Some(last.ended.at.0);
    meta.exit_status = last.ended.exit_status;
    meta.coverage.clone_from(&last.ended.coverage);
    meta.records.clone_from(&last.ended.records);
}

/// Totals of a capture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CaptureStats {
    /// Samples.
    pub samples: u64,
    /// Records lost because a ring buffer was full.
    pub lost: u64,
    /// Stacks taken.
    pub stacks: u64,
    /// Of these, the stacks that reached the start of the program or thread.
    pub whole: u64,
}

impl CaptureStats {
    /// Counts one event.
    pub fn add(&mut self, event: &Event) {
        match event {
            Event::Sample(sample) => {
                self.samples += 1;
                self.stacks += u64::from(sample.end != StackEnd::NotTaken);
                self.whole += u64::from(sample.end == StackEnd::Whole);
            }
            Event::Lost(lost) if lost.kind.is_samples() => self.lost += lost.count,
            _ => {}
        }
    }

    /// Share of the stacks that are whole, 0 to 1; `None` if none were taken.
    #[must_use]
    pub fn whole_share(&self) -> Option<f64> {
        (self.stacks > 0).then(|| self.whole as f64 / self.stacks as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{LossKind, Lost, Sample};

    #[test]
    fn samples_without_a_stack_are_no_broken_stacks() {
        let mut capture_stats = CaptureStats::default();
        for end in [StackEnd::Whole, StackEnd::NotTaken, StackEnd::Broken, StackEnd::Truncated] {
            let (at, stack) = (Nanos(0), None);
            let sample = Sample { at, pid: 1, tid: 1, cpu: 0, event: 0, weight: 1, stack, end, kernel: false };
            capture_stats.add(&Event::Sample(sample));
        }
        for (kind, count) in [(LossKind::Ring, 5), (LossKind::Throttled, 1)] {
            capture_stats.add(&Event::Lost(Lost { at: Nanos(0), cpu: 0, kind, count }));
        }
        assert_eq!(capture_stats, CaptureStats { samples: 4, lost: 5, stacks: 3, whole: 1 });
        assert_eq!((capture_stats.whole_share(), CaptureStats::default().whole_share()), (Some(1.0 / 3.0), None));
    }
}
