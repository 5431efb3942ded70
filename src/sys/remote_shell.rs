//! Runs a command on another machine by ssh, or by the program that stands for it, with pipes for its standard streams.

use crate::error::{Context, Result};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;

/// Time between two looks at whether it has ended.
const LOOK: Duration = Duration::from_millis(10);

/// A running ssh. It is terminated when dropped.
#[derive(Debug)]
pub struct RemoteShell {
    child: Child,
}

/// The pipes to the command on the other machine.
#[derive(Debug)]
pub struct RemotePipes {
    /// Its standard input.
    pub input: ChildStdin,
    /// Its standard output.
    pub output: ChildStdout,
    /// Its standard error, with the messages of ssh.
    pub errors: ChildStderr,
}

impl RemoteShell {
    /// Starts `program`. It shares the terminal, so that it can ask for a password, but Ctrl-C does not end it: the caller
    /// still needs it for the last data.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn start(program: &OsStr, arguments: &[OsString]) -> Result<(RemoteShell, RemotePipes)> {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // SAFETY: it only blocks a signal in the child, which is async-signal-safe; the mask outlives `exec`.
        unsafe { command.pre_exec(block_interrupt) };
        let mut child = command.spawn().context(|| format!("cannot start {}", program.to_string_lossy()))?;
        let missing = || io::Error::other("a pipe is missing");
        let pipes = RemotePipes {
            input: child.stdin.take().ok_or_else(missing)?,
            output: child.stdout.take().ok_or_else(missing)?,
            errors: child.stderr.take().ok_or_else(missing)?,
        };
        Ok((RemoteShell { child }, pipes))
    }

    /// How it ended, if it ends within this time.
    pub fn ended(&mut self, within: Duration) -> Option<ExitStatus> {
        let mut left = within;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if !left.is_zero() => {}
                _ => return None,
            }
            let pause = left.min(LOOK);
            std::thread::sleep(pause);
            left -= pause;
        }
    }

    /// Waits this long for its end, then ends it.
    pub fn end(&mut self, within: Duration) {
        if self.ended(within).is_some() {
            return;
        }
        // It restores the terminal on SIGTERM, if it waits for a password.
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        }
        if self.ended(Duration::from_secs(1)).is_none() {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

impl Drop for RemoteShell {
    fn drop(&mut self) {
        self.end(Duration::ZERO);
    }
}

fn block_interrupt() -> io::Result<()> {
    let mut set = std::mem::MaybeUninit::uninit();
    // SAFETY: `sigemptyset` initialises the set; all three calls are async-signal-safe.
    let refused = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGINT);
        libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut())
    };
    if refused == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
