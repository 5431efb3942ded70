//! Holds a session in bounded memory while people look at it: one thread owns the profile, takes events in, and runs jobs
//! on it in between. It never makes anybody wait for a job but the next job.
//!
//! The bound is [`Limit::bytes`] of events and definitions, of which the oldest quarter goes when it is reached, and what the
//! sampler knows of stacks, which is bounded by their number. Symbols that were loaded come on top, once per module.

mod holding;
mod judging;
mod keeping;

pub use holding::{Holding, Limit};
pub use judging::Judging;

use super::live::{Live, Outcome, counters};
use super::recorder::Recorder;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::profile::{Profile, ProfileBuilder};
use crate::store::Writer;
use keeping::{Keeping, Order};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel};
use std::thread::JoinHandle;

/// What a keeper tells, from its own thread.
#[derive(Debug)]
pub enum News {
    /// A window ended: there is something new to look at.
    Fresh,
    /// The capture is over, and why; what is held stays.
    Ended(String),
    /// Something failed that the session can go on without.
    Failed(Error),
}

/// A session that is held.
#[derive(Debug)]
pub struct Keeper {
    orders: Sender<Order>,
    /// Wakes the thread out of its wait for events; `None` on a recording.
    wake: Option<SyncSender<Vec<crate::model::Event>>>,
    thread: JoinHandle<Result<Option<Outcome>>>,
}

impl Keeper {
    /// Starts the capture and holds it, recording all of it into `output` as well if there is one. Its windows are held
    /// against a baseline by `judging`, on the keeper's thread.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn live(
        live: Live,
        output: Option<Writer>,
        limit: Limit,
        judging: Option<Judging>,
        tell: impl FnMut(News) + Send + 'static,
    ) -> Result<Keeper> {
        let (flow, meta, clock) = live.start()?;
        let counters = counters(&meta);
        let mut recorder = output.map(|writer| Recorder::new(meta.clone(), writer, clock));
        let mut builder = ProfileBuilder::new(meta);
        if let Some(recorder) = &mut recorder {
            recorder.keep(&counters);
        }
        counters.into_iter().for_each(|event| builder.apply(event));
        let wake = Some(flow.waker());
        let held = Holding::live(builder, limit, clock, judging);
        Keeper::start(wake, move |orders| {
            Keeping { held, recorder, tell: Box::new(tell), orders, told: false }.run_live(flow)
        })
    }

    /// Holds a recording; nothing comes to it any more.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn replay(profile: Profile, tell: impl FnMut(News) + Send + 'static) -> Result<Keeper> {
        let held = Holding::replay(profile);
        Keeper::start(None, move |orders| {
            let mut keeping = Keeping { held, recorder: None, tell: Box::new(tell), orders, told: false };
            keeping.answer();
            Ok(None)
        })
    }

    fn start(
        wake: Option<SyncSender<Vec<crate::model::Event>>>,
        run: impl FnOnce(Receiver<Order>) -> Result<Option<Outcome>> + Send + 'static,
    ) -> Result<Keeper> {
        let (orders, mailbox) = channel();
        let thread = std::thread::Builder::new().name("keeper".into()).spawn(move || run(mailbox));
        Ok(Keeper { orders, wake, thread: thread.context(|| "cannot start a thread")? })
    }

    /// Whether it still takes events in and answers; false only after a defect of its thread, which [`Keeper::finish`] tells.
    #[must_use]
    pub fn is_running(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Runs a job on what is held, after those asked for before.
    pub fn look(&self, job: impl FnOnce(&Holding) + Send + 'static) {
        self.order(Order::Look(Box::new(job)));
    }

    /// Sets a mark now.
    pub fn mark(&self, label: String) {
        self.order(Order::Mark(label));
    }

    /// Ends the capture, a started command included, and finishes the recording on disk if there is one.
    ///
    /// # Errors
    /// The capture failed. A full disk is no such error: it is told in the outcome.
    pub fn finish(self) -> Result<Option<Outcome>> {
        self.order(Order::Finish);
        drop((self.orders, self.wake));
        self.thread.join().unwrap_or_else(|_| Err(Error::new(ErrorKind::Io, "the keeper's thread failed")))
    }

    fn order(&self, order: Order) {
        // The thread is gone only after a failure, which `finish` tells.
        let _ = self.orders.send(order);
        if let Some(wake) = &self.wake {
            // Full means busy: the thread looks at its orders after each batch anyway.
            let _ = wake.try_send(Vec::new());
        }
    }
}
