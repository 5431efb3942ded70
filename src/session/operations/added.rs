//! Operations that a running session begins to count: opened and read apart from its capture, by the same clock.

use super::counted;
use super::outlet::{CountOnceMore, LastCount, Outlet};
use super::polling::Polling;
use crate::collect::sampler::RunningOperations;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::{Event, Note, OpsSpec, Plan};
use crate::sys::clock::Clock;
use crate::units::Nanos;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// A source that counts until it is finished.
#[derive(Debug)]
pub(in crate::session) struct AddedOperations {
    /// What it counts.
    pub spec: OpsSpec,
    /// What is to be known of it.
    pub notes: Vec<Note>,
    orders: Sender<CountOnceMore>,
    thread: JoinHandle<LastCount>,
}

enum Source {
    Kernel(RunningOperations),
    Polled(Polling),
}

impl AddedOperations {
    /// Opens the plan's source on its running target, and sends its totals to `out`, the first at once.
    ///
    /// # Errors
    /// `Usage` without a source or for one that this target cannot have; any error of opening it.
    pub fn start(plan: &Plan, clock: Clock, out: SyncSender<Vec<Event>>) -> Result<AddedOperations> {
        counted::check(plan)?;
        let spec = plan.ops.clone();
        let spec = spec.filter(|spec| !matches!(spec, OpsSpec::Output { .. })).ok_or_else(|| {
            Error::new(ErrorKind::Usage, "what a command prints is read from its start")
                .hint("Start it again: ironlaw top --ops 'regex:...' -- CMD")
        })?;
        let mut notes = Vec::new();
        let source = match RunningOperations::open(plan, &mut notes)? {
            Some(counted) => Source::Kernel(counted),
            None => Source::Polled(Polling::open(&spec, false, clock)?.ok_or_else(|| {
                Error::new(ErrorKind::Unsupported, format!("{} cannot be counted here", spec.label()))
            })?),
        };
        let (orders, mailbox) = channel();
        let (interval, outlet) = (plan.interval, Outlet::new(out));
        let run = move || match source {
            Source::Kernel(counted) => read(counted, interval, clock, outlet, &mailbox),
            Source::Polled(polling) => polling.run(interval, outlet, &mailbox),
        };
        let thread = std::thread::Builder::new().name("operations".into()).spawn(run);
        Ok(AddedOperations { spec, notes, orders, thread: thread.context(|| "cannot start a thread")? })
    }

    /// Counts once more, and ends. Returns what it has not sent.
    pub fn finish(self) -> (Vec<Event>, Vec<Note>) {
        // An error means that the thread has ended.
        let _ = self.orders.send(CountOnceMore);
        let last = self.thread.join().unwrap_or_default();
        (last.points.into_iter().map(|(at, total)| Event::Ops { at, total }).collect(), last.notes)
    }
}

/// Reads what the kernel counts at each interval.
fn read(
    mut counted: RunningOperations,
    interval: Nanos,
    clock: Clock,
    mut outlet: Outlet,
    mailbox: &Receiver<CountOnceMore>,
) -> LastCount {
    loop {
        outlet.send(counted.read(clock.now()));
        match mailbox.recv_timeout(Duration::from_nanos(interval.0)) {
            Err(RecvTimeoutError::Timeout) => {}
            Ok(CountOnceMore) => {
                let last = counted.read(clock.now());
                return LastCount {
                    points: vec![last],
                    holds_to_end: true,
                    notes: counted.verdict(),
                    ..LastCount::default()
                };
            }
            Err(RecvTimeoutError::Disconnected) => return LastCount::default(),
        }
    }
}
