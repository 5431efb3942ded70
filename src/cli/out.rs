//! All printing. Results go to standard output, messages to standard error.
//! A reader that closes the pipe early is not an error.

use super::args::GlobalArgs;
use super::plan;
use crate::error::{Context, Error, Result};
use crate::export::text::Style;
use crate::model::Note;
use crate::sys::terminal;
use crate::view::escape::visible;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

/// Destination and verbosity of messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terminal {
    quiet: bool,
    colour: bool,
}

impl Terminal {
    /// Messages on standard error.
    pub(super) fn stderr(global: &GlobalArgs) -> Terminal {
        Terminal { quiet: global.quiet, colour: coloured(global, std::io::stderr().is_terminal()) }
    }

    /// Prints a progress line.
    pub(super) fn say(&self, line: &str) {
        if !self.quiet {
            // If standard error is closed, there is nowhere to report that.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }

    /// Prints a note about a fallback or limit, with its fix.
    pub(super) fn note(&self, note: &Note) {
        self.say(&format!("{}: {}", self.mark("note", "33"), visible(&note.text)));
        if let Some(fix) = &note.fix {
            self.say(&format!("      {}", visible(fix)));
        }
    }

    /// Prints an error with its fix, even when quiet.
    pub(super) fn error(&self, error: &Error) {
        let mark = self.mark("error", "31");
        let _ = writeln!(std::io::stderr(), "ironlaw: {mark}: {}", visible(&error.to_string()));
        if let Some(remedy) = error.remedy() {
            let _ = writeln!(std::io::stderr(), "  {}", visible(remedy));
        }
    }

    fn mark(&self, word: &str, colour: &str) -> String {
        if self.colour { format!("\x1b[{colour}m{word}\x1b[0m") } else { word.to_string() }
    }
}

/// Layout of a report on standard output: as wide as the terminal; in a file or a pipe, tables are as wide as their content.
pub(super) fn style(global: &GlobalArgs, to_file: bool) -> Style {
    let terminal = !to_file && std::io::stdout().is_terminal();
    let width = terminal.then(|| terminal::columns(std::io::stdout())).flatten();
    Style { width, colour: coloured(global, terminal) }
}

fn coloured(global: &GlobalArgs, terminal: bool) -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    plan::use_color(global, terminal && !dumb, std::env::var("NO_COLOR").ok().as_deref())
}

/// Writes a result piece by piece to a file or to standard output.
pub(super) fn stream(file: Option<&Path>, write: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>) -> Result<()> {
    if let Some(path) = file {
        let context = || format!("cannot write {}", path.display());
        return write(&mut std::fs::File::create(path).context(context)?).context(context);
    }
    let mut stdout = Watched { inner: std::io::stdout(), closed: false };
    match write(&mut stdout) {
        Err(_) if stdout.closed => Ok(()),
        result => result,
    }
}

/// A writer that remembers whether its reader is gone.
struct Watched<W> {
    inner: W,
    closed: bool,
}

impl<W: Write> Watched<W> {
    fn watch<T>(&mut self, result: std::io::Result<T>) -> std::io::Result<T> {
        self.closed |= result.as_ref().is_err_and(|error| error.kind() == ErrorKind::BrokenPipe);
        result
    }
}

impl<W: Write> Write for Watched<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let result = self.inner.write(bytes);
        self.watch(result)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        let result = self.inner.flush();
        self.watch(result)
    }
}

/// Writes a result to a file or to standard output.
pub(super) fn deliver(bytes: &[u8], file: Option<&Path>) -> Result<()> {
    if let Some(path) = file {
        return std::fs::write(path, bytes).context(|| format!("cannot write {}", path.display()));
    }
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context(|| "cannot write to the standard output"),
    }
}
