//! Stop requests for a capture: signals read from a descriptor, and a token that any thread can trigger.
//! No handlers are installed: the signals are blocked and read, and dropping the guard restores the old mask.

use crate::error::{Context, Result};
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use std::fs::File;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A signal that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// `SIGINT`.
    Interrupt {
        /// Sent by the terminal, which also sends it to the whole foreground process group, children included.
        by_terminal: bool,
    },
    /// `SIGTERM`, or `SIGHUP` because the terminal is gone.
    Terminate,
    /// `SIGCHLD`.
    Child,
}

/// Blocks `SIGINT`, `SIGTERM`, `SIGHUP` and `SIGCHLD` for the calling thread and the threads it starts later, and reads
/// them from a descriptor. Create it before any thread is started.
#[derive(Debug)]
pub struct Signals {
    file: File,
    old: SignalMask,
}

struct SignalMask(libc::sigset_t);

impl std::fmt::Debug for SignalMask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SignalMask")
    }
}

impl Signals {
    /// Blocks the signals and opens the descriptor.
    ///
    /// # Errors
    /// No descriptor is available.
    pub fn block() -> Result<Signals> {
        let set = watched();
        let mut old = MaybeUninit::uninit();
        // SAFETY: both sets are valid for the call; `old` is written by it.
        let old = unsafe {
            if libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, old.as_mut_ptr()) != 0 {
                return Err(io::Error::last_os_error()).context(|| "cannot block signals");
            }
            SignalMask(old.assume_init())
        };
        // SAFETY: the set is valid; -1 asks for a new descriptor.
        let fd = unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        if fd < 0 {
            let error = io::Error::last_os_error();
            old.restore();
            return Err(error).context(|| "cannot open a signal descriptor");
        }
        // SAFETY: the kernel has just given us this descriptor; nobody else owns it.
        Ok(Signals { file: unsafe { File::from_raw_fd(fd) }, old })
    }

    /// Waits until a signal arrives, without a time limit.
    ///
    /// # Errors
    /// The kernel refuses to wait.
    pub fn wait(&self) -> Result<()> {
        let mut fds = [PollFd::new(&self.file, PollFlags::IN)];
        rustix::io::retry_on_intr(|| poll(&mut fds, None))
            .map_err(io::Error::from)
            .context(|| "cannot wait for signals")?;
        Ok(())
    }

    /// Returns the next signal that has arrived; `None` when there is none. Never blocks.
    pub fn take(&mut self) -> Option<Signal> {
        let mut info = [0u8; size_of::<libc::signalfd_siginfo>()];
        if self.file.read(&mut info).ok()? < info.len() {
            return None;
        }
        let word = |at: usize| i32::from_ne_bytes([info[at], info[at + 1], info[at + 2], info[at + 3]]);
        // `signalfd_siginfo` begins with ssi_signo, ssi_errno, ssi_code, four bytes each.
        match word(0) {
            libc::SIGINT => Some(Signal::Interrupt { by_terminal: word(8) == libc::SI_KERNEL }),
            libc::SIGTERM | libc::SIGHUP => Some(Signal::Terminate),
            _ => Some(Signal::Child),
        }
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.old.restore();
    }
}

impl SignalMask {
    fn restore(&self) {
        // SAFETY: the set was filled by `pthread_sigmask`; failure is impossible with a valid `how`.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut()) };
    }
}

/// Stops this process as Ctrl-Z in the terminal does; returns when it is continued.
pub fn suspend_self() {
    // Refused only where nobody could continue the process; it then keeps running.
    let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TSTP);
}

/// The signals that `Signals` blocks and a started command gets unblocked.
pub(super) fn watched() -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` initialises the set, `sigaddset` with valid numbers cannot fail.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGCHLD] {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

/// A request to stop a capture, from any thread; it wakes a thread that waits on its descriptor.
#[derive(Debug, Clone)]
pub struct StopToken {
    pulled: Arc<AtomicBool>,
    detached: Arc<AtomicBool>,
    fd: Arc<OwnedFd>,
}

impl StopToken {
    /// Creates a token that has not been triggered.
    ///
    /// # Errors
    /// No descriptor is available.
    pub fn new() -> Result<StopToken> {
        let fd = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(io::Error::from)
            .context(|| "cannot open an event descriptor")?;
        Ok(StopToken { pulled: Arc::default(), detached: Arc::default(), fd: Arc::new(fd) })
    }

    /// Requests the capture and a started command to stop, even after [`StopToken::detach`]. Can be repeated.
    pub fn stop(&self) {
        self.detached.store(false, Ordering::Release);
        self.wake();
    }

    fn wake(&self) {
        self.pulled.store(true, Ordering::Release);
        // Fails only when the counter would overflow; the descriptor is then readable already.
        let _ = rustix::io::write(&*self.fd, &1u64.to_ne_bytes());
    }

    /// Requests the capture to stop but leaves a started command running. Ignored after an earlier stop request.
    pub fn detach(&self) {
        if !self.is_stopped() {
            self.detached.store(true, Ordering::Release);
            self.wake();
        }
    }

    /// Whether a started command is to keep running.
    #[must_use]
    pub fn is_detached(&self) -> bool {
        self.detached.load(Ordering::Acquire)
    }

    /// Whether a stop was requested.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.pulled.load(Ordering::Acquire)
    }
}

impl AsFd for StopToken {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn send_to_self(signal: i32) {
        // SAFETY: sends a signal that this thread has blocked.
        unsafe { libc::pthread_kill(libc::pthread_self(), signal) };
    }

    #[test]
    fn a_blocked_signal_is_read_and_the_mask_returns() {
        let mut signals = Signals::block().unwrap();
        assert_eq!(signals.take(), None);
        send_to_self(libc::SIGTERM);
        assert_eq!(signals.take(), Some(Signal::Terminate));
        send_to_self(libc::SIGINT);
        assert_eq!(signals.take(), Some(Signal::Interrupt { by_terminal: false }));
        drop(signals);
        let mut now = MaybeUninit::uninit();
        // SAFETY: a query: no new set, `now` is written by the call.
        let blocked = unsafe {
            libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), now.as_mut_ptr());
            libc::sigismember(now.as_ptr(), libc::SIGTERM)
        };
        assert_eq!(blocked, 0);
    }

    #[test]
    fn a_token_pulled_elsewhere_is_seen_here() {
        let token = StopToken::new().unwrap();
        let other = token.clone();
        assert!(!token.is_stopped());
        std::thread::spawn(move || other.stop()).join().unwrap();
        assert!(token.is_stopped());
    }

    #[test]
    fn a_command_left_to_itself_can_still_be_stopped_but_not_the_other_way_round() {
        let token = StopToken::new().unwrap();
        token.detach();
        assert!(token.is_stopped() && token.is_detached());
        token.stop();
        token.detach();
        assert!(token.is_stopped() && !token.is_detached());
    }
}
