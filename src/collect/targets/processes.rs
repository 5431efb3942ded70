//! Lists the processes of a machine, with the CPU time each used since the last listing.
//! Leaves out processes that have ended and kernel threads, which can only be profiled system-wide.

use crate::error::Result;
use crate::model::limits::COMMAND_LINE;
use crate::model::{Measure, ProcessChoice, Why};
use crate::sys::helper;
use crate::sys::procfs::{ProcFs, resident_bytes, task_stat};
use crate::units::Nanos;
use std::collections::{HashMap, HashSet};
use std::os::unix::fs::MetadataExt;

/// The processes of the last listing.
#[derive(Debug)]
pub(super) struct Processes {
    proc: ProcFs,
    own: u32,
    user: Option<u32>,
    known: HashMap<u32, Known>,
}

/// The data kept about a process between two listings.
#[derive(Debug)]
struct Known {
    /// Start time, ticks since boot: the same id with another start time is another process.
    born: u64,
    comm: String,
    command: String,
    ticks: u64,
}

impl Processes {
    /// The processes of `proc`. `own` is this program's process id.
    pub fn new(proc: ProcFs, own: u32) -> Processes {
        let user = proc.status(own).ok().and_then(|status| status.uid);
        Processes { proc, own, user, known: HashMap::new() }
    }

    /// Lists the processes by id. `span` is the time since the last listing.
    pub fn list(&mut self, span: Option<Nanos>, tick: Nanos) -> Result<Vec<ProcessChoice>> {
        let mut pids = self.proc.processes()?;
        pids.sort_unstable();
        let mut before = std::mem::take(&mut self.known);
        let mut found: Vec<ProcessChoice> =
            pids.into_iter().filter_map(|pid| self.process(pid, before.remove(&pid), span, tick)).collect();
        let above = ancestors(&found, self.own);
        let helpers = helper::pids();
        found.retain(|process| process.pid != self.own && !helpers.contains(&process.pid));
        for process in &mut found {
            process.above = above.contains(&process.pid);
        }
        Ok(found)
    }

    /// A process; `None` if it ends in the meantime.
    fn process(&mut self, pid: u32, before: Option<Known>, span: Option<Nanos>, tick: Nanos) -> Option<ProcessChoice> {
        let text = self.proc.read(format!("{pid}/stat")).ok()?;
        let stat = task_stat(&text).filter(|stat| !stat.kernel_thread())?;
        // A process whose main thread has ended while others run also has state zombie; its thread count differs.
        if stat.zombie() && stat.threads <= 1 {
            return None;
        }
        let comm = String::from_utf8_lossy(stat.comm).into_owned();
        let ticks = stat.user_ticks[0].saturating_add(stat.system_ticks[0]);
        let before = before.filter(|known| known.born == stat.start_ticks);
        // A process started since the last listing has used its CPU time since then.
        let used = before.as_ref().map_or(0, |known| known.ticks);
        let cpu = cpus_used(Some(used), ticks, tick, span);
        // An exec normally changes the process's name, so the command line is read again only then. The new name is
        // visible before the new arguments.
        let command = match before {
            Some(known) if known.comm == comm && !known.command.is_empty() => known.command,
            _ => self.command(pid),
        };
        let memory = self.proc.read(format!("{pid}/statm")).ok().and_then(|text| resident_bytes(&text));
        self.known.insert(pid, Known { born: stat.start_ticks, comm: comm.clone(), command: command.clone(), ticks });
        Some(ProcessChoice {
            pid,
            parent: stat.parent,
            comm,
            command,
            threads: stat.threads,
            cpu,
            memory: memory.map_or(Measure::Missing(Why::NotPermitted), Measure::exact),
            ours: self.is_ours(pid),
            above: false,
        })
    }

    /// The command line, with arguments separated by spaces; empty if it cannot be read.
    fn command(&self, pid: u32) -> String {
        let Ok(bytes) = self.proc.start_of(format!("{pid}/cmdline"), COMMAND_LINE) else { return String::new() };
        let words = bytes.split(|&byte| byte == 0).map(String::from_utf8_lossy);
        words.collect::<Vec<_>>().join(" ").trim_end().to_string()
    }

    fn is_ours(&self, pid: u32) -> bool {
        let owner = || std::fs::metadata(self.proc.root().join(pid.to_string())).ok().map(|directory| directory.uid());
        self.user == Some(0) || self.user.is_some() && owner() == self.user
    }
}

/// Number of busy CPUs: the increase of a counter of CPU time in `unit`s, divided by the elapsed time.
pub(super) fn cpus_used(before: Option<u64>, now: u64, unit: Nanos, span: Option<Nanos>) -> Measure<f64> {
    match (before, span) {
        (Some(before), Some(span)) => {
            let grown = Nanos(now.saturating_sub(before).saturating_mul(unit.0));
            Measure::exact(grown.seconds() / span.seconds())
        }
        _ => Measure::Missing(Why::NotRecorded),
    }
}

