//! The terminal's side of a running remote session: the same stream of events that a capture here yields.

use super::checked::Checked;
use super::wire::{self, ALIVE, Begin, End, Failure, Message, STOP, StreamEnd, malformed};
use crate::collect::sampler::{EndReason, Ended};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::model::limits::NAMES_SILENCE;
use crate::model::{Event, Meta, Note};
use crate::session::flow::{CaptureEnd, CaptureStep, EventStream, TIMEOUT};
use crate::sys::clock::Clock;
use crate::sys::remote_shell::RemoteShell;
use crate::units::Nanos;
use std::cell::Cell;
use std::io::{BufReader, Read, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

/// Messages that wait here; more wait in the link, and then on the host, which drops samples.
const BACKLOG: usize = 64;

/// The terminal's side says this often that it is there.
const EVERY: Duration = Duration::from_secs(1);

/// Time for the host to end its capture and to find the last names.
const STOP_PATIENCE: Nanos = Nanos(NAMES_SILENCE * 1_000_000_000);

/// Time for ssh to end after the host's side has.
const END_PATIENCE: Duration = Duration::from_secs(3);

/// A remote session that runs.
#[derive(Debug)]
pub(in crate::session) struct RemoteStream {
    /// Dropped first, so that the reader's thread does not wait for room.
    batches: Receiver<Vec<Event>>,
    wake: SyncSender<Vec<Event>>,
    link: Link,
    state: Arc<ReaderState>,
    begun: Meta,
    host: String,
    clock: Clock,
    /// When the end was asked for.
    stopped: OnceLock<Nanos>,
    /// Set if nobody wants the rest.
    left: Cell<bool>,
}

/// What the reader's thread leaves.
#[derive(Debug, Default)]
struct ReaderState {
    /// Set when everything has been handed on.
    over: AtomicBool,
    /// The end of the last window.
    last: AtomicU64,
    outcome: Mutex<Option<Result<End>>>,
}

/// The process of the connection, and the thread that tells the host that somebody is there.
#[derive(Debug)]
pub(super) struct Link {
    /// Dropped first: that ends the thread, and with it the host's standard input.
    orders: Option<Sender<()>>,
    pub shell: RemoteShell,
}

impl Link {
    /// Speaks to the host from now on.
    pub fn start(shell: RemoteShell, mut input: impl Write + Send + 'static) -> Result<Link> {
        let (orders, asked) = channel();
        let speak = move || {
            loop {
                let word = match asked.recv_timeout(EVERY) {
                    Ok(()) => STOP,
                    Err(RecvTimeoutError::Timeout) => ALIVE,
                    Err(RecvTimeoutError::Disconnected) => return,
                };
                // The host's side has ended, which its stream says too.
                if input.write_all(&[word]).and_then(|()| input.flush()).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("link".into()).spawn(speak).context(|| "cannot start a thread")?;
        Ok(Link { orders: Some(orders), shell })
    }

    fn stop(&self) {
        // Without a thread the host is gone.
        self.orders.iter().for_each(|orders| _ = orders.send(()));
    }

    fn end(&mut self) {
        self.orders = None;
        self.shell.end(END_PATIENCE);
    }
}

impl RemoteStream {
    /// Reads the rest of a stream whose session has begun.
    pub(super) fn start(
        link: Link,
        from: impl Read + Send + 'static,
        begun: &Begin,
        clock: Clock,
        host: String,
    ) -> Result<RemoteStream> {
        let (wake, batches) = sync_channel(BACKLOG);
        let state = Arc::new(ReaderState::default());
        let (to, kept) = (wake.clone(), state.clone());
        let read = move || {
            let outcome = read(BufReader::new(from), &to, &kept.last);
            *kept.outcome.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
            kept.over.store(true, Ordering::Release);
            // A full channel wakes the reader too.
            let _ = to.try_send(Vec::new());
        };
        std::thread::Builder::new().name("remote".into()).spawn(read).context(|| "cannot start a thread")?;
        let (begun, stopped, left) = (begun.meta.clone(), OnceLock::new(), Cell::new(false));
        Ok(RemoteStream { batches, wake, link, state, begun, host, clock, stopped, left })
    }

    /// A sender that wakes the reader with an empty batch.
    pub(in crate::session) fn waker(&self) -> SyncSender<Vec<Event>> {
        self.wake.clone()
    }

    fn gave_up(&self) -> bool {
        self.left.get() || self.stopped.get().is_some_and(|since| self.clock.now() > *since + STOP_PATIENCE)
    }

    fn lost(&self, why: &str) -> Error {
        Error::new(ErrorKind::Io, format!("the connection to {} was lost: {why}", self.host))
            .hint("What came before is kept.")
    }
}

/// Hands on events until the host says that the session has ended.
fn read(mut from: impl Read, to: &SyncSender<Vec<Event>>, last: &AtomicU64) -> Result<End> {
    let mut checked = Checked::default();
    loop {
        match wire::receive(&mut from)? {
            Some((Message::Events(mut events), bytes)) => {
                checked.check(&mut events, bytes)?;
                last.store(checked.last.0, Ordering::Release);
                to.send(events).map_err(|_| Error::new(ErrorKind::Io, "the session has ended"))?;
            }
            Some((Message::End(end), _)) if end.at >= checked.last => return Ok(*end),
            Some((Message::Failed(failure), _)) => return Err(failure.into_error()),
            Some(_) => return Err(malformed("a message out of place")),
            None => return Err(Error::new(ErrorKind::Io, "the host's side has ended")),
        }
    }
}

impl EventStream for RemoteStream {
    fn next(&self) -> CaptureStep {
        // Read before the channel: an empty channel ends the stream only if it was marked before.
        let over = self.state.over.load(Ordering::Acquire) || self.gave_up();
        match self.batches.recv_timeout(if over { Duration::ZERO } else { TIMEOUT }) {
            Ok(batch) => CaptureStep::Events(batch),
            Err(RecvTimeoutError::Timeout) if !over => CaptureStep::Quiet,
            Err(_) => CaptureStep::Over,
        }
    }

    /// The host sends them among the events.
    fn names(&self) -> Vec<Event> {
        Vec::new()
    }

    fn stop(&self, wants_rest: bool) {
        self.left.set(!wants_rest);
        if self.stopped.set(self.clock.now()).is_ok() {
            self.link.stop();
        }
    }

    fn failure(&mut self) -> Option<Error> {
        let outcome = self.state.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        match &*outcome {
            Some(Ok(_)) => None,
            _ if self.left.get() => None,
            Some(Err(error)) if error.kind() == ErrorKind::Io => Some(self.lost(&error.to_string())),
            Some(Err(error)) => Some(Failure::of(error).into_error().context(self.host.clone())),
            None => Some(self.lost("the host did not end its capture in time")),
        }
    }

    fn finish(mut self) -> Result<CaptureEnd> {
        let failure = self.failure();
        self.link.end();
        let ended = |reason, at, meta: &Meta| Ended {
            reason,
            at,
            sampled: at,
            samples: 0,
            coverage: meta.coverage.clone(),
            records: meta.records.clone(),
            exit_status: meta.exit_status,
            usage: None,
            notes: Vec::new(),
        };
        let outcome = self.state.outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (notes, conditions, ended) = match (outcome, failure) {
            (Some(Ok(End { meta, reason, at })), _) => {
                let reason = match reason {
                    StreamEnd::TargetGone => EndReason::TargetGone,
                    StreamEnd::Duration => EndReason::Duration,
                    StreamEnd::Stopped => EndReason::Stopped,
                };
                let ended = ended(reason, at, &meta);
                let notes = meta.notes.into_iter().filter(|note| !self.begun.notes.contains(note)).collect();
                (notes, meta.target.conditions, ended)
            }
            (_, failure) => {
                let at = Nanos(self.state.last.load(Ordering::Acquire));
                let reason = if failure.is_some() { EndReason::ConnectionLost } else { EndReason::Stopped };
                let note =
                    |error: Error| Note { topic: "connection-lost".to_string(), text: error.to_string(), fix: None };
                (failure.map(note).into_iter().collect(), None, ended(reason, at, &self.begun))
            }
        };
        Ok(CaptureEnd { late: Vec::new(), notes, conditions, ended })
    }
}
