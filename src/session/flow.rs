//! A running capture: the threads that drain, count and symbolize, behind one stream of events.

use super::counting::{Counting, WindowOrders};
use super::naming::{HostFiles, Namer};
use super::operations::{CountedOperations, LastOrder, Operations};
use crate::collect::readings::Readings;
use crate::collect::sampler::{Ended, LastReading, Reader, Sampler};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::{Event, Note, ProcessConditions};
use crate::sys::clock::Clock;
use crate::sys::signals::StopToken;
use crate::units::Nanos;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Batches in flight between the drain thread and the reader. At some hundred samples each, this is seconds of backlog.
const BACKLOG: usize = 256;

/// Maximum wait for events before signals, the clock and finished names are polled.
pub(super) const TIMEOUT: Duration = Duration::from_millis(100);

/// A running capture.
#[derive(Debug)]
pub(super) struct RunningCapture {
    /// Dropped first, so that no thread waits for a reader while the capture is dropped.
    batches: Receiver<Vec<Event>>,
    wake: SyncSender<Vec<Event>>,
    namer: Namer,
    counting: Counting,
    operations: Vec<CountedOperations>,
    drain: Drain,
    /// Set when samples are taken.
    sampling: Arc<AtomicBool>,
    /// Set when everything has been sent.
    over: Arc<AtomicBool>,
}

/// Marks the end of the stream when it is dropped, also by a panic, and wakes the reader so that the end waits for no
/// timeout.
struct EndMark {
    over: Arc<AtomicBool>,
    wake: SyncSender<Vec<Event>>,
}

impl Drop for EndMark {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        // A full channel wakes the reader too, and without a reader nobody waits.
        let _ = self.wake.try_send(Vec::new());
    }
}

/// The thread that drains the rings and owns a started command.
#[derive(Debug)]
struct Drain {
    thread: Option<JoinHandle<Result<Ended>>>,
    stop: StopToken,
}

impl Drop for Drain {
    /// A reader that panics drops a capture that still runs: it is stopped, so that no command is left behind.
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            self.stop.stop();
            // The reader's own failure is the one to report.
            let _ = thread.join();
        }
    }
}

/// The result of waiting for events.
#[derive(Debug)]
pub(super) enum CaptureStep {
    /// Events; empty if another thread woke the reader.
    Events(Vec<Event>),
    /// A timeout without events.
    Quiet,
    /// The end of the stream.
    Over,
}

/// The final data of a capture.
#[derive(Debug)]
pub(super) struct CaptureEnd {
    /// Late names and operation totals.
    pub late: Vec<Event>,
    /// Notes collected during the capture.
    pub notes: Vec<Note>,
    /// The conditions of the target's process.
    pub conditions: Option<ProcessConditions>,
    /// How it ended.
    pub ended: Ended,
}

/// A stream of events that ends.
pub(super) trait EventStream {
    /// The next events. Waits only for a short time.
    fn next(&self) -> CaptureStep;
    /// Names found since the last call.
    fn names(&self) -> Vec<Event>;
    /// Asks for the end. Without `wants_rest`, the last names and totals are not needed.
    fn stop(&self, wants_rest: bool);
    /// Why the stream ended too early, if it did.
    fn failure(&mut self) -> Option<Error>;
    /// Releases what the stream needed.
    ///
    /// # Errors
    /// Nothing could be captured.
    fn finish(self) -> Result<CaptureEnd>;
}

impl EventStream for RunningCapture {
    fn next(&self) -> CaptureStep {
        RunningCapture::next(self)
    }

    fn names(&self) -> Vec<Event> {
        RunningCapture::names(self)
    }

    fn stop(&self, _: bool) {
        RunningCapture::stop(self).stop();
    }

    fn failure(&mut self) -> Option<Error> {
        None
    }

    fn finish(self) -> Result<CaptureEnd> {
        RunningCapture::finish(self, || false)
    }
}

/// All counters apart from the sampler.
struct Counters {
    windows: WindowOrders,
    operations: Vec<LastOrder>,
    sampling: Arc<AtomicBool>,
    wake: SyncSender<Vec<Event>>,
}

impl Reader for Counters {
    fn begin(&mut self) -> Vec<Event> {
        self.windows.begin()
    }

    fn sampling(&mut self) {
        self.sampling.store(true, Ordering::Release);
        // A full channel wakes the reader too.
        let _ = self.wake.try_send(Vec::new());
    }

