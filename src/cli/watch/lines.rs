//! The lines on the standard output: each whole, at once, and with its time.
//! A reader that went away ends the watch; a disk that is full does not.

use crate::cli::args::WatchFormat;
use crate::cli::out::Terminal;
use crate::error::{Error, Result};
use crate::export::watch;
use crate::sys::clock;
use crate::sys::terminal as streams;
use crate::view::watch::{Line, Moment, What};
use std::fs::File;
use std::io::{ErrorKind, Write};

/// Where lines go.
#[derive(Debug)]
pub(super) struct Lines {
    out: File,
    format: WatchFormat,
    terminal: Terminal,
    /// Whether nobody reads any more.
    closed: bool,
    /// Whether the last line could not be written whole.
    torn: bool,
}

impl Lines {
    /// Takes the standard output; with `shared` a started command's own output goes to the standard error instead.
    pub(super) fn open(format: WatchFormat, shared: bool, terminal: Terminal) -> Result<Lines> {
        Ok(Lines { out: streams::own_output(shared)?, format, terminal, closed: false, torn: false })
    }

    /// Whether nobody reads any more.
    pub(super) fn is_closed(&mut self) -> bool {
        self.closed |= streams::reader_gone(&self.out);
        self.closed
    }

    /// Writes a line about now.
    pub(super) fn tell(&mut self, what: What) {
        let line = Line { time: Moment(clock::unix_ns()), what };
        let bytes = match self.format {
            WatchFormat::Json => watch::json(&line),
            WatchFormat::Text => Ok(watch::text(&line)),
        };
        let written = bytes.and_then(|bytes| self.write(&bytes));
        match written {
            Ok(()) => self.torn = false,
            Err(_) if self.closed => {}
            // Told once: the disk may stay full for days.
            Err(error) if !std::mem::replace(&mut self.torn, true) => {
                self.terminal.error(&error.context("a line of the watch is lost"));
            }
            Err(_) => {}
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        // The rest of a line that was cut off must not spoil this one.
        let whole = if self.torn { [b"\n", bytes].concat() } else { bytes.to_vec() };
        let written = self.out.write_all(&whole);
        self.closed |= written.as_ref().is_err_and(|error| error.kind() == ErrorKind::BrokenPipe);
        written.map_err(|error| Error::from(error).context("cannot write to the standard output"))
    }
}
