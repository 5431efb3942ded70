//! Turns a panic of the Parquet decoder on malformed bytes into an error and suppresses the panic message.
//! Only panics of the calling thread during the call are silenced.

use crate::error::{Error, ErrorKind, Result};
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

static HOOK: Once = Once::new();

/// Runs `decode` and returns a panic inside it as [`ErrorKind::Corrupt`] with its message.
pub(super) fn caught<T>(decode: impl FnOnce() -> Result<T>) -> Result<T> {
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
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn a_panic_inside_becomes_an_error_with_its_message() {
        let error = caught::<()>(|| panic!("page {} is bad", 3)).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::Corrupt, "undecodable: page 3 is bad"));
        assert_eq!(caught(|| Ok(5)).unwrap(), 5);
    }
}