    fn end(&mut self) -> LastReading {
        self.operations.iter().for_each(LastOrder::ask);
        self.windows.end()
    }
}

impl RunningCapture {
    /// Starts the threads: one counter window per `interval`; with `fetch`, missing debug information is downloaded.
    pub(super) fn start(
        mut sampler: Sampler,
        readings: Readings,
        operations: Vec<Operations>,
        interval: Nanos,
        clock: Clock,
        fetch: bool,
    ) -> Result<RunningCapture> {
        let (sender, batches) = sync_channel(BACKLOG);
        let stop = StopToken::new()?;
        let namer = Namer::start(sampler.modules(), HostFiles::of_user(fetch));
        let counting = Counting::start(sampler.take_counters(), readings, interval, clock, sender.clone())?;
        let start = |operations: Operations| operations.start(interval, sender.clone());
        let operations = operations.into_iter().map(start).collect::<Result<Vec<_>>>()?;
        let (wake, stopping) = (sender.clone(), stop.clone());
        let sampling = Arc::new(AtomicBool::new(false));
        let mut counters = Counters {
            windows: counting.orders(),
            operations: operations.iter().map(CountedOperations::last_count).collect(),
            sampling: sampling.clone(),
            wake: sender.clone(),
        };
        let over = Arc::new(AtomicBool::new(false));
        let mark = EndMark { over: over.clone(), wake: wake.clone() };
        let run = move || {
            // The counter thread ends before this one, so at the mark everything both sent is in the channel.
            let _mark = mark;
            let ended = sampler.run(sender, stopping, &mut counters);
            // Also after a failure: otherwise the counter thread would not end and the channel would stay open.
            counters.end();
            ended
        };
        let drain = std::thread::Builder::new().name("drain".into()).spawn(run);
        let drain = Drain { thread: Some(drain.context(|| "cannot start a thread")?), stop };
        Ok(RunningCapture { batches, wake, namer, counting, operations, drain, sampling, over })
    }

    /// The next events. Waits only for a short time.
    pub(super) fn next(&self) -> CaptureStep {
        // Read before the channel: an empty channel ends the stream only if it was marked before.
        let over = self.over.load(Ordering::Acquire);
        match self.batches.recv_timeout(if over { Duration::ZERO } else { TIMEOUT }) {
            Ok(batch) => {
                self.namer.ask(&batch);
                self.counting.follow(&batch);
                CaptureStep::Events(batch)
            }
            Err(RecvTimeoutError::Timeout) if !over => CaptureStep::Quiet,
            Err(_) => CaptureStep::Over,
        }
    }

    /// Whether all events count and samples are taken.
    pub(super) fn is_sampling(&self) -> bool {
        self.sampling.load(Ordering::Acquire)
    }

    /// Names found since the last call.
    pub(super) fn names(&self) -> Vec<Event> {
        self.namer.ready()
    }

    /// Token to stop the capture.
    pub(super) fn stop(&self) -> &StopToken {
        &self.drain.stop
    }

    /// A sender that wakes the reader with an empty batch.
    pub(super) fn waker(&self) -> SyncSender<Vec<Event>> {
        self.wake.clone()
    }

    /// Joins the threads, which have finished their work, but for that which finds names: it goes on for some seconds, until
    /// `give_up` says that nobody waits for more.
    pub(super) fn finish(mut self, give_up: impl FnMut() -> bool) -> Result<CaptureEnd> {
        let failed = || Error::new(ErrorKind::Io, "the sampling thread failed");
        let ended = self.drain.thread.take().map(JoinHandle::join);
        let ended = ended.and_then(|joined| joined.ok()).unwrap_or_else(|| Err(failed()));
        let (names, mut notes) = self.namer.finish(give_up);
        let conditions = self.counting.finish().unwrap_or_else(|failed| {
            notes.push(failed);
            None
        });
        let mut ended = ended?;
        notes.append(&mut ended.notes);
        let mut late = names;
        for operations in self.operations {
            let (totals, said) = operations.finish(&ended);
            late.extend(totals);
            notes.extend(said);
        }
        // What these threads sent after the stream had ended. Of totals, the last one says it all.
        late.extend(self.batches.try_iter().flatten().filter(|event| matches!(event, Event::Latency(_))));
        Ok(CaptureEnd { late, notes, conditions, ended })
    }
}
