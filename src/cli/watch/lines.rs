//! Writes lines to standard output: each complete, unbuffered, and with its time. A closed reader ends the watch; a
//! full disk or a stalled reader does not.

use crate::cli::args::WatchFormat;
use crate::cli::out::Terminal;
use crate::error::{Error, ErrorKind as Kind, Result};
use crate::export::watch;
use crate::sys::clock;
use crate::sys::terminal as streams;
use crate::view::watch::{Line, Moment, WatchEvent};
use std::fs::File;
use std::io::{ErrorKind, Write};

/// Bytes that a ready pipe accepts without blocking.
const PART: usize = 4096;
/// Milliseconds to wait for a stalled reader before lines are lost. Alarms and signals wait that long too.
const PATIENCE: u32 = 1000;

/// The output of lines.
#[derive(Debug)]
pub(super) struct Lines {
    out: File,
    format: WatchFormat,
    terminal: Terminal,
    /// Whether the reader has closed.
    closed: bool,
    /// Whether the last line could not be written completely.
    torn: bool,
    /// Whether a part of it was written.
    begun: bool,
}

impl Lines {
    /// Takes over standard output. With `shared`, a started command's output goes to standard error instead.
    pub(super) fn open(format: WatchFormat, shared: bool, terminal: Terminal) -> Result<Lines> {
        Ok(Lines { out: streams::own_output(shared)?, format, terminal, closed: false, torn: false, begun: false })
    }

    /// Whether the reader has closed.
    pub(super) fn is_closed(&mut self) -> bool {
        self.closed |= streams::reader_gone(&self.out);
        self.closed
    }

    /// Writes a line with the current time.
    pub(super) fn write(&mut self, event: WatchEvent) {
        let line = Line { time: Moment(clock::unix_ns()), event };
        let bytes = match self.format {
            WatchFormat::Json => watch::json(&line),
            WatchFormat::Text => Ok(watch::text(&line)),
        };
        let written = bytes.and_then(|bytes| self.write_bytes(&bytes));
        match written {
            Ok(()) => self.torn = false,
            Err(_) if self.closed => {}
            // Reported once, because the disk may stay full for days.
            Err(error) if !std::mem::replace(&mut self.torn, true) && streams::takes_more(std::io::stderr(), 0) => {
                self.terminal.error(&error.context("a line of the watch was lost"));
            }
            Err(_) => {}
        }
    }

    fn write_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        // Terminate a partial line, so that it does not spoil this one.
        let whole = if self.begun { [b"\n", bytes].concat() } else { bytes.to_vec() };
        let patience = if self.torn { 0 } else { PATIENCE };
        let mut rest = whole.as_slice();
        while !rest.is_empty() {
            if !streams::takes_more(&self.out, patience) {
                return Err(Error::new(Kind::Io, "standard output is not being read")
                    .hint("Let its reader continue, or write to a file; alarms are acted upon anyway."));
            }
            let written = self.part(&rest[..rest.len().min(PART)]);
            rest = &rest[written.map_err(|error| Error::from(error).context("cannot write to standard output"))?..];
        }
        self.begun = false;
        Ok(())
    }

    /// Returns the number of bytes written.
    fn part(&mut self, part: &[u8]) -> std::io::Result<usize> {
        match self.out.write(part) {
            Ok(0) => Err(ErrorKind::WriteZero.into()),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(0),
            written => {
                self.begun |= written.is_ok();
                self.closed |= written.as_ref().is_err_and(|error| error.kind() == ErrorKind::BrokenPipe);
                written
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::OwnedFd;

    #[test]
    fn a_reader_that_stands_still_costs_lines_and_never_holds_the_watch_up() {
        let (mut read, write) = std::io::pipe().unwrap();
        let out = File::from(OwnedFd::from(write));
        let terminal = Terminal::stderr(&crate::cli::args::GlobalArgs::default());
        let mut lines = Lines { out, format: WatchFormat::Json, terminal, closed: false, torn: true, begun: false };
        let long = [vec![b'x'; 100_000], vec![b'\n']].concat();
        assert!(lines.write_bytes(&long).is_err());
        assert!(lines.begun && !lines.closed, "what the pipe period was written");
        assert!(lines.write_bytes(b"lost\n").is_err());
        let mut history = vec![0; 100_000];
        let taken = read.read(&mut history).unwrap();
        lines.write_bytes(b"next\n").unwrap();
        assert!(!lines.begun);
        drop(lines);
        let mut rest = Vec::new();
        read.read_to_end(&mut rest).unwrap();
        let told = [&history[..taken], &rest[..]].concat();
        assert!(told.starts_with(b"xxx") && told.ends_with(b"x\nnext\n"), "a line of its own");
    }
}
