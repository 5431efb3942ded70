//! Reads all counters of a window at one moment, once per interval, on a thread of its own: hardware, operations and /proc
//! together, so that no ratio mixes two times and a slow /proc never delays the sampler. The sampler says when counting begins
//! and ends: before a command runs, and before it is waited for.

use crate::collect::readings::Readings;
use crate::collect::sampler::{KernelCounters, LastReading, Reader};
use crate::error::{Context, Result};
use crate::model::{Event, TaskChange};
use crate::sys::clock::Clock;
use crate::units::Nanos;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How often the threads are read in the first window: a program that ends within it would else leave none of them read.
const FIRST_LOOKS: u64 = 10;

enum Order {
    /// The first window begins.
    Begin { begun: Sender<()> },
    /// A process of the target was born.
    Follow(u32),
    /// Read once more, and end.
    Finish { read: Sender<LastReading> },
}

/// The counters' thread.
#[derive(Debug)]
pub(super) struct Counting {
    orders: Sender<Order>,
    thread: JoinHandle<()>,
}

/// Tells the counters' thread when to begin and when to end.
#[derive(Debug, Clone)]
pub(super) struct Orders(Sender<Order>);

/// What the thread reads, and when.
struct Windows {
    kernel: Option<KernelCounters>,
    readings: Readings,
    interval: Nanos,
    clock: Clock,
    /// When the next window ends; `None` before the first one has begun.
    due: Option<Nanos>,
    /// When the threads are read again within the first window; after it, never.
    look: Nanos,
}

impl Counting {
    /// Starts the thread: one window per `interval`, handed to `out`; the last one is handed to who ends it.
    pub(super) fn start(
        kernel: Option<KernelCounters>,
        readings: Readings,
        interval: Nanos,
        clock: Clock,
        out: SyncSender<Vec<Event>>,
    ) -> Result<Counting> {
        let (orders, mailbox) = channel();
        let windows = Windows { kernel, readings, interval, clock, due: None, look: Nanos(u64::MAX) };
        let thread = std::thread::Builder::new().name("counters".into()).spawn(move || windows.run(&out, &mailbox));
        Ok(Counting { orders, thread: thread.context(|| "cannot start a thread")? })
    }

    /// Tells the counters of processes the target has started.
    pub(super) fn follow(&self, events: &[Event]) {
        for event in events {
            if let Event::Task(task) = event
                && task.pid == task.tid
                && matches!(task.change, TaskChange::Born { .. })
            {
                // Nobody reads when the last window is over: then there is nothing left to follow.
                let _ = self.orders.send(Order::Follow(task.pid));
            }
        }
    }

    pub(super) fn orders(&self) -> Orders {
        Orders(self.orders.clone())
    }

    /// Joins the thread after its stop was requested.
    pub(super) fn finish(self) {
        // A panic has been reported on standard error; the windows until then have been handed over.
        let _ = self.thread.join();
    }
}

impl Reader for Orders {
    fn begin(&mut self) -> Vec<Event> {
        let (begun, done) = channel();
        if self.0.send(Order::Begin { begun }).is_ok() {
            // An error means the thread has ended: there is nothing to wait for.
            let _ = done.recv();
        }
        // The thread hands them over itself, before its first window.
        Vec::new()
    }

    fn end(&mut self) -> LastReading {
        let (read, done) = channel();
        let _ = self.0.send(Order::Finish { read });
        done.recv().unwrap_or_default()
    }
}

impl Windows {
    fn run(mut self, out: &SyncSender<Vec<Event>>, mailbox: &Receiver<Order>) {
        loop {
            match self.next_order(mailbox) {
                Ok(Order::Follow(pid)) => self.readings.follow(pid),
                Ok(Order::Begin { begun }) => {
                    let first = self.begin();
                    // Who waits may have given up; a reader that has gone is noticed with the first window.
                    let _ = (begun.send(()), out.send(first));
                }
                Ok(Order::Finish { read }) => {
                    let _ = read.send(self.finish());
                    return;
                }
                Err(RecvTimeoutError::Timeout) => {
                    let at = self.clock.now();
                    let ends = self.due.is_none_or(|due| due <= self.look);
                    let events = if ends { self.window(at) } else { self.look(at) };
                    if out.send(events).is_err() {
                        return;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn next_order(&self, mailbox: &Receiver<Order>) -> std::result::Result<Order, RecvTimeoutError> {
        match self.due {
            Some(due) => mailbox.recv_timeout(Duration::from_nanos((due.min(self.look) - self.clock.now()).0)),
            None => mailbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Reads everything for the first time: what later readings are compared with.
    fn begin(&mut self) -> Vec<Event> {
        let at = self.clock.now();
        self.due = Some(at + self.interval);
        self.look = at + Nanos(self.interval.0 / FIRST_LOOKS);
        let mut events = self.kernel.as_mut().map(|kernel| kernel.start(at)).unwrap_or_default();
        self.readings.begin(at, &mut events);
        events
    }

    fn look(&mut self, at: Nanos) -> Vec<Event> {
        let step = Nanos(self.interval.0 / FIRST_LOOKS);
        self.look = at + step;
        let mut events = Vec::new();
        self.readings.look(at, step, &mut events);
        events
    }

    /// Ends a window.
    fn window(&mut self, at: Nanos) -> Vec<Event> {
        self.look = Nanos(u64::MAX);
        // Windows that were missed while the machine was busy are not made up: the next one is longer.
        self.due = self.due.map(|due| (due + self.interval).max(at));
        let mut events = self.kernel.as_mut().map(|kernel| kernel.read(at)).unwrap_or_default();
        self.readings.tick(at, &mut events);
        events
    }

    fn finish(&mut self) -> LastReading {
        // Told to end before it began, as during a delay.
        let mut events = if self.due.is_none() { self.begin() } else { Vec::new() };
        let at = self.clock.now();
        events.extend(self.kernel.as_mut().map(|kernel| kernel.read(at)).unwrap_or_default());
        self.readings.end(at, &mut events);
        let mut notes = self.kernel.as_ref().map(|kernel| kernel.verdict(at)).unwrap_or_default();
        notes.extend(self.readings.take_notes());
        LastReading { at, events, notes }
    }
}
