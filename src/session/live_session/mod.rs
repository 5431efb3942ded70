//! Keeps a session in bounded memory while users explore it. One thread owns the profile, adds events, and runs jobs on
//! the profile in between. A slow job delays only later jobs.
//!
//! The bound is [`Limit::bytes`] for events and definitions, of which the oldest quarter is dropped at the limit. Frames
//! and stacks that nothing refers to any more go with it, except the newest [`NEWEST`](crate::collect::sampler::NEWEST),
//! which the sampler may still refer to. Loaded symbols come on top, once per module.

mod handle;
mod history;
mod live_assessor;
mod numbers;
mod worker;

pub use handle::SessionHandle;
pub use history::{History, Limit};
pub use live_assessor::LiveAssessor;

use super::live::{LiveCapture, counters};
use super::recorder::Outcome;
use super::recorder::Recorder;
use super::remote::RemoteCapture;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::profile::{Profile, ProfileBuilder};
use crate::store::Writer;
use std::sync::mpsc::{Receiver, SyncSender, channel};
use std::thread::JoinHandle;
use worker::{HistoryWorker, Order};

/// Notifications of a live session, sent from its own thread.
#[derive(Debug)]
pub enum SessionEvent {
    /// A window ended, so there is new data.
    Fresh,
    /// The capture ended, and why. The history stays available.
    Ended(String),
    /// A failure that does not end the session.
    Failed(Error),
}

/// A session in memory, live or replayed.
#[derive(Debug)]
pub struct LiveSession {
    handle: SessionHandle,
    thread: JoinHandle<Result<Option<Outcome>>>,
}

impl LiveSession {
    /// Starts the capture and keeps its history. Also records everything into `output` if given. `assessor` compares its
    /// windows with a baseline on the session's thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn live(
        live: LiveCapture,
        output: Option<Writer>,
        limit: Limit,
        assessor: Option<LiveAssessor>,
        notify: impl FnMut(SessionEvent) + Send + 'static,
    ) -> Result<LiveSession> {
        let (flow, meta, clock) = live.start()?;
        let counters = counters(&meta);
        let mut recorder = output.map(|writer| Recorder::new(meta.clone(), writer, clock));
        let mut builder = ProfileBuilder::new(meta);
        if let Some(recorder) = &mut recorder {
            recorder.keep(&counters);
        }
        counters.into_iter().for_each(|event| builder.apply(event));
        let wake = Some(flow.waker());
        let history = History::live(builder, limit, clock, assessor);
        LiveSession::start(wake, move |orders| HistoryWorker::of(history, recorder, notify, orders).run_live(flow))
    }

    /// Keeps the history of a capture on another machine, as [`LiveSession::live`] does of one here.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn remote(
        remote: RemoteCapture,
        output: Option<Writer>,
        limit: Limit,
        assessor: Option<LiveAssessor>,
        notify: impl FnMut(SessionEvent) + Send + 'static,
    ) -> Result<LiveSession> {
        let (stream, meta, clock) = remote.start()?;
        let recorder = output.map(|writer| Recorder::new(meta.clone(), writer, clock));
        let wake = Some(stream.waker());
        let history = History::live(ProfileBuilder::new(meta), limit, clock, assessor).of_remote();
        LiveSession::start(wake, move |orders| HistoryWorker::of(history, recorder, notify, orders).run_live(stream))
    }

    /// Keeps a recording. No events are added.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn replay(profile: Profile, notify: impl FnMut(SessionEvent) + Send + 'static) -> Result<LiveSession> {
        let history = History::replay(profile);
        LiveSession::start(None, move |orders| {
            HistoryWorker::of(history, None, notify, orders).answer();
            Ok(None)
        })
    }

    fn start(
        wake: Option<SyncSender<Vec<crate::model::Event>>>,
        run: impl FnOnce(Receiver<Order>) -> Result<Option<Outcome>> + Send + 'static,
    ) -> Result<LiveSession> {
        let (orders, mailbox) = channel();
        let thread = std::thread::Builder::new().name("history".into()).spawn(move || run(mailbox));
        let thread = thread.context(|| "cannot start a thread")?;
        Ok(LiveSession { handle: SessionHandle { orders, wake }, thread })
    }

    /// Whether its thread runs. False only after a bug there, which [`LiveSession::finish`] reports.
    #[must_use]
    pub fn is_running(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Queues a job on the history, after all earlier requests.
    pub fn submit(&self, job: impl FnOnce(&mut History) + Send + 'static) {
        self.handle.submit(job);
    }

    /// A way to reach it from another thread.
    #[must_use]
    pub fn handle(&self) -> SessionHandle {
        self.handle.clone()
    }

    /// Sets a mark now.
    pub fn mark(&self, label: String) {
        self.handle.order(Order::Mark(label));
    }

    /// Ends the capture, including a started command, and finishes the recording on disk if there is one.
    ///
    /// # Errors
    /// The capture failed. A full disk is not an error: it is reported in the outcome.
    pub fn finish(self) -> Result<Option<Outcome>> {
        self.handle.order(Order::Finish);
        drop(self.handle);
        self.thread.join().unwrap_or_else(|_| Err(Error::new(ErrorKind::Io, "the session's thread failed")))
    }
}

#[cfg(test)]
mod soak;
#[cfg(test)]
mod tests;
