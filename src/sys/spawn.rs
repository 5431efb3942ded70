//! Starts the command to be profiled and holds it before `exec`, so that not even its first instruction is missed.
//! Its standard streams stay untouched unless the caller asks to read them, and no waiting child is left behind.

use super::signals::watched;
use super::tee::CommandOutput;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::units::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal, waitpid};
use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// A started command. Until `release` it has executed none of its own code.
#[derive(Debug)]
pub struct Started {
    pid: Pid,
    pidfd: OwnedFd,
    name: String,
    /// Closed on release. A child that reads end of file instead of a byte exits.
    go: Option<OwnedFd>,
    /// Carries the error number of a failed `exec`; closed by a successful one.
    failed: OwnedFd,
    status: Option<i32>,
    usage: Option<Usage>,
}

/// Forks a child that waits for `release` before it executes `argv`.
///
/// # Errors
/// `Usage` for an empty command or one with a zero byte; otherwise as `fork(2)`, e.g. `Exhausted`.
pub fn start(argv: &[String]) -> Result<Started> {
    begin(argv, None)
}

/// Like [`start`], but the command prints into pipes.
///
/// # Errors
/// As [`start`].
pub fn start_read(argv: &[String]) -> Result<(Started, CommandOutput)> {
    let pipe = || pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from).context(|| "cannot make a pipe");
    let (out, err) = (pipe()?, pipe()?);
    let started = begin(argv, Some([out.1.as_fd(), err.1.as_fd()]))?;
    Ok((started, CommandOutput::new([out.0, err.0])))
}

fn begin(argv: &[String], streams: Option<[BorrowedFd<'_>; 2]>) -> Result<Started> {
    let name = argv.first().ok_or_else(|| Error::new(ErrorKind::Usage, "no command given"))?.clone();
    let words: Vec<CString> = argv
        .iter()
        .map(|word| CString::new(word.as_str()))
        .collect::<Result<_, _>>()
        .map_err(|_| Error::new(ErrorKind::Usage, "the command contains a zero byte"))?;
    let pointers: Vec<_> = words.iter().map(|word| word.as_ptr()).chain([std::ptr::null()]).collect();
    let (wait, go) = pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from).context(|| "cannot make a pipe")?;
    let (failed, report) = pipe_with(PipeFlags::CLOEXEC).map_err(io::Error::from).context(|| "cannot make a pipe")?;
    let streams = streams.map(|streams| streams.map(|stream| stream.as_raw_fd()));
    // SAFETY: the child calls only async-signal-safe functions (see `child`) and never returns.
    let forked = unsafe {
        let forked = libc::fork();
        if forked == 0 {
            child(wait.as_raw_fd(), go.as_raw_fd(), report.as_raw_fd(), streams, &pointers);
        }
        forked
    };
    let pid = Pid::from_raw(forked.max(0)).ok_or_else(io::Error::last_os_error).context(|| "cannot start a process")?;
    let pidfd = pidfd_open(pid, PidfdFlags::empty())
        .map_err(io::Error::from)
        .context(|| format!("cannot watch process {}", pid.as_raw_nonzero()))?;
    Ok(Started { pid, pidfd, name, go: Some(go), failed, status: None, usage: None })
}

/// The child's side: waits for a byte, then executes the command.
///
/// # Safety
/// Only in a freshly forked child; `argv` ends with a null pointer and its strings outlive the call.
unsafe fn child(wait: RawFd, go: RawFd, report: RawFd, streams: Option<[RawFd; 2]>, argv: &[*const libc::c_char]) -> ! {
    // SAFETY: only async-signal-safe calls, on descriptors and memory copied by `fork`.
    unsafe {
        libc::close(go);
        let set = watched();
        libc::sigprocmask(libc::SIG_UNBLOCK, &raw const set, std::ptr::null_mut());
        // The Rust runtime ignores SIGPIPE; a command expects the default.
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        let mut byte = 0u8;
        loop {
            match libc::read(wait, (&raw mut byte).cast(), 1) {
                1 => break,
                -1 if *libc::__errno_location() == libc::EINTR => {}
                _ => libc::_exit(125),
            }
        }
        if let Some([out, err]) = streams {
            libc::dup2(out, 1);
            libc::dup2(err, 2);
        }
        libc::execvp(argv[0], argv.as_ptr());
        let errno = *libc::__errno_location();
        libc::write(report, (&raw const errno).cast(), size_of::<i32>());
        libc::_exit(127)
    }
}

