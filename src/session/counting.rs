//! Reads /proc's counters once per interval on a thread of its own, so that a slow /proc never delays the sampler.
//! It never decides when the session ends; it is told, in time for one last reading before a command is waited for.

use crate::collect::readings::Readings;
use crate::error::{Context, Result};
use crate::model::{Event, Note, TaskChange};
use crate::sys::clock::Clock;
use crate::units::Nanos;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

enum Order {
    /// A process of the target was born.
    Follow(u32),
    /// Read once more, say so, and end.
    Finish { read: Sender<()> },
}

/// The counters' thread.
#[derive(Debug)]
pub(super) struct Counting {
    orders: Sender<Order>,
    thread: JoinHandle<Vec<Note>>,
}

/// Makes the counters' thread read once more and end.
#[derive(Debug, Clone)]
pub(super) struct LastReading(Sender<Order>);

impl Counting {
    /// Starts the thread: one window per `interval`, handed to `out`.
    pub(super) fn start(
        mut readings: Readings,
        interval: Nanos,
        clock: Clock,
        out: SyncSender<Vec<Event>>,
    ) -> Result<Counting> {
        let (orders, mailbox) = channel();
        let run = move || {
            read_until_told(&mut readings, interval, clock, &out, &mailbox);
            readings.take_notes()
        };
        let thread = std::thread::Builder::new().name("counters".into()).spawn(run);
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

    pub(super) fn last_reading(&self) -> LastReading {
        LastReading(self.orders.clone())
    }

    /// Waits for the thread, which has been told to end, and takes what it has to say.
    pub(super) fn finish(self) -> Vec<Note> {
        self.thread.join().unwrap_or_default()
    }
}

impl LastReading {
    /// Returns when the last reading has been made; at once if it has been made before.
    pub(super) fn take(&self) {
        let (read, done) = channel();
        if self.0.send(Order::Finish { read }).is_ok() {
            // An error means the thread ended without answering: there is nothing to wait for.
            let _ = done.recv();
        }
    }
}

fn read_until_told(
    readings: &mut Readings,
    interval: Nanos,
    clock: Clock,
    out: &SyncSender<Vec<Event>>,
    mailbox: &Receiver<Order>,
) {
    let mut due = clock.now() + interval;
    loop {
        let asked = match mailbox.recv_timeout(Duration::from_nanos((due - clock.now()).0)) {
            Ok(Order::Follow(pid)) => {
                readings.follow(pid);
                continue;
            }
            Ok(Order::Finish { read }) => Some(read),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let mut events = Vec::new();
        readings.tick(clock.now(), &mut events);
        // Windows that were missed while the machine was busy are not made up: the next one is longer.
        due = (due + interval).max(clock.now());
        if out.send(events).is_err() || asked.is_some() {
            // Dropping the answer's sender wakes who waits for it.
            return;
        }
    }
}
