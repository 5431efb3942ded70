//! One error type for the whole program, so that every failure says what failed, on which object, and what to do.
//! It never prints and never exits: the kind decides the exit code, and only `main` exits.

use std::cell::Cell;
use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

/// The result of anything that can fail in ironlaw.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What kind of failure it was; the program's exit code follows from it alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The command line or a configuration file asks for something that makes no sense.
    Usage,
    /// The kernel or the file system refused for lack of privilege.
    NotPermitted,
    /// A process, thread, cgroup, file or event does not exist.
    NotFound,
    /// This kernel, machine or build cannot do it.
    Unsupported,
    /// A limit was met: descriptors, locked memory, disk space.
    Exhausted,
    /// A file is not what it should be: truncated, damaged or of a newer format.
    Corrupt,
    /// A threshold of `--fail-if` was crossed.
    Breach,
    /// Whether it was crossed cannot be decided.
    Undecided,
    /// Reading or writing failed otherwise.
    Io,
}

impl ErrorKind {
    /// The process exit code: 2 for usage, 3 for a crossed threshold, 4 where that is open, 1 for every other failure.
    #[must_use]
    pub fn exit_code(self) -> u8 {
        match self {
            ErrorKind::Usage => 2,
            ErrorKind::Breach => 3,
            ErrorKind::Undecided => 4,
            _ => 1,
        }
    }
}

/// A failure with its context, outermost first, and the step that would mend it.
pub struct Error {
    kind: ErrorKind,
    /// Innermost message first; `context` pushes.
    messages: Vec<String>,
    hint: Option<String>,
}

impl Error {
    /// A new error: a lower-case fragment that names the object, e.g. "process 41 does not exist".
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error { kind, messages: vec![message.into()], hint: None }
    }

    /// What to do about it: a command or a setting, as a full sentence.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The kind, which decides the exit code.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The remedy, if one is known.
    #[must_use]
    pub fn remedy(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Wraps the error in what was being done, e.g. "cannot read /proc/41/maps".
    #[must_use]
    pub fn context(mut self, message: impl Into<String>) -> Self {
        self.messages.push(message.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, message) in self.messages.iter().rev().enumerate() {
            if i > 0 {
                f.write_str(": ")?;
            }
            f.write_str(message)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({:?})", self.kind)
    }
}

impl std::error::Error for Error {}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        use std::io::ErrorKind as Io;
        // ENFILE and EMFILE have no kind of their own.
        if matches!(error.raw_os_error(), Some(23 | 24)) {
            return Error::new(ErrorKind::Exhausted, "the limit of open files is reached (RLIMIT_NOFILE)")
                .hint("Raise the hard limit (ulimit -Hn), or profile fewer threads or CPUs.");
        }
        let kind = match error.kind() {
            Io::NotFound => ErrorKind::NotFound,
            Io::PermissionDenied => ErrorKind::NotPermitted,
            Io::StorageFull | Io::QuotaExceeded | Io::OutOfMemory => ErrorKind::Exhausted,
            Io::Unsupported => ErrorKind::Unsupported,
            Io::InvalidData | Io::UnexpectedEof => ErrorKind::Corrupt,
            _ => ErrorKind::Io,
        };
        Error::new(kind, error.to_string())
    }
}

/// Adds context to any result whose error converts into [`Error`].
pub trait Context<T> {
    /// Wraps the error in what was being done; the closure runs only on failure.
    fn context<S: Into<String>>(self, message: impl FnOnce() -> S) -> Result<T>;
}

impl<T, E: Into<Error>> Context<T> for Result<T, E> {
    fn context<S: Into<String>>(self, message: impl FnOnce() -> S) -> Result<T> {
        self.map_err(|error| error.into().context(message()))
    }
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Runs a library's decoder on bytes that may be malformed. Returns a panic inside it as [`ErrorKind::Corrupt`] with its
/// message, and prints nothing of it. Panics of other threads print as before.
pub(crate) fn catch_panic<T>(decode: impl FnOnce() -> Result<T>) -> Result<T> {
    HOOK.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                previous(info);
            }
        }));
    });
    QUIET.set(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(decode));
    QUIET.set(false);
    outcome.unwrap_or_else(|cause| {
        let text = cause.downcast_ref::<String>().map(String::as_str).or_else(|| cause.downcast_ref().copied());
        Err(Error::new(ErrorKind::Corrupt, format!("undecodable: {}", text.unwrap_or("no reason given"))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_from_the_outside_in_and_keeps_the_remedy() {
        let error = Error::new(ErrorKind::NotPermitted, "permission denied")
            .hint("Run as root.")
            .context("cannot open event cycles");
        assert_eq!(error.to_string(), "cannot open event cycles: permission denied");
        assert_eq!(error.remedy(), Some("Run as root."));
    }

    #[test]
    fn the_kind_of_an_io_error_decides_the_exit_code() {
        let error = Error::from(std::io::Error::from(std::io::ErrorKind::StorageFull));
        assert_eq!((error.kind(), error.kind().exit_code()), (ErrorKind::Exhausted, 1));
        assert_eq!(ErrorKind::Usage.exit_code(), 2);
        assert_eq!(ErrorKind::Breach.exit_code(), 3);
    }

    #[test]
    fn a_lack_of_descriptors_names_the_limit_and_the_remedies() {
        for number in [23, 24] {
            let error: Error = Err::<(), _>(std::io::Error::from_raw_os_error(number))
                .context(|| "cannot wait for events")
                .expect_err("it is one");
            assert_eq!(error.kind(), ErrorKind::Exhausted);
            assert!(error.to_string().starts_with("cannot wait for events: the limit of open files"), "{error}");
            assert!(error.remedy().is_some_and(|remedy| remedy.contains("ulimit -Hn")), "{:?}", error.remedy());
        }
    }

    #[test]
    fn a_panic_inside_becomes_an_error_with_its_message() {
        let error = catch_panic::<()>(|| panic!("page {} is bad", 3)).expect_err("it panicked");
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Corrupt, "undecodable: page 3 is bad"));
        assert_eq!(catch_panic(|| Ok(5)).ok(), Some(5));
    }
}
