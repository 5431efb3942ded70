//! Runs a user's shell command in its own process group, with a time limit and without input.
//! When the command ends or its time is over, the rest of its group is killed.

pub use super::signals::StopToken;

use super::clock::monotonic_ns;
use crate::error::{Context, Result};
use crate::units::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

/// Time between asking the group to end and killing it.
const GRACE: Nanos = Nanos(2_000_000_000);

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code, or 128 plus the signal that ended it.
    pub status: i32,
    /// How long it ran.
    pub took: Nanos,
    /// Whether it was ended early, by the time limit or by `stop`.
    pub cut_short: bool,
}

/// Runs `sh -c line` to its end with these environment variables; its output goes to `output`. After `at_most`, or when
/// `stop` is triggered, the whole group gets SIGTERM and later SIGKILL.
///
/// # Errors
/// The shell cannot be started.
pub fn run(
    line: &str,
    variables: &[(&str, String)],
    output: OwnedFd,
    at_most: Nanos,
    stop: &StopToken,
) -> Result<Ended> {
    let begun = monotonic_ns();
    let again = output.try_clone().context(|| "cannot hand the output on")?;
    let mut command = Command::new("sh");
    command.arg("-c").arg(line).process_group(0);
    command.stdin(Stdio::null()).stdout(output).stderr(again);
    for (name, value) in variables {
        // A zero byte would make the command fail to start.
        command.env(name, value.replace('\0', "?"));
    }
    let mut group = Group { child: command.spawn().context(|| "cannot start sh")? };
    let in_time = group.wait(at_most, Some(stop))?;
    if !in_time {
        group.signal(Signal::TERM);
        group.wait(GRACE, None)?;
    }
    let took = Nanos(monotonic_ns().saturating_sub(begun));
    let status = group.end();
    Ok(Ended { status, took, cut_short: !in_time })
}

/// A shell that leads its process group. The rest of the group is killed with it.
struct Group {
    child: Child,
}

impl Group {
    fn pid(&self) -> Option<Pid> {
        i32::try_from(self.child.id()).ok().and_then(Pid::from_raw)
    }

    fn signal(&self, signal: Signal) {
        // The shell has not been reaped, so the number still belongs to this group.
        if let Some(pid) = self.pid() {
            let _ = kill_process_group(pid, signal);
        }
    }

    /// Whether it ended within the time and before `stop` was triggered. Does not reap it, so its pid stays valid.
    fn wait(&self, at_most: Nanos, stop: Option<&StopToken>) -> Result<bool> {
        let Some(pid) = self.pid() else { return Ok(false) };
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).map_err(std::io::Error::from).context(|| "cannot watch sh")?;
        let deadline = monotonic_ns().saturating_add(at_most.0);
        loop {
            let left = deadline.saturating_sub(monotonic_ns());
            let timeout = Timespec {
                tv_sec: i64::try_from(left / 1_000_000_000).unwrap_or(i64::MAX),
                tv_nsec: i64::try_from(left % 1_000_000_000).unwrap_or(0),
            };
            let mut fds = vec![PollFd::new(&pidfd, PollFlags::IN)];
            fds.extend(stop.map(|stop| PollFd::new(stop, PollFlags::IN)));
            // Interrupted or timed out: only the ready descriptors count.
            let _ = poll(&mut fds, Some(&timeout));
            let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
            match ready[..] {
                [true, ..] => return Ok(true),
                [_, true] => return Ok(false),
                _ if left == 0 => return Ok(false),
                _ => {}
            }
        }
    }

    /// Kills the rest of the group and waits for the shell.
    fn end(&mut self) -> i32 {
        self.signal(Signal::KILL);
        let code = |status: ExitStatus| status.code().or_else(|| status.signal().map(|signal| 128 + signal));
        self.child.wait().ok().and_then(code).unwrap_or(128)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            self.end();
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::fs::File;

    const LONG: Nanos = Nanos(60_000_000_000);

    fn ran(line: &str, at_most: Nanos, stop: &StopToken) -> (Ended, String) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        let variables = [("IRONLAW_SUSPECT", "a 'b' $(c)\0d".to_string())];
        let ended = run(line, &variables, File::create(&path).unwrap().into(), at_most, stop).unwrap();
        (ended, std::fs::read_to_string(path).unwrap())
    }

    #[test]
    fn a_command_sees_its_variables_and_its_output_is_kept() {
        let (ended, output) =
            ran("echo \"$IRONLAW_SUSPECT\"; cat; echo x >&2; exit 7", LONG, &StopToken::new().unwrap());
        assert_eq!((ended.status, ended.cut_short), (7, false));
        assert_eq!(output, "a 'b' $(c)?d\nx\n");
    }

    #[test]
    fn what_takes_too_long_is_ended_with_all_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("pid");
        let line = format!("sleep 1000 & echo $! > {}; wait", mark.display());
        let (ended, _) = ran(&line, Nanos(300_000_000), &StopToken::new().unwrap());
        assert_eq!((ended.status, ended.cut_short), (128 + 15, true));
        let pid = std::fs::read_to_string(mark).unwrap();
        // The signal was sent, but the scheduler decides when the process runs to receive it.
        let runs = || {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
            !state.is_empty() && !state.contains(") Z ")
        };
        let begun = std::time::Instant::now();
        while runs() && begun.elapsed().as_secs() < 60 {
            std::thread::yield_now();
        }
        assert!(!runs());
    }

    #[test]
    fn a_pulled_token_ends_it_and_so_does_the_end_of_the_shell() {
        let stop = StopToken::new().unwrap();
        stop.stop();
        assert!(ran("sleep 1000", LONG, &stop).0.cut_short);
        let (ended, _) = ran("sleep 1000 & exit 0", LONG, &StopToken::new().unwrap());
        assert_eq!((ended.status, ended.cut_short), (0, false));
    }
}
