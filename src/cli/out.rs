//! All printing. Results go to standard output, messages to standard error.
//! A reader that closes the pipe early is not an error.

use super::args::GlobalArgs;
use super::plan;
use crate::error::{Context, Error, Result};
use crate::export::text::Style;
use crate::model::Note;
use crate::sys::terminal;
use crate::view::escape::visible;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{ErrorKind, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Whether a progress line stands where the next message goes.
static PROGRESS: Mutex<bool> = Mutex::new(false);

/// Destination and verbosity of messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terminal {
    quiet: bool,
    colour: bool,
    without_notes: bool,
}

impl Terminal {
    /// Messages on standard error.
    pub(super) fn stderr(global: &GlobalArgs) -> Terminal {
        let colour = coloured(global, std::io::stderr().is_terminal());
        Terminal { quiet: global.quiet, colour, without_notes: false }
    }

    /// The same for a command whose result has the notes.
    pub(super) fn without_notes(self) -> Terminal {
        Terminal { without_notes: true, ..self }
    }

    /// Prints a message.
    pub(super) fn say(&self, line: &str) {
        if !self.quiet {
            self.write(&format!("{line}\n"));
        }
    }

    /// Whether progress is wanted and can be rewritten.
    pub(super) fn shows_progress(&self) -> bool {
        !self.quiet && std::io::stderr().is_terminal() && !is_dumb()
    }

    /// Writes in the place of the progress line. If standard error is closed, there is nowhere to report that.
    fn write(&self, text: &str) {
        let mut shown = PROGRESS.lock().unwrap_or_else(PoisonError::into_inner);
        let erased = if std::mem::take(&mut *shown) { "\r\x1b[K" } else { "" };
        let _ = write!(std::io::stderr(), "{erased}{text}");
    }

    /// Prints a note about a fallback or limit, with its fix.
    pub(super) fn note(&self, note: &Note) {
        if self.without_notes {
            return;
        }
        self.say(&format!("{}: {}", self.mark("note", "33"), visible(&note.text)));
        if let Some(fix) = &note.fix {
            self.say(&format!("      {}", visible(fix)));
        }
    }

