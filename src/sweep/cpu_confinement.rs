//! Confines all threads of a running target to fewer CPUs and restores exactly the previous affinities: on request, on
//! drop, and from the journal after a kill. Threads born while confined inherit the confinement from their creator.

use super::journal::{Journal, JournalEntries, Journals, ThreadAffinity};
use crate::error::{Error, ErrorKind, Result};
use crate::model::Target;
use crate::sys::procfs::{self, ProcFs};
use crate::sys::{affinity, cgroupfs};
use std::collections::BTreeMap;

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
    /// `NotFound` if nothing of the target runs, `NotPermitted` for another user's process, `Usage` if another sweep
    /// changes it, or any journal file error.
    pub fn begin(proc: ProcFs, target: Target, journals: &Journals, allowed: &[u32]) -> Result<CpuConfinement> {
        let sweeper = std::process::id();
        let started = started(&proc, sweeper).unwrap_or(0);
        let mut confinement = CpuConfinement {
            proc,
            target,
            found: BTreeMap::new(),
            journal: journals.journal(sweeper),
            sweeper: (sweeper, started),
            confined_before: 0,
        };
        confinement.scan_threads();
        if confinement.found.is_empty() {
            let gone =
                Error::new(ErrorKind::NotFound, format!("no thread of {} is running", confinement.target.label()));
            return Err(gone);
        }
        if let Err(error) = confinement.check_alone(journals) {
            // Nothing was changed, so nothing is to be restored.
            confinement.found.clear();
            return Err(error);
        }
        let is_confined = |found: &&ThreadAffinity| allowed.iter().any(|cpu| !found.cpus.contains(cpu));
        confinement.confined_before = confinement.found.values().filter(is_confined).count();
        confinement.write()?;
        Ok(confinement)
    }

    /// What another sweep has confined must not be taken for its usual affinity.
    fn check_alone(&self, journals: &Journals) -> Result<()> {
        let entries = journals.all()?.into_iter().filter_map(|(_, entries)| entries.ok());
        let is_shared = |entries: &JournalEntries| {
            let is_ours =
                |other: &ThreadAffinity| self.found.get(&other.tid).is_some_and(|own| own.started == other.started);
            entries.sweeper != self.sweeper.0 && entries.threads.iter().any(is_ours)
        };
        let Some(other) = entries.filter(is_shared).find(|entries| sweep_is_running(&self.proc, entries)) else {
            return Ok(());
        };
        let text = format!("process {} sweeps {} already", other.sweeper, self.target.label());
        Err(Error::new(ErrorKind::Usage, text).hint("Start this sweep when that one has ended."))
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
            Target::Cgroup { .. } => {
                let groups = self.target.outermost_cgroups().into_iter();
                groups.flat_map(|path| cgroupfs::processes(path).unwrap_or_default()).flat_map(of).collect()
            }
            Target::Cpus { .. } | Target::Command { .. } => Vec::new(),
        }
    }

    fn entries(&self) -> JournalEntries {
        let (sweeper, sweeper_started) = self.sweeper;
        JournalEntries { sweeper, sweeper_started, threads: self.found.values().cloned().collect(), groups: vec![] }
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

/// What became of the journal of another sweep.
#[derive(Debug, PartialEq, Eq)]
pub enum Leftover {
    /// The sweep still runs, as this process.
    Running(u32),
    /// The sweep was killed: this many threads have their affinity back, or control groups are removed.
    Restored(usize),
}

/// Restores what killed sweeps left confined, and removes their journals.
///
/// # Errors
/// The directory of the journals cannot be read. An entry fails where its journal cannot be read or a thread restored.
pub fn restore_killed(proc: &ProcFs, journals: &Journals) -> Result<Vec<(Journal, Result<Leftover>)>> {
    let restore = |(journal, entries): (Journal, Result<JournalEntries>)| {
        let done = entries.and_then(|entries| {
            if sweep_is_running(proc, &entries) {
                return Ok(Leftover::Running(entries.sweeper));
            }
            let born = born_since(proc, &entries);
            let threads = entries.threads.iter().chain(&born).cloned().collect::<Vec<_>>();
            let count = threads.len() + entries.groups.len();
            let removed = entries.groups.iter().try_for_each(|group| cgroupfs::remove_own(group));
            let restored = restore_affinity(proc, &JournalEntries { threads, ..entries });
            restored.and(removed).map(|()| Leftover::Restored(count))
        });
        if matches!(done, Ok(Leftover::Restored(_))) {
            journal.close();
        }
        (journal, done)
    };
    Ok(journals.all()?.into_iter().map(restore).collect())
}

/// Threads that a sweep's target has started since the sweep began, which the journal may lack. They inherited the
/// confinement of their process.
fn born_since(proc: &ProcFs, entries: &JournalEntries) -> Vec<ThreadAffinity> {
    let is_known = |tid| entries.threads.iter().any(|known| known.tid == tid);
    let alive = entries.threads.iter().filter(|known| started(proc, known.tid) == Some(known.started));
    let processes: BTreeMap<u32, &ThreadAffinity> = alive.map(|known| (known.pid, known)).collect();
    let born = |process: &ThreadAffinity| {
        let of_process = process.clone();
        let threads = proc.threads(process.pid).unwrap_or_default().into_iter().filter(|tid| !is_known(*tid));
        let started = threads.filter_map(|tid| Some((tid, started(proc, tid)?)));
        let since = started.filter(|(_, started)| *started >= entries.sweeper_started);
        since.map(|(tid, started)| ThreadAffinity { tid, started, ..of_process.clone() }).collect::<Vec<_>>()
    };
    processes.into_values().flat_map(born).collect()
}

/// Restores the affinity of threads. Skips threads that have ended.
///
/// # Errors
/// The first thread that could not be restored, after trying all others.
fn restore_affinity(proc: &ProcFs, entries: &JournalEntries) -> Result<()> {
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
fn sweep_is_running(proc: &ProcFs, entries: &JournalEntries) -> bool {
    let text = proc.read(format!("{}/stat", entries.sweeper)).unwrap_or_default();
    procfs::task_stat(&text).is_some_and(|stat| stat.start_ticks == entries.sweeper_started && !stat.zombie())
}

fn ignore_ended(done: Result<()>) -> Result<()> {
    done.or_else(|error| if error.kind() == ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

pub(super) fn started(proc: &ProcFs, tid: u32) -> Option<u64> {
    Some(procfs::task_stat(&proc.read(format!("{tid}/stat")).ok()?)?.start_ticks)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::process::{Child, Command};
    use tempfile::TempDir;

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

    fn begin(busy: &Busy, dir: &TempDir) -> CpuConfinement {
        try_begin(busy, dir).unwrap()
    }

    fn try_begin(busy: &Busy, dir: &TempDir) -> Result<CpuConfinement> {
        CpuConfinement::begin(ProcFs::new("/proc"), busy.target(), &journals(dir), &affinity::get(0).unwrap())
    }

    fn journals(dir: &TempDir) -> Journals {
        Journals::open(&dir.path().join("j")).unwrap()
    }

    #[test]
    fn what_was_found_is_put_back_when_told_and_when_dropped() {
        let (dir, busy) = (tempfile::tempdir().unwrap(), Busy::start());
        let before = busy.cpus();
        let mut confinement = begin(&busy, &dir);
        confinement.confine(&before[..1]).unwrap();
        assert_eq!(busy.cpus(), before[..1]);
        confinement.restore().unwrap();
        assert_eq!(busy.cpus(), before);
        let mut again = begin(&busy, &dir);
        again.confine(&before[..1]).unwrap();
        drop(again);
        assert_eq!(busy.cpus(), before);
        assert!(journals(&dir).all().unwrap().is_empty());
    }

    #[test]
    fn the_journal_is_there_before_the_first_change_and_is_enough_to_put_things_back() {
        let (dir, busy) = (tempfile::tempdir().unwrap(), Busy::start());
        let before = busy.cpus();
        let mut confinement = begin(&busy, &dir);
        let entries = journals(&dir).all().unwrap().remove(0).1.unwrap();
        assert!(sweep_is_running(&ProcFs::new("/proc"), &entries));
        confinement.confine(&before[..1]).unwrap();
        std::mem::forget(confinement);
        restore_affinity(&ProcFs::new("/proc"), &entries).unwrap();
        assert_eq!(busy.cpus(), before);
    }

    #[test]
    fn what_a_killed_sweep_left_is_restored_before_the_next_one_looks() {
        let (dir, busy, proc) = (tempfile::tempdir().unwrap(), Busy::start(), ProcFs::new("/proc"));
        let before = busy.cpus();
        let mut killed = begin(&busy, &dir);
        killed.confine(&before[..1]).unwrap();
        std::mem::forget(killed);
        let (own, entries) = journals(&dir).all().unwrap().remove(0);
        own.close();
        let running = JournalEntries { sweeper: busy.0.id(), ..entries.unwrap() };
        let journal = journals(&dir).journal(running.sweeper);
        let started = started(&proc, busy.0.id()).unwrap();
        journal.write(&JournalEntries { sweeper_started: started, ..running.clone() }).unwrap();
        assert_eq!(try_begin(&busy, &dir).unwrap_err().kind(), ErrorKind::Usage, "that one runs");
        let leftover = |dir| restore_killed(&proc, &journals(dir)).unwrap().remove(0).1.unwrap();
        assert_eq!((leftover(&dir), busy.cpus()), (Leftover::Running(busy.0.id()), before[..1].to_vec()));
        journal.write(&JournalEntries { sweeper_started: started + 1, ..running }).unwrap();
        assert_eq!((leftover(&dir), busy.cpus()), (Leftover::Restored(1), before.clone()));
        assert!(restore_killed(&proc, &journals(&dir)).unwrap().is_empty());
        assert_eq!(begin(&busy, &dir).confined_before(), 0);
    }

    #[test]
    fn threads_that_were_born_after_the_journal_get_the_affinity_of_their_process() {
        let (proc, own) = (ProcFs::new("/proc"), std::process::id());
        let (tell, told) = std::sync::mpsc::channel();
        let born = std::thread::spawn(move || {
            tell.send(std::fs::read_link("/proc/thread-self").unwrap()).unwrap();
            std::thread::park();
        });
        // Others are born beside it.
        let tid = told.recv().unwrap().file_name().unwrap().to_str().unwrap().parse().unwrap();
        let known = ThreadAffinity { pid: own, tid: own, started: started(&proc, own).unwrap(), cpus: vec![0, 7] };
        let found = |sweeper_started, known: &ThreadAffinity| {
            let entries =
                JournalEntries { sweeper: u32::MAX, sweeper_started, threads: vec![known.clone()], groups: vec![] };
            born_since(&proc, &entries).into_iter().find(|thread| thread.tid == tid)
        };
        let at = started(&proc, tid).unwrap();
        assert_eq!(found(at, &known), Some(ThreadAffinity { tid, started: at, ..known.clone() }));
        assert_eq!(found(at + 1, &known), None, "older than the sweep");
        let other = ThreadAffinity { started: known.started + 1, ..known };
        assert_eq!(found(at, &other), None, "another process of the same number");
        born.thread().unpark();
        born.join().unwrap();
    }

    #[test]
    fn another_thread_of_the_same_number_is_left_alone() {
        let (dir, busy) = (tempfile::tempdir().unwrap(), Busy::start());
        let before = busy.cpus();
        let mut confinement = begin(&busy, &dir);
        let mut entries = confinement.entries();
        entries.threads[0].started += 1;
        confinement.confine(&before[..1]).unwrap();
        restore_affinity(&ProcFs::new("/proc"), &entries).unwrap();
        assert_eq!(busy.cpus(), before[..1]);
    }

    #[test]
    fn a_target_that_is_gone_is_said_to_be() {
        let (dir, mut busy) = (tempfile::tempdir().unwrap(), Busy::start());
        let mut confinement = begin(&busy, &dir);
        busy.0.kill().unwrap();
        busy.0.wait().unwrap();
        assert_eq!(confinement.confine(&[0]).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
