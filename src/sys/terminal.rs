//! The terminal and the standard streams: width, copies, redirection, and whether their readers are gone.
//! The terminal's settings stay unchanged.

use super::signals::Signals;
use crate::error::{Context, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, Stdio};

/// Columns of the terminal behind `fd`; `None` if it is not a terminal or does not report its width.
pub fn columns(fd: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(fd).ok()?;
    (size.ws_col > 0).then_some(usize::from(size.ws_col))
}

/// Lines of the terminal behind `fd`; `None` if it is not a terminal or does not report its height.
pub fn rows(fd: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(fd).ok()?;
    (size.ws_row > 0).then_some(usize::from(size.ws_row))
}

/// Gives bytes to a pager, a command for the shell, and waits until it ends. Returns whether there was such a command.
/// Meanwhile Ctrl-C is the pager's: ended before it, this process would leave it behind without a terminal.
///
/// # Errors
/// The shell cannot be started.
pub fn page(pager: &str, bytes: &[u8]) -> Result<bool> {
    const NOT_FOUND: i32 = 127;
    let mut signals = Signals::block()?;
    let mut command = Command::new("sh");
    command.arg("-c").arg(pager).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        // Colours, no clearing of the screen, an end where all fits.
        command.env("LESS", "FRX");
    }
    let mut child = command.spawn().context(|| format!("cannot start {pager}"))?;
    if let Some(mut pipe) = child.stdin.take() {
        // A pager that is left early reads no further.
        let _ = pipe.write_all(bytes);
    }
    let ended = child.wait().context(|| format!("cannot wait for {pager}"))?;
    while signals.take().is_some() {}
    Ok(ended.code() != Some(NOT_FOUND))
}

/// Copies of this process's standard output and standard error.
pub(super) fn outputs() -> std::io::Result<[OwnedFd; 2]> {
    let copy = |fd: std::os::fd::BorrowedFd<'_>| rustix::io::fcntl_dupfd_cloexec(fd, 3);
    Ok([copy(std::io::stdout().as_fd())?, copy(std::io::stderr().as_fd())?])
}

/// Returns the standard output for our own lines. With `shared`, all other output to it, above all that of a started
/// command, goes to the standard error from now on.
///
/// # Errors
/// No descriptor is left, or there is no standard error to share.
pub fn own_output(shared: bool) -> Result<File> {
    let split = || -> std::io::Result<File> {
        let own = rustix::io::fcntl_dupfd_cloexec(std::io::stdout().as_fd(), 3)?;
        if shared {
            rustix::stdio::dup2_stdout(std::io::stderr())?;
        }
        Ok(File::from(own))
    };
    split().context(|| "cannot keep the standard output apart")
}

/// Takes standard input and output for our own use. Other input is empty from now on, and other output, above all that of a
/// started command, goes to the standard error.
///
/// # Errors
/// No descriptor is left, or there is no standard error to share.
pub fn take_streams() -> Result<(File, File)> {
    let output = own_output(true)?;
    let take = || -> std::io::Result<File> {
        let input = rustix::io::fcntl_dupfd_cloexec(std::io::stdin().as_fd(), 3)?;
        rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
        Ok(File::from(input))
    };
    Ok((take().context(|| "cannot keep the standard input apart")?, output))
}

/// A copy of the standard error, for the output of another program.
///
/// # Errors
/// No descriptor is left.
pub fn error_output() -> Result<OwnedFd> {
    rustix::io::fcntl_dupfd_cloexec(std::io::stderr().as_fd(), 3)
        .map_err(std::io::Error::from)
        .context(|| "cannot copy the standard error")
}

/// Whether the reader of `fd` is gone: the other end of a pipe is closed, or the terminal hung up.
pub fn reader_gone(fd: impl AsFd) -> bool {
    let mut fds = [PollFd::new(&fd, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok() && fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

/// Whether `fd` accepts 4096 bytes without blocking, or fails at once. Waits for that up to `milliseconds`.
pub fn takes_more(fd: impl AsFd, milliseconds: u32) -> bool {
    let mut fds = [PollFd::new(&fd, PollFlags::OUT)];
    let nanoseconds = i64::from(milliseconds % 1000) * 1_000_000;
    let at_most = Timespec { tv_sec: i64::from(milliseconds / 1000), tv_nsec: nanoseconds };
    rustix::io::retry_on_intr(|| poll(&mut fds, Some(&at_most))).is_ok_and(|ready| ready > 0)
}

/// This process's standard streams while they are redirected, also for programs it starts: input is empty, and output
/// goes to a file. Dropping it restores the streams.
#[derive(Debug)]
pub struct RedirectedStreams {
    streams: [OwnedFd; 3],
}

/// Redirects the standard streams, so that only the session touches the terminal it draws on.
///
/// # Errors
/// No descriptor is left.
pub fn redirect_streams(output: &File) -> Result<RedirectedStreams> {
    let keep = || -> std::io::Result<RedirectedStreams> {
        let copy = |fd: std::os::fd::BorrowedFd<'_>| rustix::io::fcntl_dupfd_cloexec(fd, 3);
        let (stdin, stdout, stderr) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
        let redirected =
            RedirectedStreams { streams: [copy(stdin.as_fd())?, copy(stdout.as_fd())?, copy(stderr.as_fd())?] };
        rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
        rustix::stdio::dup2_stdout(output)?;
        rustix::stdio::dup2_stderr(output)?;
        Ok(redirected)
    };
    keep().context(|| "cannot put the standard streams aside")
}

impl RedirectedStreams {
    /// The terminal behind the original standard output, to draw on.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn terminal(&self) -> Result<File> {
        let copy = self.streams[1].try_clone().context(|| "cannot open the terminal a second time")?;
        Ok(File::from(copy))
    }
}

impl Drop for RedirectedStreams {
    fn drop(&mut self) {
        let [stdin, stdout, stderr] = &self.streams;
        // The descriptors are open, so this cannot fail, and at exit there is nobody to report to.
        let _ = rustix::stdio::dup2_stdin(stdin);
        let _ = rustix::stdio::dup2_stdout(stdout);
        let _ = rustix::stdio::dup2_stderr(stderr);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_full_pipe_takes_no_more_and_one_without_a_reader_fails_at_once() {
        let (read, mut write) = std::io::pipe().unwrap();
        let mut written = 0;
        while takes_more(&write, 0) {
            std::io::Write::write_all(&mut write, &[0; 4096]).unwrap();
            written += 4096;
        }
        assert!(written >= 4096);
        assert!(!takes_more(&write, 1));
        drop(read);
        assert!(takes_more(&write, 1));
    }

    #[test]
    fn a_file_has_no_columns() {
        assert_eq!(std::fs::File::open("/dev/null").ok().and_then(columns), None);
    }

    #[test]
    fn a_pipe_tells_when_its_reader_has_gone_and_a_file_never_does() {
        let (read, write) = std::io::pipe().unwrap();
        assert!(!reader_gone(&write));
        drop(read);
        assert!(reader_gone(&write));
        assert!(!reader_gone(File::options().write(true).open("/dev/null").unwrap()));
    }
}
