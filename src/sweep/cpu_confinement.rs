//! Confines all threads of a running target to fewer CPUs and restores exactly the previous affinities: on request, on
//! drop, and from the journal after a kill. Threads born while confined inherit the confinement from their creator.

use super::journal::{Journal, JournalEntries, ThreadAffinity};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Target;
use crate::sys::procfs::{self, ProcFs};
use crate::sys::{affinity, cgroupfs};
use std::collections::BTreeMap;
use std::path::Path;

/// Maximum number of scans for new threads. Gives up on a program that starts threads faster than they can be read.
const MOST_ROUNDS: usize = 100;

/// A target whose CPU affinity is being changed.
#[derive(Debug)]
pub struct CpuConfinement {
    proc: ProcFs,
    target: Target,
    found: BTreeMap<u32, ThreadAffinity>,
    journal: Journal,
    sweeper: (u32, u64),
    /// Number of threads that were already confined.
    confined_before: usize,
}

impl CpuConfinement {
    /// Records the current affinities in memory and in the journal. Changes nothing yet.
    ///
    /// # Errors
    /// `NotFound` if nothing of the target runs, `NotPermitted` for another user's process, or any journal file error.
    pub fn begin(proc: ProcFs, target: Target, journals: &Path, allowed: &[u32]) -> Result<CpuConfinement> {
        let sweeper = std::process::id();
        let started = started(&proc, sweeper).unwrap_or(0);
        let journal = Journal::create(journals, sweeper)?;
        let mut confinement = CpuConfinement {
            proc,
            target,
            found: BTreeMap::new(),
            journal,
            sweeper: (sweeper, started),
            confined_before: 0,
        };
        confinement.scan_threads();
        if confinement.found.is_empty() {
            let gone =
                Error::new(ErrorKind::NotFound, format!("no thread of {} is running", confinement.target.label()));
            return Err(gone);
        }
        let is_confined = |found: &&ThreadAffinity| allowed.iter().any(|cpu| !found.cpus.contains(cpu));
        confinement.confined_before = confinement.found.values().filter(is_confined).count();
        confinement.write()?;
        Ok(confinement)
    }

    /// Number of threads that were already confined.
    #[must_use]
    pub fn confined_before(&self) -> usize {
        self.confined_before
    }

    /// Confines every thread to these CPUs. A thread that was already confined stays on those of them it had, if any.
    ///
    /// # Errors
    /// `NotPermitted` for a thread that may not be changed, `NotFound` if the target has ended.
    pub fn confine(&mut self, cpus: &[u32]) -> Result<()> {
        for _ in 0..MOST_ROUNDS {
            for found in self.found.values() {
                let own: Vec<u32> = cpus.iter().copied().filter(|cpu| found.cpus.contains(cpu)).collect();
                ignore_ended(affinity::set(found.tid, if own.is_empty() { cpus } else { &own }))?;
            }
            let known = self.found.len();
            self.scan_threads();
            if self.found.len() == known {
                break;
            }
            self.write()?;
        }
        if self.found.is_empty() {
            return Err(Error::new(ErrorKind::NotFound, format!("{} has ended", self.target.label())));
        }
        Ok(())
    }

    /// Restores all affinities.
    ///
    /// # Errors
    /// The first thread that could not be restored. All others have been restored, and the journal stays.
    pub fn restore(&mut self) -> Result<()> {
        // Threads born in the meantime inherited their process's confinement.
        self.scan_threads();
        let entries = self.entries();
        restore_affinity(&self.proc, &entries)?;
        self.found.clear();
        self.journal.close();
        Ok(())
    }

    /// Adds unknown threads with the affinity to restore. A newborn thread gets that of its process.
    fn scan_threads(&mut self) {
        let first = self.found.is_empty();
        let mut now = BTreeMap::new();
        for (pid, tid) in self.threads() {
            let Some(started) = started(&self.proc, tid) else { continue };
            let known = self.found.get(&tid).filter(|found| found.started == started).cloned();
            let cpus = || if first { affinity::get(tid).ok() } else { self.inherited(pid) };
            if let Some(found) = known.or_else(|| Some(ThreadAffinity { pid, tid, started, cpus: cpus()? })) {
                now.insert(tid, found);
            }
        }
        self.found = now;
    }

    /// The affinity that a newborn thread would have had: that of its process, or of another process of the target.
    fn inherited(&self, pid: u32) -> Option<Vec<u32>> {
        let widest = || self.found.values().max_by_key(|found| found.cpus.len());
        let found = self.found.values().find(|found| found.pid == pid).or_else(widest)?;
        Some(found.cpus.clone())
    }

    /// Process id and thread id of every thread.
    fn threads(&self) -> Vec<(u32, u32)> {
        let of = |pid: u32| {
            let threads = self.proc.threads(pid).unwrap_or_default();
            threads.into_iter().map(move |tid| (pid, tid))
        };
        match &self.target {
            Target::Processes { pids, children } => {
                let pids = if *children { self.proc.with_descendants(pids) } else { pids.clone() };
                pids.into_iter().flat_map(of).collect()
            }
            Target::Threads { tids } => tids.iter().map(|tid| (*tid, *tid)).collect(),
            Target::Cgroup { path, .. } => {
                cgroupfs::processes(path).unwrap_or_default().into_iter().flat_map(of).collect()
            }
            Target::Cpus { .. } | Target::Command { .. } => Vec::new(),
        }
    }