    /// Prints an error with its fix, even when quiet.
    pub(super) fn error(&self, error: &Error) {
        let mark = self.mark("error", "31");
        let remedy = error.remedy().map(|remedy| format!("  {}\n", visible(remedy))).unwrap_or_default();
        self.write(&format!("ironlaw: {mark}: {}\n{remedy}", visible(&error.to_string())));
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

/// Whether the standard output goes to a file or a pipe.
pub(super) fn is_redirected() -> bool {
    let stdout = std::io::stdout().as_fd().try_clone_to_owned().map(File::from);
    let kind = stdout.and_then(|file| file.metadata()).map(|file| file.file_type());
    kind.is_ok_and(|kind| kind.is_file() || kind.is_fifo())
}

fn coloured(global: &GlobalArgs, terminal: bool) -> bool {
    plan::use_color(global, terminal && !is_dumb(), std::env::var("NO_COLOR").ok().as_deref())
}

/// Rewrites the progress line on the terminal, as far as it fits.
pub(super) fn show_progress(terminal_file: &mut File, line: &str) {
    let mut shown = PROGRESS.lock().unwrap_or_else(PoisonError::into_inner);
    let columns = terminal::columns(&*terminal_file).unwrap_or(80).saturating_sub(1);
    let line: String = line.chars().take(columns).collect();
    let _ = write!(terminal_file, "\r\x1b[K{line}");
    *shown = true;
}

/// Erases the progress line.
pub(super) fn erase_progress(terminal_file: &mut File) {
    if std::mem::take(&mut *PROGRESS.lock().unwrap_or_else(PoisonError::into_inner)) {
        let _ = write!(terminal_file, "\r\x1b[K");
    }
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
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

/// Replaces the file of a name that the user did not choose. A link that another user laid there is not followed.
pub(super) fn replace(bytes: &[u8], path: &Path) -> Result<()> {
    let context = || format!("cannot write {}", path.display());
    // Nobody can guess the name, so nobody can take it first.
    let temporary = path.with_file_name(format!(".ironlaw-{:016x}", RandomState::new().build_hasher().finish()));
    let written = File::create_new(&temporary).and_then(|mut file| file.write_all(bytes));
    let placed = written.and_then(|()| std::fs::rename(&temporary, path));
    if placed.is_err() {
        // The first error is the one to report.
        let _ = std::fs::remove_file(&temporary);
    }
    placed.context(context)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::error::ErrorKind as Kind;

    /// A writer whose writes and flushes fail in this way.
    struct Failing(ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Err(self.0.into())
        }
    }

    #[test]
    fn only_a_reader_that_is_gone_excuses_a_failed_write() {
        for (kind, excused) in [
            (ErrorKind::BrokenPipe, true),
            (ErrorKind::StorageFull, false),
            (ErrorKind::WouldBlock, false),
            (ErrorKind::PermissionDenied, false),
        ] {
            let mut out = Watched { inner: Failing(kind), closed: false };
            assert!(out.write(b"x").is_err());
            assert_eq!(out.closed, excused, "a write fails with {kind:?}");
            let mut out = Watched { inner: Failing(kind), closed: false };
            assert!(out.flush().is_err());
            assert_eq!(out.closed, excused, "a flush fails with {kind:?}");
        }
        let mut out = Watched { inner: Vec::new(), closed: false };
        out.write_all(b"all of it").unwrap();
        assert_eq!((out.inner.as_slice(), out.closed), (&b"all of it"[..], false));
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named_with_the_reason() {
        let dir = tempfile::tempdir().unwrap();
        let absent = dir.path().join("no/such/folder/x.json");
        for (path, kind) in [(absent.as_path(), Kind::NotFound), (dir.path(), Kind::Io)] {
            let name = format!("cannot write {}", path.display());
            let delivered = deliver(b"x", Some(path)).unwrap_err();
            let streamed = stream(Some(path), |_| panic!("{name}: written without a file")).unwrap_err();
            for error in [delivered, streamed] {
                assert!(error.to_string().starts_with(&name), "{error}");
                assert!(error.to_string().len() > name.len() + 5, "a reason follows: {error}");
                assert!(kind != Kind::NotFound || error.kind() == kind, "{error}");
            }
        }
    }

    #[test]
    fn a_link_at_a_default_name_is_replaced_and_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (precious, path) = (dir.path().join("precious"), dir.path().join("x.svg"));
        std::fs::write(&precious, "kept").unwrap();
        std::os::unix::fs::symlink(&precious, &path).unwrap();
        for text in ["first", "second"] {
            replace(text.as_bytes(), &path).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "kept");
        let error = replace(b"x", &dir.path().join("none/x.svg")).unwrap_err();
        assert!(error.to_string().starts_with("cannot write "), "{error}");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2, "no temporary file is left");
    }

    #[test]
    fn a_result_replaces_what_the_file_held() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("report with a blank\nand a line.txt");
        std::fs::write(&path, "what was there before, and longer").unwrap();
        deliver(b"first", Some(&path)).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        stream(Some(&path), |out| out.write_all(b"2nd").context(|| "in pieces")).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"2nd");
    }

    #[test]
    fn an_error_while_writing_keeps_its_kind_and_its_remedy_and_gets_the_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.pb");
        let failed =
            |_: &mut (dyn Write + Send)| Err(Error::new(Kind::Corrupt, "sample 7 has no frame").hint("Record again."));
        let error = stream(Some(&path), failed).unwrap_err();
        assert_eq!((error.kind(), error.remedy()), (Kind::Corrupt, Some("Record again.")));
        assert_eq!(error.to_string(), format!("cannot write {}: sample 7 has no frame", path.display()));
    }

    #[test]
    fn a_mark_is_coloured_only_on_a_terminal_with_colour() {
        let plain = Terminal { quiet: false, colour: false, without_notes: false };
        assert_eq!(plain.mark("error", "31"), "error");
        assert_eq!(Terminal { colour: true, ..plain }.mark("error", "31"), "\u{1b}[31merror\u{1b}[0m");
    }
}