/// The processes above this program: its parent, that one's parent, and so on.
fn ancestors(processes: &[ProcessChoice], own: u32) -> HashSet<u32> {
    let parents: HashMap<u32, u32> = processes.iter().map(|process| (process.pid, process.parent)).collect();
    let mut above = HashSet::new();
    let mut at = own;
    while let Some(&parent) = parents.get(&at) {
        if !above.insert(parent) {
            break;
        }
        at = parent;
    }
    above
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use std::path::Path;

    const TICK: Nanos = Nanos(10_000_000);

    /// A process of a fake /proc: ticks used, its name and parent; `flags` as the kernel prints them.
    fn plant(root: &Path, pid: u32, parent: u32, name: &str, ticks: u64, flags: u32, born: u64) {
        let directory = root.join(pid.to_string());
        std::fs::create_dir_all(&directory).unwrap();
        let stat = format!(
            "{pid} ({name}) S {parent} 1 1 0 -1 {flags} 0 0 0 0 {ticks} 0 7 7 20 0 3 0 {born} 0 0{}",
            " 0".repeat(28)
        );
        std::fs::write(directory.join("stat"), stat).unwrap();
        std::fs::write(directory.join("statm"), "9 2 1 1 0 1 0").unwrap();
        std::fs::write(directory.join("cmdline"), format!("/bin/{name}\0-x\0")).unwrap();
        std::fs::write(directory.join("status"), "Name:\tx\nUid:\t0\t0\t0\t0\n").unwrap();
    }

    #[test]
    fn a_second_listing_knows_what_was_used_since_the_first() {
        let root = tempfile::tempdir().unwrap();
        plant(root.path(), 1, 0, "init", 5, 0, 1);
        plant(root.path(), 7, 1, "shell", 50, 0, 2);
        plant(root.path(), 9, 7, "ironlaw", 5, 0, 3);
        plant(root.path(), 12, 1, "a) (b", 1000, 0, 4);
        plant(root.path(), 13, 2, "kworker", 1000, 0x0020_0000, 4);
        std::fs::create_dir(root.path().join("14")).unwrap();
        let mut processes = Processes::new(ProcFs::new(root.path()), 9);
        let first = processes.list(None, TICK).unwrap();
        assert_eq!(first.iter().map(|process| process.pid).collect::<Vec<_>>(), [1, 7, 12]);
        assert!(first.iter().all(|process| process.cpu.value().is_none() && process.ours));
        assert_eq!(first.iter().map(|process| process.above).collect::<Vec<_>>(), [true, true, false]);
        assert_eq!((first[2].comm.as_str(), first[2].command.as_str()), ("a) (b", "/bin/a) (b -x"));
        assert_eq!(first[2].threads, 3);

        plant(root.path(), 12, 1, "a) (b", 1050, 0, 4);
        plant(root.path(), 7, 1, "other", 8, 0, 99);
        plant(root.path(), 20, 1, "born", 25, 0, 98);
        let second = processes.list(Some(Nanos(500_000_000)), TICK).unwrap();
        let used: Vec<_> = second.iter().map(|process| (process.pid, process.cpu.value().copied().unwrap())).collect();
        assert_eq!(used, [(1, 0.0), (7, 0.16), (12, 1.0), (20, 0.5)]);
        assert_eq!(second[1].command, "/bin/other -x", "an id used again is another process");
    }

    #[test]
    fn processes_of_others_are_told_apart_from_ones_own() {
        let root = tempfile::tempdir().unwrap();
        plant(root.path(), 12, 1, "any", 0, 0, 4);
        let owner = std::fs::metadata(root.path()).unwrap().uid();
        for (chooser, expected) in [(0, true), (owner, true), (owner + 1, false)] {
            std::fs::create_dir_all(root.path().join("9")).unwrap();
            std::fs::write(root.path().join("9/status"), format!("Uid:\t0\t{chooser}\t0\t0\n")).unwrap();
            let listed = Processes::new(ProcFs::new(root.path()), 9).list(None, TICK).unwrap();
            assert_eq!(listed[0].ours, expected, "{chooser}");
        }
    }

    #[test]
    fn the_real_machine_is_listed_without_this_program() {
        let own = std::process::id();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mut processes = Processes::new(ProcFs::new("/proc"), own);
        let mut find = || {
            let listed = processes.list(None, TICK).unwrap();
            assert!(listed.iter().all(|process| process.pid != own));
            listed.into_iter().find(|process| process.pid == child.id()).unwrap()
        };
        // The child has this program's name until its exec.
        while find().comm != "sleep" {
            std::thread::yield_now();
        }
        // After an exec, the name appears before the memory, and the memory before the arguments.
        let settled = |process: &ProcessChoice| {
            process.memory.value().is_some_and(|bytes| *bytes > 4096) && process.command.ends_with("60")
        };
        let sleeper = (0..1000).map(|_| find()).find(settled).unwrap();
        assert_eq!((sleeper.parent, sleeper.threads, sleeper.ours, sleeper.above), (own, 1, true, false));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
