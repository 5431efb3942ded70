//! The process group of a started command: its leader is made one before it runs, and all of the group ends with this
//! process, even if that is killed: a guard waits for the end of a pipe and then kills the group.

use super::clock::monotonic_ns;
use super::spawn::Started;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::units::Nanos;
use rustix::process::{Pid, Signal, kill_process_group, setpgid, test_kill_process_group};
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// Time between asking the group to end and killing it.
const GRACE: Nanos = Nanos(2_000_000_000);
/// Members that were killed and not yet reaped keep the group in being.
const REAPED: Nanos = Nanos(1_000_000_000);
const STEP: std::time::Duration = std::time::Duration::from_millis(5);

/// A group that ends with this value or with this process, whichever ends first.
#[derive(Debug)]
pub struct ProcessGroup {
    leader: Pid,
    guard: Child,
    ended: bool,
}

impl ProcessGroup {
    /// Makes a child the leader of a group of its own. It must be held before its `exec`, as a started command is.
    ///
    /// # Errors
    /// The process is no child of this one, or no guard can be started.
    pub fn lead(pid: u32) -> Result<ProcessGroup> {
        let none = || Error::new(ErrorKind::NotFound, format!("no process {pid}"));
        let leader = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or_else(none)?;
        setpgid(Some(leader), Some(leader))
            .map_err(io::Error::from)
            .context(|| format!("cannot give process {pid} a group of its own"))?;
        // Not in this process's group: Ctrl-C must not end the guard before the group.
        let guard = Command::new("sh")
            .args(["-c", "read -r _; kill -s KILL -- \"-$0\""])
            .arg(pid.to_string())
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context(|| "cannot start sh")?;
        Ok(ProcessGroup { leader, guard, ended: false })
    }

    /// Stops all processes of the group where they are, or lets them continue.
    pub fn pause(&self, paused: bool) {
        self.signal(if paused { Signal::STOP } else { Signal::CONT });
    }

    /// Asks the group to end, and kills what is left of it when its leader has ended or after two seconds.
    pub fn end(&mut self, leader: &mut Started) {
        self.pause(false);
        self.signal(Signal::TERM);
        wait_until(GRACE, || leader.has_ended());
        // The leader is not reaped yet, so the number still belongs to this group.
        self.finish();
        leader.wait();
        wait_until(REAPED, || !self.is_alive());
    }

    /// Kills what is left of the group, at once.
    pub fn finish(&mut self) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        self.signal(Signal::KILL);
        // The end of its input lets the guard kill a group that is gone already.
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }

    fn is_alive(&self) -> bool {
        test_kill_process_group(self.leader).is_ok()
    }

    fn signal(&self, signal: Signal) {
        let _ = kill_process_group(self.leader, signal);
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.finish();
    }
}

fn wait_until(at_most: Nanos, mut holds: impl FnMut() -> bool) {
    let end = monotonic_ns().saturating_add(at_most.0);
    while !holds() && monotonic_ns() < end {
        std::thread::sleep(STEP);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::spawn;
    use super::*;

    fn started(script: &str) -> (spawn::Started, ProcessGroup) {
        let argv = ["sh", "-c", script].map(String::from);
        let mut started = spawn::start(&argv).unwrap();
        let group = ProcessGroup::lead(started.pid()).unwrap();
        started.release().unwrap();
        (started, group)
    }

    fn runs(pid: &str) -> bool {
        let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        !state.is_empty() && !state.contains(") Z ")
    }

    fn written(path: &std::path::Path) -> String {
        let text = || std::fs::read_to_string(path).unwrap_or_default();
        wait_until(Nanos(30_000_000_000), || text().ends_with('\n'));
        text()
    }

    #[test]
    fn what_a_command_left_in_the_background_ends_with_its_group() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("pid");
        let (mut leader, mut group) = started(&format!("sleep 1000 & echo $! > {}; wait", mark.display()));
        let pid = written(&mark);
        assert!(runs(&pid));
        group.end(&mut leader);
        wait_until(Nanos(30_000_000_000), || !runs(&pid));
        assert!(!runs(&pid));
    }

    #[test]
    fn a_group_that_ignores_the_request_is_killed_even_while_it_is_stopped() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("ready");
        let (mut leader, mut group) =
            started(&format!("trap '' TERM; echo ready > {}; while :; do sleep 0.01; done", mark.display()));
        written(&mark);
        group.pause(true);
        group.end(&mut leader);
        assert_eq!(leader.wait(), Some(128 + 9));
    }

    #[test]
    fn the_guard_kills_the_group_when_its_pipe_ends_as_it_does_with_a_killed_process() {
        let (mut leader, mut group) = started("sleep 1000");
        drop(group.guard.stdin.take());
        assert_eq!(leader.wait(), Some(128 + 9));
        group.ended = true;
    }
}
