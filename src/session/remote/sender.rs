//! The host's side: captures, and sends the events as long as somebody listens.

use super::outbox::Outbox;
use super::wire::{self, ALIVE, Begin, End, Failure, STOP, StreamEnd};
use crate::collect::sampler::EndReason;
use crate::error::{Context, Error, Result};
use crate::model::limits::REMOTE_SILENCE;
use crate::session::flow::CaptureStep;
use crate::session::live::{LiveCapture, RunningParts, counters};
use crate::session::recorder::add_capture_end;
use crate::sys::clock::Clock;
use crate::sys::signals::{Signal, Signals};
use crate::units::Nanos;
use std::fs::File;
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Time for the last messages, once the capture is over.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// The host's end of a remote session.
#[derive(Debug)]
pub struct StreamSender {
    outbox: Outbox,
    listener: Arc<Listener>,
    clock: Clock,
    /// Keeps signals from the threads above, until the capture takes them.
    _signals: Signals,
}

/// What the terminal's side has said.
#[derive(Debug, Default)]
struct Listener {
    /// When it last said anything.
    heard: AtomicU64,
    stop: AtomicBool,
    gone: AtomicBool,
}

impl StreamSender {
    /// Says which format and version this is, and listens to the terminal's side from now on.
    ///
    /// # Errors
    /// The output is closed, or a thread cannot be started.
    pub fn start(input: File, mut output: File) -> Result<StreamSender> {
        // Before any thread starts, so that no thread is killed by a signal.
        let signals = Signals::block()?;
        output.write_all(wire::greeting().as_bytes()).context(|| "cannot write the stream")?;
        let (listener, clock) = (Arc::new(Listener::default()), Clock::start());
        let hears = listener.clone();
        let listen = move || hears.listen(input, clock);
        std::thread::Builder::new().name("listener".into()).spawn(listen).context(|| "cannot start a thread")?;
        Ok(StreamSender { outbox: Outbox::start(output)?, listener, clock, _signals: signals })
    }

    /// Sends a failure in place of the rest of the stream.
    pub fn fail(self, error: &Error) {
        if let Ok(frame) = wire::failed(&Failure::of(error)) {
            self.outbox.send_last(frame);
        }
        self.outbox.finish(LAST_WORDS);
    }

    /// Captures until the target ends, or nobody listens any more. A failure is sent to the terminal's side too.
    ///
    /// # Errors
    /// The capture failed, or the link was too slow.
    pub fn run(self, live: LiveCapture) -> Result<()> {
        match self.send(live) {
            Ok(()) => {
                let patience = if self.is_gone() { Duration::ZERO } else { LAST_WORDS };
                self.outbox.finish(patience);
                Ok(())
            }
            Err(error) => {
                let copy = Failure::of(&error).into_error();
                self.fail(&error);
                Err(copy)
            }
        }
    }

    fn send(&self, live: LiveCapture) -> Result<()> {
        let RunningParts { flow, mut meta, clock, mut signals } = live.start_with_signals()?;
        self.outbox.send(wire::begin(&Begin { meta: meta.clone(), now: clock.now() })?)?;
        self.outbox.send_events(&counters(&meta))?;
        loop {
            if self.is_gone() {
                // Nobody waits for the last names; dropping the capture ends it.
                return Ok(());
            }
            while let Some(signal) = signals.take() {
                if signal != Signal::Child {
                    flow.stop().stop();
                }
            }
            if self.listener.stop.load(Ordering::Acquire) {
                flow.stop().stop();
            }
            match flow.next() {
                CaptureStep::Events(events) => self.outbox.send_events(&events)?,
                CaptureStep::Quiet => {}
                CaptureStep::Over => break,
            }
            self.outbox.send_events(&flow.names())?;
        }
        let last = flow.finish(|| false)?;
        self.outbox.send_events(&last.late)?;
        add_capture_end(&mut meta, &last);
        let reason = match last.ended.reason {
            EndReason::TargetGone => StreamEnd::TargetGone,
            EndReason::Duration => StreamEnd::Duration,
            EndReason::Stopped | EndReason::ReaderGone | EndReason::ConnectionLost => StreamEnd::Stopped,
        };
        self.outbox.send(wire::end(&End { meta, reason, at: last.ended.at })?)
    }

    /// Whether nobody listens any more.
    fn is_gone(&self) -> bool {
        let heard = Nanos(self.listener.heard.load(Ordering::Acquire));
        let silence = self.clock.now().0.saturating_sub(heard.0);
        self.outbox.is_over()
            || self.listener.gone.load(Ordering::Acquire)
            || silence > REMOTE_SILENCE.saturating_mul(1_000_000_000)
    }
}

impl Listener {
    fn listen(&self, mut input: File, clock: Clock) {
        let mut bytes = [0; 256];
        loop {
            match input.read(&mut bytes) {
                Ok(length) if length > 0 => {
                    let said = &bytes[..length];
                    self.heard.store(clock.now().0, Ordering::Release);
                    self.stop.fetch_or(said.contains(&STOP), Ordering::AcqRel);
                    if said.iter().any(|byte| *byte != STOP && *byte != ALIVE) {
                        break;
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                _ => break,
            }
        }
        self.gone.store(true, Ordering::Release);
    }
}
