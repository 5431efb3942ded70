//! Sends the stream in batches without waiting for the reader while the rings fill. If the reader is hopelessly behind,
//! samples and spans are dropped and counted; definitions are always kept.

use crate::model::{Event, LossKind, Lost};
use crate::units::Nanos;
use std::collections::VecDeque;
use std::sync::mpsc::{SyncSender, TrySendError};

/// Events per batch.
const BATCH: usize = 4096;
/// Batches that may wait for the reader: about half a million events.
const MOST_WAITING: usize = 128;

/// Events on their way to the reader.
#[derive(Debug, Default)]
pub struct EventQueue {
    batch: Vec<Event>,
    waiting: VecDeque<Vec<Event>>,
    dropped: u64,
    dropped_on: u32,
}

/// The reader has gone: no further event can be delivered.
#[derive(Debug, PartialEq, Eq)]
pub struct ReaderGone;

impl EventQueue {
    /// Adds an event.
    pub fn push(&mut self, event: Event) {
        if self.waiting.len() >= MOST_WAITING && matches!(event, Event::Sample(_) | Event::Access(_) | Event::OffCpu(_))
        {
            // An access goes with its sample.
            self.dropped += u64::from(!matches!(event, Event::Access(_)));
            if let Event::Sample(sample) = event {
                self.dropped_on = sample.cpu;
            }
            return;
        }
        self.batch.push(event);
        if self.batch.len() >= BATCH {
            self.close();
        }
    }

    /// Adds events in order.
    pub fn extend(&mut self, events: Vec<Event>) {
        events.into_iter().for_each(|event| self.push(event));
    }

    /// Offers everything to the reader; batches that do not fit wait here.
    pub fn flush(&mut self, now: Nanos, to: &SyncSender<Vec<Event>>) -> Result<(), ReaderGone> {
        self.close();
        while let Some(batch) = self.waiting.pop_front() {
            match to.try_send(batch) {
                Ok(()) => {}
                Err(TrySendError::Full(batch)) => {
                    self.waiting.push_front(batch);
                    return Ok(());
                }
                Err(TrySendError::Disconnected(_)) => return Err(ReaderGone),
            }
        }
        self.report_dropped(now);
        Ok(())
    }

    /// Sends everything that is left, and waits for the reader as long as it takes.
    pub fn finish(&mut self, now: Nanos, to: &SyncSender<Vec<Event>>) -> Result<(), ReaderGone> {
        self.report_dropped(now);
        self.close();
        self.waiting.drain(..).try_for_each(|batch| to.send(batch)).map_err(|_| ReaderGone)
    }

    fn report_dropped(&mut self, at: Nanos) {
        if self.dropped > 0 {
            let lost = Lost { at, cpu: self.dropped_on, kind: LossKind::Samples, count: self.dropped };
            self.dropped = 0;
            self.batch.push(Event::Lost(lost));
        }
    }

    fn close(&mut self) {
        if !self.batch.is_empty() {
            let next = Vec::with_capacity(self.batch.len().min(BATCH));
            self.waiting.push_back(std::mem::replace(&mut self.batch, next));
        }
    }

    /// Takes everything that has not been sent, for a reader that asks.
    pub fn take(&mut self) -> Vec<Event> {
        self.close();
        self.waiting.drain(..).flatten().collect()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::model::{Definition, FrameDef, FrameId, Mark, Sample, StackEnd};
    use std::sync::mpsc::sync_channel;

    fn sample() -> Event {
        Event::Sample(Sample {
            at: Nanos(0),
            pid: 1,
            tid: 1,
            cpu: 3,
            event: 0,
            weight: 1,
            stack: None,
            end: StackEnd::NotTaken,
            kernel: false,
        })
    }

    #[test]
    fn a_reader_that_never_reads_costs_samples_but_neither_time_nor_definitions() {
        let (sender, receiver) = sync_channel(1);
        let mut queue = EventQueue::default();
        let offered = (MOST_WAITING + 50) * BATCH;
        for _ in 0..offered {
            queue.push(sample());
        }
        queue.push(Event::Define(Definition::Frame(FrameDef { id: FrameId(0), module: None, address: 1 })));
        queue.flush(Nanos(9), &sender).unwrap();
        let reader = std::thread::spawn(move || receiver.iter().flatten().collect::<Vec<_>>());
        queue.finish(Nanos(9), &sender).unwrap();
        drop(sender);
        let events = reader.join().unwrap();
        let kept = events.iter().filter(|event| matches!(event, Event::Sample(_))).count();
        let lost = events.iter().find_map(|event| if let Event::Lost(lost) = event { Some(*lost) } else { None });
        assert_eq!(kept, MOST_WAITING * BATCH);
        let count = (offered - kept) as u64;
        assert_eq!(lost, Some(Lost { at: Nanos(9), cpu: 3, kind: LossKind::Samples, count }));
        assert!(events.iter().any(|event| matches!(event, Event::Define(_))));
    }

    #[test]
    fn a_reader_that_has_gone_is_noticed() {
        let (sender, receiver) = sync_channel(1);
        drop(receiver);
        let mut queue = EventQueue::default();
        assert_eq!(queue.flush(Nanos(0), &sender), Ok(()), "nothing to say, nobody to miss");
        queue.push(Event::Mark(Mark { at: Nanos(0), label: String::new() }));
        assert_eq!(queue.flush(Nanos(0), &sender), Err(ReaderGone));
    }
}