impl Started {
    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Lets the child execute the command, and waits until it has.
    ///
    /// # Errors
    /// `NotFound` or `NotPermitted` when the command cannot be executed.
    pub fn release(&mut self) -> Result<()> {
        let Some(go) = self.go.take() else { return Ok(()) };
        rustix::io::write(&go, b"g").map_err(io::Error::from).context(|| format!("cannot start {}", self.name))?;
        let mut errno = [0u8; 4];
        let read = rustix::io::retry_on_intr(|| rustix::io::read(&self.failed, &mut errno)).map_err(io::Error::from)?;
        if read < errno.len() {
            return Ok(());
        }
        self.wait();
        let error = io::Error::from_raw_os_error(i32::from_ne_bytes(errno));
        Err(Error::from(error).context(format!("cannot run {:?}", self.name)))
    }

    /// Forwards a signal: `SIGINT` with `interrupt`, else `SIGTERM`. Has no effect on a command that has ended.
    pub fn forward(&self, interrupt: bool) {
        let signal = if interrupt { Signal::INT } else { Signal::TERM };
        let _ = pidfd_send_signal(&self.pidfd, signal);
    }

    /// Whether it has ended. Does not reap it, so that the kernel's counts for it can still be read.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        self.status.is_some()
            || poll(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0)
    }

    /// Waits until it ends. Returns its exit code, or 128 plus the signal that ended it.
    pub fn wait(&mut self) -> Option<i32> {
        self.reap(WaitOptions::empty())
    }

    /// Waits until it ends, but at most this long. Returns `None` when it is still running.
    pub fn wait_for(&mut self, at_most: Nanos) -> Option<i32> {
        let millis = i64::try_from(at_most.0 / 1_000_000).unwrap_or(i64::MAX);
        let timeout = Timespec { tv_sec: millis / 1000, tv_nsec: (millis % 1000) * 1_000_000 };
        // Interrupted or timed out: only whether it has ended counts.
        let _ = poll(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], Some(&timeout));
        self.reap(WaitOptions::NOHANG)
    }

    /// The resources it used, if it had ended when it was waited for.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.usage
    }

    fn reap(&mut self, options: WaitOptions) -> Option<i32> {
        if self.status.is_none() {
            self.usage = usage_of_ended(self.pid());
            let (_, status) = rustix::io::retry_on_intr(|| waitpid(Some(self.pid), options)).ok()??;
            self.status = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal));
        }
        self.status
    }
}

/// Readable once the command has ended.
impl AsFd for Started {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pidfd.as_fd()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // A child that was never released reads end of file and exits; a running command continues.
        let never_ran = self.go.take().is_some();
        if never_ran {
            self.wait();
        } else {
            self.reap(WaitOptions::NOHANG);
        }
    }
}

/// Resources used by an ended process: all its threads and the children it waited for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// CPU time, nanoseconds (the kernel reports microseconds).
    pub cpu_ns: u64,
    /// The part of it in user mode.
    pub user_ns: u64,
    /// Context switches because it blocked.
    pub voluntary: u64,
    /// Context switches because it was preempted.
    pub involuntary: u64,
}

