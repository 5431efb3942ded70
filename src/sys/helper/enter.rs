//! What a program does first: whether it was started as a helper.

use super::channel::Channel;
use super::confine;
use crate::error::{Context, Result};
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the running program can be started as a helper.
static CAN_START: AtomicBool = AtomicBool::new(false);

/// Whether this program knows what to do as a helper: its `main` has called [`enter`]. Another program that uses this
/// library does not.
#[must_use]
pub fn can_start() -> bool {
    CAN_START.load(Ordering::Relaxed)
}

/// The connection to this process's starter, if it was started under `name`. Call it before anything else.
#[must_use]
pub fn enter(name: &str) -> Option<Channel> {
    CAN_START.store(true, Ordering::Relaxed);
    if std::env::args_os().next()? != *name {
        return None;
    }
    // SAFETY: the standard input of a process started by `Helper::start` is its end of the socket, and nobody else in
    // this process uses it.
    Some(Channel::new(unsafe { OwnedFd::from_raw_fd(0) }))
}

/// The same, and confines this process.
///
/// # Errors
/// The kernel refuses a restriction: nothing must be read then.
pub fn enter_confined(name: &str) -> Option<Result<Channel>> {
    let channel = enter(name)?;
    let confined = confine::confine(name).map_err(io::Error::from).context(|| "cannot confine this process");
    Some(confined.map(|()| channel))
}