    fn entries(&self) -> JournalEntries {
        let (sweeper, sweeper_started) = self.sweeper;
        JournalEntries { sweeper, sweeper_started, threads: self.found.values().cloned().collect() }
    }

    fn write(&self) -> Result<()> {
        self.journal.write(&self.entries())
    }
}

impl Drop for CpuConfinement {
    fn drop(&mut self) {
        if !self.found.is_empty() {
            // Threads that could not be restored stay in the journal.
            let _ = self.restore();
        }
    }
}

/// Restores the affinity of threads. Skips threads that have ended.
///
/// # Errors
/// The first thread that could not be restored, after trying all others.
pub fn restore_affinity(proc: &ProcFs, entries: &JournalEntries) -> Result<()> {
    let mut failure = None;
    for found in &entries.threads {
        if started(proc, found.tid) == Some(found.started)
            && let Err(error) = ignore_ended(affinity::set(found.tid, &found.cpus))
        {
            failure.get_or_insert(error);
        }
    }
    failure.map_or(Ok(()), Err)
}

/// Whether the sweep that wrote the journal still runs. A killed but not yet reaped sweep does not count.
#[must_use]
pub fn sweep_is_running(proc: &ProcFs, entries: &JournalEntries) -> bool {
    let text = proc.read(format!("{}/stat", entries.sweeper)).unwrap_or_default();
    procfs::task_stat(&text).is_some_and(|stat| stat.start_ticks == entries.sweeper_started && !stat.zombie())
}

fn ignore_ended(done: Result<()>) -> Result<()> {
    done.or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

fn started(proc: &ProcFs, tid: u32) -> Option<u64> {
    Some(procfs::task_stat(&proc.read(format!("{tid}/stat")).ok()?)?.start_ticks)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    struct Busy(Child);

    impl Busy {
        fn start() -> Busy {
            Busy(Command::new("sleep").arg("60").spawn().unwrap())
        }

        fn target(&self) -> Target {
            Target::Processes { pids: vec![self.0.id()], children: false }
        }

        fn cpus(&self) -> Vec<u32> {
            affinity::get(self.0.id()).unwrap()
        }
    }

    impl Drop for Busy {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn begin(busy: &Busy, dir: &Path) -> CpuConfinement {
        CpuConfinement::begin(ProcFs::new("/proc"), busy.target(), dir, &affinity::get(0).unwrap()).unwrap()
    }

    #[test]
    fn what_was_found_is_put_back_when_told_and_when_dropped() {
        let (dir, busy) = (tempfile::tempdir().unwrap(), Busy::start());
        let before = busy.cpus();
        let mut confinement = begin(&busy, dir.path());
        confinement.confine(&before[..1]).unwrap();
        assert_eq!(busy.cpus(), before[..1]);
        confinement.restore().unwrap();
        assert_eq!(busy.cpus(), before);
        let mut again = begin(&busy, dir.path());
        again.confine(&before[..1]).unwrap();
        drop(again);
        assert_eq!(busy.cpus(), before);
        assert!(Journal::all(dir.path()).unwrap().is_empty());
    }

    #[test]
    fn the_journal_is_there_before_the_first_change_and_is_enough_to_put_things_back() {
        let (dir, busy) = (tempfile::tempdir().unwrap(), Busy::start());
        let before = busy.cpus();
        let mut confinement = begin(&busy, dir.path());
        let entries = Journal::all(dir.path()).unwrap().remove(0).1.unwrap();
        assert!(sweep_is_running(&ProcFs::new("/proc"), &entries));
        confinement.confine(&before[..1]).unwrap();
        std::mem::forget(confinement);
        restore_affinity(&ProcFs::new("/proc"), &entries).unwrap();
        assert_eq!(busy.cpus(), before);
    }

    #[test]
    fn another_thread_of_the_same_number_is_left_alone() {
        let (dir, busy) = (tempfile::tempdir().unwrap(), Busy::start());
        let before = busy.cpus();
        let mut confinement = begin(&busy, dir.path());
        let mut entries = confinement.entries();
        entries.threads[0].started += 1;
        confinement.confine(&before[..1]).unwrap();
        restore_affinity(&ProcFs::new("/proc"), &entries).unwrap();
        assert_eq!(busy.cpus(), before[..1]);
    }

    #[test]
    fn a_target_that_is_gone_is_said_to_be() {
        let (dir, mut busy) = (tempfile::tempdir().unwrap(), Busy::start());
        let mut confinement = begin(&busy, dir.path());
        busy.0.kill().unwrap();
        busy.0.wait().unwrap();
        assert_eq!(confinement.confine(&[0]).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