/// Resources an ended child used; does not reap it. `None` while it runs, and for a process that is no child.
#[must_use]
pub fn usage_of_ended(pid: u32) -> Option<Usage> {
    // SAFETY: both are plain numbers, for which zeros are a valid value.
    let (mut info, mut usage): (libc::siginfo_t, libc::rusage) = unsafe { std::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // The C library's waitid has no parameter for the usage.
    // SAFETY: both structures are valid for the duration of the call, which writes nothing else.
    let failed =
        unsafe { libc::syscall(libc::SYS_waitid, libc::P_PID, pid, &raw mut info, options, &raw mut usage) } != 0;
    // Without an ended child, nothing is written.
    if failed || info.si_signo != libc::SIGCHLD {
        return None;
    }
    let number = |value: libc::c_long| u64::try_from(value).unwrap_or(0);
    let nanos = |time: libc::timeval| number(time.tv_sec) * 1_000_000_000 + number(time.tv_usec) * 1000;
    let user_ns = nanos(usage.ru_utime);
    let cpu_ns = user_ns + nanos(usage.ru_stime);
    Some(Usage { cpu_ns, user_ns, voluntary: number(usage.ru_nvcsw), involuntary: number(usage.ru_nivcsw) })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn argv(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_a_command_prints_comes_by_stream() {
        let (mut started, mut printed) = start_read(&argv(&["sh", "-c", "echo a; echo b >&2; printf c"])).unwrap();
        started.release().unwrap();
        let mut texts = [String::new(), String::new()];
        while printed.is_open() {
            printed.read(Nanos(50_000_000), &mut |at, bytes| texts[at].push_str(std::str::from_utf8(bytes).unwrap()));
        }
        assert_eq!((started.wait(), texts), (Some(0), ["a\nc".to_string(), "b\n".to_string()]));
    }

    fn ended(words: &[&str]) -> Option<i32> {
        let mut started = start(&argv(words)).unwrap();
        started.release().unwrap();
        started.wait()
    }

    #[test]
    fn the_exit_status_is_the_commands_own_or_tells_its_signal() {
        for (words, status) in
            [(&["true"][..], 0), (&["sh", "-c", "exit 7"][..], 7), (&["sh", "-c", "kill -TERM $$"][..], 128 + 15)]
        {
            assert_eq!(ended(words), Some(status), "{words:?}");
        }
    }

    #[test]
    fn an_ended_command_can_be_looked_at_until_it_is_waited_for() {
        let mut started = start(&argv(&["sh", "-c", "sleep 0.05; exit 3"])).unwrap();
        assert!(!started.has_ended());
        started.release().unwrap();
        while !started.has_ended() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(std::path::Path::new(&format!("/proc/{}/stat", started.pid())).exists());
        assert_eq!((started.wait(), started.has_ended()), (Some(3), true));
    }

    #[test]
    fn what_an_ended_command_and_its_children_used_is_known_before_it_is_waited_for() {
        let script = "for i in 1 2 3 4 5; do sleep 0.001; done; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
        let mut started = start(&argv(&["sh", "-c", script])).unwrap();
        started.release().unwrap();
        assert_eq!(usage_of_ended(started.pid()), None, "it runs");
        while !started.has_ended() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let usage = usage_of_ended(started.pid()).unwrap();
        assert!(usage.cpu_ns > 1_000_000 && usage.voluntary >= 10, "each sleep and each wait for it: {usage:?}");
        assert!(started.usage().is_none() && usage.user_ns <= usage.cpu_ns);
        assert_eq!((started.wait(), usage_of_ended(started.pid())), (Some(0), None));
        assert_eq!(started.usage(), Some(usage));
    }

    #[test]
    fn nothing_runs_before_the_release() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("mark");
        let mut started = start(&argv(&["touch", mark.to_str().unwrap()])).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(30));
        assert!(!mark.exists());
        started.release().unwrap();
        assert_eq!((started.wait(), mark.exists()), (Some(0), true));
    }

    #[test]
    fn a_command_that_does_not_exist_is_named_with_the_reason() {
        let mut started = start(&argv(&["no-such-command-here"])).unwrap();
        let error = started.release().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.to_string().starts_with("cannot run \"no-such-command-here\""), "{error}");
        assert_eq!(start(&[]).unwrap_err().kind(), ErrorKind::Usage);
    }

    #[test]
    fn a_child_that_is_never_released_is_not_left_behind() {
        let started = start(&argv(&["true"])).unwrap();
        let pid = started.pid();
        drop(started);
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists());
    }
}
