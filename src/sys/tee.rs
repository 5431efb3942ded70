//! Forwards a command's output from its pipes to where this process prints, unchanged and in order.

use crate::error::{Context, Result};
use crate::units::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::fd::{AsFd, OwnedFd};

/// The output pipes of a command: stream 0 is its standard output, stream 1 its standard error.
#[derive(Debug)]
pub struct CommandOutput {
    streams: [Option<OwnedFd>; 2],
}

impl CommandOutput {
    pub(super) fn new(streams: [OwnedFd; 2]) -> CommandOutput {
        CommandOutput { streams: streams.map(Some) }
    }

    /// Waits at most `patience` for output and passes it to `take` with the stream's number; at the end of a stream it
    /// passes no bytes. Returns whether there was anything.
    pub fn read(&mut self, patience: Nanos, take: &mut dyn FnMut(usize, &[u8])) -> bool {
        let open: Vec<usize> = (0..2).filter(|at| self.streams[*at].is_some()).collect();
        let mut fds: Vec<_> = self.streams.iter().flatten().map(|stream| PollFd::new(stream, PollFlags::IN)).collect();
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::try_from(patience.0.min(999_999_999)).unwrap_or(0) };
        // Interrupted or timed out: only the readable streams count.
        let _ = poll(&mut fds, Some(&timeout));
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        let mut bytes = [0u8; 1 << 16];
        let mut any = false;
        for (at, _) in open.into_iter().zip(ready).filter(|(_, ready)| *ready) {
            let Some(stream) = &self.streams[at] else { continue };
            any = true;
            match rustix::io::retry_on_intr(|| rustix::io::read(stream, &mut bytes)) {
                Ok(count) if count > 0 => take(at, &bytes[..count]),
                _ => {
                    self.streams[at] = None;
                    take(at, &[]);
                }
            }
        }
        any
    }

    /// Whether more output can come.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.streams.iter().any(Option::is_some)
    }

    /// Stops reading this stream. The command then sees a closed pipe, as if nothing stood in between.
    pub fn close(&mut self, stream: usize) {
        self.streams[stream] = None;
    }
}

/// Where this process prints: stream 0 is its standard output, stream 1 its standard error.
#[derive(Debug)]
pub struct OutputStreams {
    streams: [File; 2],
}

impl OutputStreams {
    /// Copies the current standard streams.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn open() -> Result<OutputStreams> {
        let [out, err] = super::terminal::outputs().context(|| "cannot copy the standard streams")?;
        Ok(OutputStreams { streams: [File::from(out), File::from(err)] })
    }

    /// Writes all bytes, however slow the reader is.
    ///
    /// # Errors
    /// `BrokenPipe` when the reader is gone; otherwise as `write(2)`.
    pub fn write(&mut self, stream: usize, mut bytes: &[u8]) -> io::Result<()> {
        let file = &mut self.streams[stream];
        while !bytes.is_empty() {
            match file.write(bytes) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // Another process that shares the stream has made it non-blocking.
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let _ = poll(&mut [PollFd::new(&file.as_fd(), PollFlags::OUT)], None);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use rustix::pipe::{PipeFlags, pipe_with};
    use std::io::Read;

    const SECOND: Nanos = Nanos(999_999_999);

    #[test]
    fn bytes_come_by_stream_until_both_have_ended() {
        let [(out, to_out), (err, to_err)] =
            [pipe_with(PipeFlags::CLOEXEC).unwrap(), pipe_with(PipeFlags::CLOEXEC).unwrap()];
        let mut printed = CommandOutput::new([out, err]);
        assert!(!printed.read(Nanos(0), &mut |_, _| panic!("nothing was printed")));
        rustix::io::write(&to_err, b"e\0\xff").unwrap();
        let mut seen = Vec::new();
        assert!(printed.read(SECOND, &mut |at, bytes| seen.push((at, bytes.to_vec()))));
        drop(to_out);
        assert!(printed.read(SECOND, &mut |at, bytes| seen.push((at, bytes.to_vec()))) && printed.is_open());
        assert_eq!(seen, [(1, b"e\0\xff".to_vec()), (0, vec![])]);
        printed.close(1);
        assert!(!printed.is_open());
        // SIGPIPE is ignored here, so further writes return an error.
        assert_eq!(rustix::io::write(&to_err, b"x").unwrap_err(), rustix::io::Errno::PIPE);
    }

    #[test]
    fn a_reader_that_is_slow_gets_everything_and_one_that_has_gone_is_told_apart() {
        let (from, to) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).unwrap();
        rustix::io::ioctl_fionbio(&from, false).unwrap();
        let null = File::options().write(true).open("/dev/null").unwrap();
        let mut passed_on = OutputStreams { streams: [File::from(to), null] };
        let written = vec![b'x'; 300_000];
        let reader = std::thread::spawn(move || {
            let mut all = vec![0; 300_000];
            File::from(from).read_exact(&mut all).unwrap();
            all
        });
        passed_on.write(0, &written).unwrap();
        passed_on.write(1, &written).unwrap();
        assert_eq!(reader.join().unwrap(), written);
        assert_eq!(passed_on.write(0, b"more").unwrap_err().kind(), ErrorKind::BrokenPipe);
    }
}
