//! Waits for the signals that ask a session to end, on a thread of its own.
//! It never acts on one itself.

use crate::error::{Context, Result};
use crate::sys::signals::{self, Signal, Signals};

/// Tells when the process is asked to end.
#[derive(Debug)]
pub struct Watchman(());

impl Watchman {
    /// Blocks SIGINT, SIGTERM and SIGHUP for this thread and all it starts, and calls `tell` for each that comes. Start it
    /// before any other thread; it ends with the process.
    ///
    /// # Errors
    /// No descriptor or thread can be had.
    pub fn start(tell: impl Fn() + Send + 'static) -> Result<Watchman> {
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
        Ok(Watchman(()))
    }
}

/// Stops this process, as Ctrl-Z does, until somebody continues it.
pub fn suspend() {
    signals::suspend_self();
}
