//! A command that runs beside the target of a capture, as in `-a -- sleep 5`: the capture ends when it does.

use crate::error::{Context, Result};
use crate::sys::signals::StopToken;
use crate::sys::spawn::{self, Started};
use crate::sys::tee::CommandOutput;
use crate::units::Nanos;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// The command's end is noticed at once, that of the capture after this time at most.
const LOOK: Nanos = Nanos(50_000_000);
/// Time after SIGTERM for a command that outlives the capture.
const GRACE: Nanos = Nanos(5_000_000_000);

/// The command, if there is one.
#[derive(Debug, Default)]
pub(super) struct CommandBeside {
    waiting: Option<Started>,
    running: Option<Running>,
}

#[derive(Debug)]
struct Running {
    over: Arc<AtomicBool>,
    thread: JoinHandle<Option<i32>>,
}

impl CommandBeside {
    /// Starts the command, which waits until it may begin.
    ///
    /// # Errors
    /// Those of [`spawn::start`].
    pub(super) fn start(command: &[String]) -> Result<CommandBeside> {
        Ok(CommandBeside { waiting: Some(spawn::start(command)?), running: None })
    }

    /// Like [`CommandBeside::start`], with its output.
    ///
    /// # Errors
    /// Those of [`spawn::start_read`].
    pub(super) fn start_read(command: &[String]) -> Result<(CommandBeside, CommandOutput)> {
        let (command, output) = spawn::start_read(command)?;
        Ok((CommandBeside { waiting: Some(command), running: None }, output))
    }

    /// Lets it run unless it does already; its end triggers `stop`.
    ///
    /// # Errors
    /// The command cannot be executed.
    pub(super) fn begin(&mut self, stop: &StopToken) -> Result<()> {
        let Some(mut command) = self.waiting.take() else { return Ok(()) };
        command.release()?;
        let over = Arc::new(AtomicBool::new(false));
        let (seen, stop) = (over.clone(), stop.clone());
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
        self.running = Some(Running { over, thread: thread.context(|| "cannot start a thread")? });
        Ok(())
    }

    /// Terminates the command if it still runs. Returns its exit code, or 128 plus the signal, if it ended by itself.
    pub(super) fn finish(self) -> Option<i32> {
        let Running { over, thread } = self.running?;
        over.store(true, Ordering::Relaxed);
        thread.join().ok().flatten()
    }
}
