//! A way to reach a session from any thread.

use super::History;
use super::worker::Order;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Event, OpsSpec, Plan};
use crate::session::operations::AddedOperations;
use crate::units::{Nanos, Ops};
use std::sync::mpsc::{Sender, SyncSender, channel};
use std::time::Duration;

/// The first values of a source come from at least this time, which is looked for this often within four times as long.
const FIRST: Nanos = Nanos(1_000_000_000);
const LOOKS: u32 = 40;

/// Reaches a session from any thread. What is asked after the session's end is dropped.
#[derive(Debug, Clone)]
pub struct SessionHandle {
    pub(super) orders: Sender<Order>,
    /// Wakes the session's thread from its wait for events; `None` for a recording.
    pub(super) wake: Option<SyncSender<Vec<Event>>>,
}

impl SessionHandle {
    /// Queues a job on the history, after all earlier requests.
    pub fn submit(&self, job: impl FnOnce(&mut History) + Send + 'static) {
        self.order(Order::Run(Box::new(job)));
    }

    /// Begins to count operations of the running target, in place of a source that was added before. Blocks until the
    /// first values of a second are there. Returns how many were counted in which time.
    ///
    /// # Errors
    /// `Usage` for a recording, for a source of the session's start, and for one that this target cannot have; any error
    /// of opening it.
    pub fn count_operations(&self, spec: OpsSpec) -> Result<(Ops, Nanos)> {
        if self.ask(History::is_remote)? {
            return Err(Error::new(ErrorKind::Usage, "operations on another machine are counted from the start")
                .hint("Start the session with --ops."));
        }
        let asked = self.ask(|history| Some((history.profile().meta.plan.clone(), history.clock()?)))?;
        let (Some((plan, clock)), Some(wake)) = (asked, self.wake.clone()) else {
            return Err(Error::new(
                ErrorKind::Usage,
                "operations are counted while a target runs, and this one does not",
            ));
        };
        let interval = plan.interval;
        let added = AddedOperations::start(&Plan { ops: Some(spec), ..plan }, clock, wake)?;
        let (reply, accepted) = channel();
        self.order(Order::Count(added, reply));
        accepted.recv().map_err(|_| ended())??;
        let mut seen = (Ops(0), Nanos(0));
        for _ in 0..LOOKS {
            std::thread::sleep(Duration::from_nanos(FIRST.0.max(interval.0)) / (LOOKS / 4));
            seen = self
                .ask(|history| {
                    let ops = &history.profile().ops;
                    let ((from, before), (to, now)) = (*ops.first()?, *ops.last()?);
                    Some((Ops(now.0.saturating_sub(before.0)), to - from))
                })?
                .unwrap_or(seen);
            if seen.1 >= FIRST {
                break;
            }
        }
        Ok(seen)
    }

    /// The answer to a question about the history.
    fn ask<T: Send + 'static>(&self, question: impl FnOnce(&History) -> T + Send + 'static) -> Result<T> {
        let (reply, answer) = channel();
        self.submit(move |history| _ = reply.send(question(history)));
        answer.recv().map_err(|_| ended())
    }

    pub(super) fn order(&self, order: Order) {
        // The thread has ended only after a failure, which the session's end reports.
        let _ = self.orders.send(order);
        if let Some(wake) = &self.wake {
            // A full channel means that the thread is busy; it polls its orders after each batch anyway.
            let _ = wake.try_send(Vec::new());
        }
    }
}

fn ended() -> Error {
    Error::new(ErrorKind::NotFound, "the session has ended")
}
