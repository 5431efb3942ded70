//! Starts and ends helpers.

use super::channel::Channel;
use crate::error::{Context, Result};
use crate::sys::clock::{Clock, process_cpu_of};
use crate::units::Nanos;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A helper; it is killed when dropped.
#[derive(Debug)]
pub struct Helper {
    process: Child,
    /// CPU time it had used when it was last looked at: there is none to read of a process that is gone.
    used: Nanos,
    /// The connection to it.
    pub channel: Channel,
}

/// Time between the end of a process's connection and its own.
const DYING: Nanos = Nanos(200_000_000);

/// The processes that run, by id, and the CPU time of those that ended: what they use is this program's cost.
static RUNNING: Mutex<(Vec<u32>, Nanos)> = Mutex::new((Vec::new(), Nanos(0)));

fn running() -> MutexGuard<'static, (Vec<u32>, Nanos)> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The ids of the helpers of this process.
#[must_use]
pub fn pids() -> Vec<u32> {
    running().0.clone()
}

/// CPU time of all helpers of this process so far.
#[must_use]
pub fn cpu() -> Nanos {
    let running = running();
    running.0.iter().filter_map(|pid| process_cpu_of(*pid)).fold(running.1, |sum, cpu| sum + cpu)
}

impl Helper {
    /// Starts this program again under `name`, by which its `main` knows what to do: see [`super::enter`]. No wait for it is
    /// longer than `silence`.
    ///
    /// # Errors
    /// As `socketpair(2)` and `execve(2)`.
    pub fn start(name: &str, silence: Duration) -> Result<Helper> {
        let (ours, theirs) = Channel::pair()?;
        ours.limit_silence(silence)?;
        let process = Command::new("/proc/self/exe")
            .arg0(name)
            .env_clear()
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            // Where it dies, the caller says so in its own words.
            .stderr(Stdio::null())
            // An interrupt from the terminal is for the caller, which still needs it to finish.
            .process_group(0)
            .spawn()
            .context(|| format!("cannot start the process {name}"))?;
        running().0.push(process.id());
        Ok(Helper { process, used: Nanos(0), channel: ours })
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// CPU time it has used; `None` once it has ended.
    #[must_use]
    pub fn cpu(&self) -> Option<Nanos> {
        process_cpu_of(self.pid())
    }

    /// Whether `SIGKILL` has ended it: from outside, as it is never sent from here before [`Helper::end`].
    /// Call it when its connection has ended.
    pub fn was_killed(&mut self) -> bool {
        self.last_status().is_some_and(|status| status.signal() == Some(libc::SIGKILL))
    }

    /// How it ended; `None` if it takes too long over that. In the middle of a system call that waits for another process,
    /// it does so even when it is killed.
    fn last_status(&mut self) -> Option<ExitStatus> {
        let clock = Clock::start();
        let mut status = self.status();
        while status.is_none() && clock.now() < DYING {
            std::thread::sleep(Duration::from_millis(2));
            status = self.status();
        }
        status
    }

    fn status(&mut self) -> Option<ExitStatus> {
        self.used = self.cpu().unwrap_or(self.used);
        self.process.try_wait().ok().flatten()
    }

    /// Ends it, and returns the signal that had already ended it, if one had.
    pub fn end(&mut self) -> Option<i32> {
        let already = self.status();
        // Fails only where it has ended.
        let _ = self.process.kill();
        self.last_status();
        let (pid, mut all) = (self.pid(), running());
        if let Some(at) = all.0.iter().position(|known| *known == pid) {
            all.0.swap_remove(at);
            all.1 += self.used;
        }
        already.and_then(|status| status.signal())
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        self.end();
    }
}
