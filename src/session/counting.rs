//! Reads all counters of a window at one time, once per interval, on a separate thread: hardware, operations and /proc
//! together, so that a ratio never mixes two times and a slow /proc does not delay the sampler. The sampler starts
//! counting before a command runs and ends it before it waits for the command.

use crate::collect::readings::Readings;
use crate::collect::sampler::{KernelCounters, LastReading, Reader};
use crate::error::{Context, Result};
use crate::model::{Event, Note, ProcessConditions, TaskChange};
use crate::sys::clock::Clock;
use crate::sys::limits;
use crate::units::Nanos;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Readings of the threads in the first window. Without them, a program that ends within it would have none.
const FIRST_READINGS: u64 = 10;

/// The end of a capture waits no longer for the last readings, and no longer for the thread after that.
const LAST: Duration = Duration::from_secs(2);
const GRACE: Nanos = Nanos(500_000_000);

enum Order {
    /// The first window begins.
    Begin { begun: Sender<()> },
    /// The target started a process.
    FollowedTasks(u32),
    /// A process of the target executed a program.
    Executed,
    /// Read once more, then end.
    Finish { read: Sender<LastReading> },
}

/// The counter thread.
#[derive(Debug)]
pub(super) struct Counting {
    orders: Sender<Order>,
    thread: JoinHandle<Option<ProcessConditions>>,
}

/// Tells the counter thread when to begin and when to end.
#[derive(Debug, Clone)]
pub(super) struct WindowOrders(Sender<Order>);

/// The counters that the thread reads, and when.
struct Windows {
    kernel: Option<KernelCounters>,
    readings: Readings,
    interval: Nanos,
    clock: Clock,
    /// End of the current window; `None` before the first window begins.
    due: Option<Nanos>,
    /// Time of the next reading of the threads within the first window; unused afterwards.
    threads_due: Nanos,
}

impl Counting {
    /// Starts the thread. It sends one window per `interval` to `out`; the caller of `end` receives the last one.
    pub(super) fn start(
        kernel: Option<KernelCounters>,
        readings: Readings,
        interval: Nanos,
        clock: Clock,
        out: SyncSender<Vec<Event>>,
    ) -> Result<Counting> {
        let (orders, mailbox) = channel();
        let windows = Windows { kernel, readings, interval, clock, due: None, threads_due: Nanos(u64::MAX) };
        let thread = std::thread::Builder::new().name("counters".into()).spawn(move || windows.run(&out, &mailbox));
        Ok(Counting { orders, thread: thread.context(|| "cannot start a thread")? })
    }

    /// Passes on which processes the target has started, and that one of them executed a program.
    pub(super) fn follow(&self, events: &[Event]) {
        let processes = events.iter().filter_map(|event| match event {
            Event::Task(task) if task.pid == task.tid => Some(task),
            _ => None,
        });
        let mut executed = false;
        for task in processes {
            match task.change {
                // A send fails only after the last window, when there is nothing left to follow.
                TaskChange::Born { .. } => drop(self.orders.send(Order::FollowedTasks(task.pid))),
                TaskChange::Renamed { exec, .. } => executed |= exec,
                _ => {}
            }
        }
        if executed {
            let _ = self.orders.send(Order::Executed);
        }
    }

    pub(super) fn orders(&self) -> WindowOrders {
        WindowOrders(self.orders.clone())
    }

