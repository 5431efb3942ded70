//! A command that runs beside the target of a capture, as in `-a -- sleep 5`: the capture ends when it does.

use crate::error::{Context, Result};
use crate::sys::signals::StopToken;
use crate::sys::spawn::Started;
use crate::units::Nanos;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// The command's end is noticed at once, that of the capture after this time at most.
const LOOK: Nanos = Nanos(50_000_000);
/// Time after SIGTERM for a command that outlives the capture.
const GRACE: Nanos = Nanos(5_000_000_000);

/// The running command.
#[derive(Debug)]
pub(super) struct CommandBeside {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Option<i32>>,
}

impl CommandBeside {
    /// Lets a started command run; its end triggers `stop`.
    ///
    /// # Errors
    /// The command cannot be executed.
    pub(super) fn start(mut command: Started, stop: StopToken) -> Result<CommandBeside> {
        command.release()?;
        let over = Arc::new(AtomicBool::new(false));
        let seen = over.clone();
        let wait = move || {
            while !seen.load(Ordering::Relaxed) {
                if let Some(status) = command.wait_for(LOOK) {
                    stop.stop();
                    return Some(status);
                }
            }
            command.forward(false);
            command.wait_for(GRACE);
            None
        };
        let thread = std::thread::Builder::new().name("clock".into()).spawn(wait);
        Ok(CommandBeside { over, thread: thread.context(|| "cannot start a thread")? })
    }

    /// Terminates the command if it still runs. Returns its exit code, or 128 plus the signal, if it ended by itself.
    pub(super) fn finish(self) -> Option<i32> {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().ok().flatten()
    }
}
