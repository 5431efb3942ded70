//! The only place that prints. Results go to the standard output, everything about them to standard error.
//! A reader that closes the pipe early is no failure.

use super::args::{ColorArg, GlobalArgs};
use crate::error::{Context, Error, Result};
use crate::model::Note;
use crate::view::escape;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

/// Where messages go, and how much of them.
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

    /// A line about what is being done.
    pub(super) fn say(&self, line: &str) {
        if !self.quiet {
            // Standard error closed: nobody is listening, and there is nobody to tell.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }

    /// A fallback or limit, with its remedy.
    pub(super) fn note(&self, note: &Note) {
        let mark = if self.colour { "\x1b[33mnote\x1b[0m" } else { "note" };
        self.say(&format!("{mark}: {}", escape::text(&note.text)));
        if let Some(fix) = &note.fix {
            self.say(&format!("      {}", escape::text(fix)));
        }
    }

    /// A failure, with its remedy.
    pub(super) fn error(&self, error: &Error) {
        let mark = if self.colour { "\x1b[31merror\x1b[0m" } else { "error" };
        let _ = writeln!(std::io::stderr(), "ironlaw: {mark}: {}", escape::text(&error.to_string()));
        if let Some(remedy) = error.remedy() {
            let _ = writeln!(std::io::stderr(), "  {}", escape::text(remedy));
        }
    }
}

/// Whether the standard output is to be coloured.
pub(super) fn coloured_stdout(global: &GlobalArgs) -> bool {
    coloured(global, std::io::stdout().is_terminal())
}

fn coloured(global: &GlobalArgs, terminal: bool) -> bool {
    match global.color {
        ColorArg::Always => true,
        ColorArg::Never => false,
        ColorArg::Auto => {
            let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
            terminal && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

/// Writes a result to a file, or to the standard output for `-` or no name.
pub(super) fn deliver(bytes: &[u8], file: Option<&Path>) -> Result<()> {
    match file.filter(|path| path.as_os_str() != "-") {
        Some(path) => std::fs::write(path, bytes).context(|| format!("cannot write {}", path.display())),
        None => match std::io::stdout().lock().write_all(bytes).and_then(|()| std::io::stdout().flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            result => result.context(|| "cannot write to the standard output"),
        },
    }
}