    /// Joins the thread after its stop was requested, and returns the conditions that it found; a note if it failed. The
    /// windows before that have been sent.
    pub(super) fn finish(self) -> std::result::Result<Option<ProcessConditions>, Note> {
        let note = |text: &str| Note { topic: "counters-failed".to_string(), text: text.to_string(), fix: None };
        let clock = Clock::start();
        while !self.thread.is_finished() {
            if clock.now() > GRACE {
                return Err(note("The last readings are missing: they did not end in time."));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        self.thread.join().map_err(|_| {
            note("The thread that reads the counters failed, so the readings end before the capture. This is a defect of ironlaw.")
        })
    }
}

impl Reader for WindowOrders {
    fn begin(&mut self) -> Vec<Event> {
        let (begun, done) = channel();
        if self.0.send(Order::Begin { begun }).is_ok() {
            // An error means that the thread has ended, so there is nothing to wait for.
            let _ = done.recv();
        }
        // The thread sends these events itself, before its first window.
        Vec::new()
    }

    fn end(&mut self) -> LastReading {
        let (read, done) = channel();
        let _ = self.0.send(Order::Finish { read });
        done.recv_timeout(LAST).unwrap_or_default()
    }
}

impl Windows {
    /// Works until the end is requested or nobody reads, and returns the conditions of the target's process.
    fn run(mut self, out: &SyncSender<Vec<Event>>, mailbox: &Receiver<Order>) -> Option<ProcessConditions> {
        // A reading that comes late belongs to no window.
        limits::set_nice(limits::URGENT);
        self.follow_orders(out, mailbox);
        self.readings.conditions().cloned()
    }

    fn follow_orders(&mut self, out: &SyncSender<Vec<Event>>, mailbox: &Receiver<Order>) {
        loop {
            match self.next_order(mailbox) {
                Ok(Order::FollowedTasks(pid)) => self.readings.follow(pid),
                Ok(Order::Executed) => self.readings.executed(self.clock.now()),
                Ok(Order::Begin { begun }) => {
                    let first = self.begin();
                    // The waiting side may have given up. A missing reader is noticed at the first window.
                    let _ = (begun.send(()), out.send(first));
                }
                Ok(Order::Finish { read }) => {
                    let _ = read.send(self.finish());
                    return;
                }
                Err(RecvTimeoutError::Timeout) => {
                    let at = self.clock.now();
                    let ends = self.due.is_none_or(|due| due <= self.threads_due);
                    let events = if ends { self.window(at) } else { self.read_threads(at) };
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
            Some(due) => mailbox.recv_timeout(Duration::from_nanos((due.min(self.threads_due) - self.clock.now()).0)),
            None => mailbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Takes the first readings, the base for later ones.
    fn begin(&mut self) -> Vec<Event> {
        let at = self.clock.now();
        self.due = Some(at + self.interval);
        self.threads_due = at + Nanos(self.interval.0 / FIRST_READINGS);
        let mut events = self.kernel.as_mut().map(|kernel| kernel.start(at)).unwrap_or_default();
        self.readings.begin(at, &mut events);
        self.judge(&events);
        events
    }

    fn read_threads(&mut self, at: Nanos) -> Vec<Event> {
        let step = Nanos(self.interval.0 / FIRST_READINGS);
        self.threads_due = at + step;
        let mut events = Vec::new();
        self.readings.read_threads_only(at, step, &mut events);
        events
    }

    /// Ends a window.
    fn window(&mut self, at: Nanos) -> Vec<Event> {
        self.threads_due = Nanos(u64::MAX);
        // Missed windows on a busy machine are not made up; the next window is longer.
        self.due = self.due.map(|due| (due + self.interval).max(at));
        let mut events = self.kernel.as_mut().map(|kernel| kernel.read(at)).unwrap_or_default();
        self.readings.tick(at, &mut events);
        self.judge(&events);
        events
    }

    fn judge(&mut self, events: &[Event]) {
        self.kernel.iter_mut().for_each(|kernel| kernel.judge(events));
    }

    fn finish(&mut self) -> LastReading {
        // The end was requested before the begin, e.g. during a delay.
        let mut events = if self.due.is_none() { self.begin() } else { Vec::new() };
        let at = self.clock.now();
        events.extend(self.kernel.as_mut().map(|kernel| kernel.read(at)).unwrap_or_default());
        self.readings.end(at, &mut events);
        let mut notes = self.kernel.as_mut().map(|kernel| kernel.verdict(at)).unwrap_or_default();
        notes.extend(self.readings.take_notes());
        LastReading { at, events, notes }
    }
}
