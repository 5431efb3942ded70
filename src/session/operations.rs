//! Counts operations on a thread of its own: a server that does not answer must delay nothing else.
//! What a command prints is passed on at once and unchanged, whatever is found in it.

use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::{Event, Note, OpsSpec, Plan};
use crate::ops::{Line, Output, Polled};
use crate::sys::clock::Clock;
use crate::sys::spawn::Printed;
use crate::units::{Nanos, Ops};
use std::io::Write;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long to wait for more output before looking for orders.
const PATIENCE: Nanos = Nanos(50_000_000);

/// A source of operations that is open.
#[derive(Debug)]
pub(super) struct Operations {
    source: Source,
    clock: Clock,
}

#[derive(Debug)]
enum Source {
    Polled(Polled),
    Printed(Box<Output>, Printed),
}

enum Order {
    /// Count once more, say so; what comes later is not counted.
    Last { read: Sender<()> },
}

/// The thread.
#[derive(Debug)]
pub(super) struct CountedOperations {
    orders: Sender<Order>,
    thread: JoinHandle<Option<Note>>,
}

/// Makes the thread count for the last time.
#[derive(Debug, Clone)]
pub(super) struct LastCount(Sender<Order>);

impl Operations {
    /// The plan's source, asked for the first time; `None` without one, or for one that the kernel counts.
    pub fn open(plan: &Plan, printed: Option<Printed>, clock: Clock) -> Result<Option<Operations>> {
        let source = match (&plan.ops, printed) {
            (None, _) => return Ok(None),
            (Some(OpsSpec::Output { pattern, reads }), Some(printed)) => {
                Source::Printed(Box::new(Output::new(pattern, *reads, clock.now())?), printed)
            }
            (Some(OpsSpec::Output { .. }), None) => {
                return Err(Error::new(
                    ErrorKind::Usage,
                    "--ops regex reads what a command prints, and none is started",
                )
                .hint("Start it here: -- CMD. For something that runs: uprobe:, page:, file: or http:."));
            }
            (Some(spec), _) => match Polled::open(spec, clock.now())? {
                Some(polled) => Source::Polled(polled),
                None => return Ok(None),
            },
        };
        Ok(Some(Operations { source, clock }))
    }

    /// Starts the thread.
    pub fn start(self, interval: Nanos, out: SyncSender<Vec<Event>>) -> Result<CountedOperations> {
        let (orders, mailbox) = channel();
        let Operations { source, clock } = self;
        let run = move || {
            // The reader has gone: nothing is left to count for.
            let say = |total: Ops| out.send(vec![Event::Ops { at: clock.now(), total }]).is_ok();
            say(Ops(0));
            match source {
                Source::Polled(polled) => poll(polled, interval, clock, &say, &mailbox),
                Source::Printed(output, printed) => {
                    listen(*output, printed, clock, &say, &mailbox);
                    None
                }
            }
        };
        let thread = std::thread::Builder::new().name("operations".into()).spawn(run);
        Ok(CountedOperations { orders, thread: thread.context(|| "cannot start a thread")? })
    }
}

impl CountedOperations {
    pub fn last_reading(&self) -> LastCount {
        LastCount(self.orders.clone())
    }

    /// Waits for the thread; what could not be counted is told.
    pub fn finish(self) -> Option<Note> {
        drop(self.orders);
        self.thread.join().unwrap_or_default()
    }
}

impl LastCount {
    /// Returns when it has been counted for the last time; at once if that was before.
    pub fn take(&self) {
        let (read, done) = channel();
        if self.0.send(Order::Last { read }).is_ok() {
            // An error means the thread ended without answering: there is nothing to wait for.
            let _ = done.recv();
        }
    }
}

/// Asks once an interval until told to end.
fn poll(
    mut polled: Polled,
    interval: Nanos,
    clock: Clock,
    say: &dyn Fn(Ops) -> bool,
    mailbox: &Receiver<Order>,
) -> Option<Note> {
    let (mut asked, mut failed, mut reason) = (0u64, 0u64, None);
    loop {
        let order = match mailbox.recv_timeout(Duration::from_nanos(interval.0)) {
            Ok(order) => Some(order),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        asked += 1;
        match polled.read(clock.now()) {
            Ok(total) => drop(say(total)),
            Err(error) => {
                failed += 1;
                reason.get_or_insert(error.to_string());
            }
        }
        if let Some(Order::Last { read }) = order {
            // Who waits may have gone.
            let _ = read.send(());
            break;
        }
    }
    reason.map(|reason| Note {
        topic: "ops-gap".to_string(),
        text: format!("operations could not be counted {failed} of {asked} times: {reason}"),
        fix: None,
    })
}

/// Passes the output on and reads it, until it ends or nobody wants it any more.
fn listen(
    mut output: Output,
    mut printed: Printed,
    clock: Clock,
    say: &dyn Fn(Ops) -> bool,
    mailbox: &Receiver<Order>,
) {
    let mut lines = [Line::default(), Line::default()];
    let mut counting = true;
    let mut open = true;
    let mut over = false;
    while open && !over {
        open = printed.read(PATIENCE, &mut |stream, bytes| {
            pass_on(stream, bytes);
            if let Some(total) = output.read(&mut lines[stream], bytes, clock.now()).filter(|_| counting) {
                say(total);
            }
        });
        match mailbox.try_recv() {
            Ok(Order::Last { read }) => {
                // What a command has printed before its end is in the pipe: it belongs to the session.
                while open && drain(&mut printed, &mut output, &mut lines, clock) {}
                for line in &mut lines {
                    output.end(line, clock.now());
                }
                say(output.total());
                counting = false;
                let _ = read.send(());
            }
            Err(TryRecvError::Disconnected) => over = true,
            Err(TryRecvError::Empty) => {}
        }
    }
    if !counting {
        // The command has ended: nothing more comes than what lies in the pipes.
        while drain(&mut printed, &mut output, &mut lines, clock) {}
        return;
    }
    // All output has ended before the session: whoever waits for the last count gets it at once.
    for line in &mut lines {
        output.end(line, clock.now());
    }
    if let Ok(Order::Last { read }) = mailbox.recv() {
        say(output.total());
        let _ = read.send(());
    }
}

/// Takes what can be read at once; whether there was anything.
fn drain(printed: &mut Printed, output: &mut Output, lines: &mut [Line; 2], clock: Clock) -> bool {
    let mut any = false;
    printed.read(Nanos(0), &mut |stream, bytes| {
        any = true;
        pass_on(stream, bytes);
        output.read(&mut lines[stream], bytes, clock.now());
    });
    any
}

fn pass_on(stream: usize, bytes: &[u8]) {
    // Closed by whoever read it: the command's operations still count.
    let _ = if stream == 0 {
        let mut out = std::io::stdout().lock();
        out.write_all(bytes).and_then(|()| out.flush())
    } else {
        std::io::stderr().lock().write_all(bytes)
    };
}
