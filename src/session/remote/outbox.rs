//! What waits on the host for the link. The capture puts messages in and never waits; a thread of its own writes them.

use super::wire;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::limits::{REMOTE_BACKLOG, REMOTE_BACKLOG_MOST};
use crate::model::{Event, LossKind, Lost};
use crate::units::Nanos;
use std::collections::VecDeque;
use std::io::Write;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Messages on their way, in bounded memory.
#[derive(Debug, Clone)]
pub(super) struct Outbox {
    shared: Arc<Shared>,
    /// Samples are dropped while more bytes than this wait.
    most: usize,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Queue {
    frames: VecDeque<Vec<u8>>,
    bytes: usize,
    /// No more messages come.
    closed: bool,
    /// Nothing can be written any more, or everything was.
    over: bool,
}

impl Outbox {
    /// Starts the thread that writes to `output`.
    pub fn start(output: impl Write + Send + 'static) -> Result<Outbox> {
        Outbox::of(output, REMOTE_BACKLOG)
    }

    fn of(mut output: impl Write + Send + 'static, most: usize) -> Result<Outbox> {
        let outbox = Outbox { shared: Arc::default(), most };
        let shared = outbox.shared.clone();
        let write = move || {
            while let Some(frame) = shared.next() {
                if output.write_all(&frame).and_then(|()| output.flush()).is_err() {
                    break;
                }
                shared.lock().bytes -= frame.len();
            }
            shared.lock().over = true;
            shared.changed.notify_all();
        };
        std::thread::Builder::new().name("link".into()).spawn(write).context(|| "cannot start a thread")?;
        Ok(outbox)
    }

    /// Sends a message that is neither dropped nor waited for.
    ///
    /// # Errors
    /// `Exhausted` if too much waits already.
    pub fn send(&self, frame: Vec<u8>) -> Result<()> {
        let queue = self.shared.lock();
        if queue.bytes + frame.len() > self.most + REMOTE_BACKLOG_MOST {
            return Err(Error::new(ErrorKind::Exhausted, "the link to the terminal is too slow for this target")
                .hint("Sample less often (-F), or record on the host and copy the recording."));
        }
        self.shared.add(queue, frame);
        Ok(())
    }

    /// Sends the last message, however much waits.
    pub fn send_last(&self, frame: Vec<u8>) {
        self.shared.add(self.shared.lock(), frame);
    }

    /// Sends events; while too much waits, samples are counted as lost instead.
    ///
    /// # Errors
    /// As [`Outbox::send`].
    pub fn send_events(&self, events: &[Event]) -> Result<()> {
        if self.shared.lock().bytes <= self.most {
            return wire::events(events)?.into_iter().try_for_each(|frame| self.send(frame));
        }
        let (mut kept, mut losses) = (Vec::new(), [(LossKind::Samples, 0), (LossKind::OffCpu, 0)]);
        let mut last = Nanos(0);
        for event in events {
            let (loss, at) = match event {
                Event::Sample(sample) => (0, sample.at),
                Event::Access(access) => (0, access.at),
                Event::Operation(operation) => (0, operation.at),
                Event::OffCpu(span) => (1, span.at),
                kept_event => {
                    kept.push(kept_event.clone());
                    continue;
                }
            };
            losses[loss].1 += 1;
            last = last.max(at);
        }
        // Before the end of a window, whose losses these are.
        let lost = losses.into_iter().filter(|(_, count)| *count > 0);
        let lost: Vec<Event> = lost.map(|(kind, count)| Event::Lost(Lost { at: last, cpu: 0, kind, count })).collect();
        wire::events(lost.iter().chain(&kept))?.into_iter().try_for_each(|frame| self.send(frame))
    }

    /// Whether nothing can be written any more.
    pub fn is_over(&self) -> bool {
        self.shared.lock().over
    }

    /// Waits until everything is written, but no longer than `patience`.
    pub fn finish(self, patience: Duration) {
        let mut queue = self.shared.lock();
        queue.closed = true;
        self.shared.changed.notify_all();
        // What is not written by then is lost with the link.
        let _ = self.shared.changed.wait_timeout_while(queue, patience, |queue| !queue.over);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Only plain values change under the lock.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, mut queue: MutexGuard<'_, Queue>, frame: Vec<u8>) {
        queue.bytes += frame.len();
        queue.frames.push_back(frame);
        self.changed.notify_all();
    }

    /// Waits for the next message; `None` after the last.
    fn next(&self) -> Option<Vec<u8>> {
        let waits = |queue: &mut Queue| queue.frames.is_empty() && !queue.closed;
        let mut queue = self.changed.wait_while(self.lock(), waits).unwrap_or_else(PoisonError::into_inner);
        queue.frames.pop_front()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::wire::Message;
    use super::*;
    use crate::model::{Sample, StackEnd, Tick};
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    fn sample(at: u64) -> Event {
        let (stack, end) = (None, StackEnd::NotTaken);
        Event::Sample(Sample { at: Nanos(at), pid: 1, tid: 1, cpu: 0, event: 0, weight: 1, stack, end, kernel: false })
    }

    /// A link that takes a piece for each permission it gets.
    struct Link(Receiver<()>, Arc<Mutex<Vec<u8>>>);

    impl Write for Link {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.recv().map_err(|_| std::io::ErrorKind::BrokenPipe)?;
            self.1.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn slow() -> (Outbox, SyncSender<()>, Arc<Mutex<Vec<u8>>>) {
        let (allow, allowed) = sync_channel(10_000);
        let written = Arc::default();
        (Outbox::of(Link(allowed, Arc::clone(&written)), 100).unwrap(), allow, written)
    }

    #[test]
    fn a_slow_link_costs_samples_which_are_counted_and_nothing_else() {
        let (outbox, allow, written) = slow();
        let tick = |at| Event::Tick(Tick { at: Nanos(at), span: Nanos(10) });
        for window in 0..20 {
            let mut batch: Vec<_> = (0..10).map(|at| sample(window * 10 + at)).collect();
            batch.push(tick(window * 10 + 10));
            outbox.send_events(&batch).unwrap();
        }
        (0..1000).for_each(|_| allow.send(()).unwrap());
        outbox.finish(Duration::from_secs(10));
        let bytes = written.lock().unwrap().clone();
        let (mut rest, mut samples, mut ticks, mut lost) = (&bytes[..], 0, 0, 0);
        while let Some((Message::Events(events), _)) = wire::receive(&mut rest).unwrap() {
            for event in events {
                match event {
                    Event::Sample(_) => samples += 1,
                    Event::Tick(_) => ticks += 1,
                    Event::Lost(one) => lost += one.count,
                    other => panic!("{other:?}"),
                }
            }
        }
        assert_eq!((samples + lost, ticks), (200, 20));
        assert!(samples >= 10 && lost >= 100, "{samples} samples, {lost} lost");
    }

    #[test]
    fn what_cannot_be_dropped_is_bounded_too() {
        let (outbox, _allow, _) = slow();
        let error = (0..100).find_map(|_| outbox.send(vec![0; 1 << 20]).err()).unwrap();
        assert!(error.to_string().contains("too slow"), "{error}");
    }

    #[test]
    fn a_link_that_breaks_is_noticed_and_not_waited_for() {
        let (outbox, allow, _) = slow();
        drop(allow);
        outbox.send_events(&[sample(1)]).unwrap();
        while !outbox.is_over() {
            std::thread::yield_now();
        }
        outbox.send_events(&[sample(2)]).unwrap();
        outbox.finish(Duration::from_secs(10));
    }
}
