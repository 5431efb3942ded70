//! Waits on a separate thread for the signals that end a session, and forwards them to a callback.

use crate::error::{Context, Result};
use crate::sys::signals::{self, Signal, Signals};

/// Reports signals that ask the process to end.
#[derive(Debug)]
pub struct SignalThread(());

impl SignalThread {
    /// Blocks SIGINT, SIGTERM and SIGHUP for this thread and all threads it starts, and calls `tell` for each that
    /// arrives. Start it before any other thread. It runs until the process ends.
    ///
    /// # Errors
    /// A descriptor or thread could not be created.
    pub fn start(tell: impl Fn() + Send + 'static) -> Result<SignalThread> {
        let mut signals = Signals::block()?;
        let watch = move || {
            while signals.wait().is_ok() {
                while let Some(signal) = signals.take() {
                    if signal != Signal::Child {
                        tell();
                    }
                }
            }
        };
        std::thread::Builder::new().name("signals".into()).spawn(watch).context(|| "cannot start a thread")?;
        Ok(SignalThread(()))
    }
}

/// Stops this process, as Ctrl-Z does, until it is continued.
pub fn suspend() {
    signals::suspend_self();
}
