//! Reads what every process outside the target has used since the capture began. It keeps no file open: the CPU clock
//! alone shows that a process has not run, and costs no more than reading an open file.

use super::usage::{NeighbourIdentity, NeighbourTotals, NeighbourUsage, ReportedUsage};
use super::{NeighbourSources, TargetUsage};
use crate::error::Result;
use crate::model::{Event, NeighbourKind};
use crate::sys::cgroupfs::{Hierarchy, membership};
use crate::sys::clock::CpuClock;
use crate::sys::helper;
use crate::sys::procfs::{self, ProcFs, Scratch, TaskDir, TaskStat};
use crate::units::Nanos;
use rustc_hash::FxHashMap;

/// How often a rename turns a process into a new neighbour; a process that keeps renaming itself then stays the same.
const RENAMED: u8 = 8;

/// How many threads of a process are asked at most where they run.
const MOST_THREADS: usize = 64;

/// The processes seen so far.
#[derive(Debug)]
pub(super) struct Processes {
    proc: ProcFs,
    dir: TaskDir,
    cpu_clock: CpuClock,
    tick_ns: u64,
    own_pid: u32,
    hierarchy: Option<Hierarchy>,
    /// Whether storage traffic is read.
    with_storage: bool,
    known: FxHashMap<u32, Process>,
    /// A process born before this moment (ticks since boot) had already used CPU time when it was first seen.
    opened_ticks: u64,
    round: u64,
    others: Nanos,
    ours: Nanos,
    scratch: Scratch,
}

#[derive(Debug)]
struct Process {
    start_ticks: u64,
    name: String,
    /// CPU time since its birth, as last read.
    cpu: Nanos,
    io: Option<u64>,
    /// What it had used before it became this neighbour.
    cpu_before: Nanos,
    io_before: Option<u64>,
    parent: u32,
    /// CPU time of its ended children and theirs, as the kernel credited it with; then what of it is known from reading
    /// them while they lived, or was used before it became this neighbour.
    credited: Nanos,
    settled: Nanos,
    /// Of the children that were not read, as reported.
    children: Nanos,
    reported: ReportedUsage,
    ours: bool,
    renamed: u8,
    round: u64,
}

/// The current contents of `stat`.
struct Seen {
    start_ticks: u64,
    parent: u32,
    kernel: bool,
    name: String,
    cpu: Nanos,
    credited: Nanos,
    threads: u32,
    on_cpu: Option<u32>,
}

impl Processes {
    pub(super) fn open(
        places: &NeighbourSources,
        hierarchy: Option<Hierarchy>,
        tick_ns: u64,
        with_storage: bool,
    ) -> Result<Processes> {
        Ok(Processes {
            dir: TaskDir::of_processes(&places.proc)?,
            proc: places.proc.clone(),
            cpu_clock: places.cpu_clock,
            tick_ns,
            own_pid: places.own_pid,
            hierarchy,
            with_storage,
            known: FxHashMap::default(),
            opened_ticks: u64::MAX,
            round: 0,
            others: Nanos(0),
            ours: Nanos(0),
            scratch: Scratch::default(),
        })
    }

    /// CPU time since the capture began of all processes outside the target, ended ones included.
    pub(super) fn others(&self) -> Nanos {
        self.others
    }

    /// CPU time of the target's processes that were seen here.
    pub(super) fn ours(&self) -> Nanos {
        self.ours
    }

    pub(super) fn take_baseline(&mut self, ours: &TargetUsage) {
        self.scan(ours, Nanos(0), &mut NeighbourUsage::default(), &mut Vec::new());
        self.opened_ticks = self.proc.ticks_since_boot().unwrap_or(0);
    }

    /// Reads every process and reports the usage of those that ran.
    pub(super) fn scan(&mut self, ours: &TargetUsage, at: Nanos, usages: &mut NeighbourUsage, out: &mut Vec<Event>) {
        self.round += 1;
        let mut pids = self.proc.processes().unwrap_or_default();
        // Parents come before their children, unless process ids have wrapped.
        pids.sort_unstable();
        let (own_pid, helpers) = (self.own_pid, helper::pids());
        let mut ran = Vec::new();
        for pid in pids.into_iter().filter(|pid| *pid != own_pid && !helpers.contains(pid)) {
            let clock = (self.cpu_clock)(pid);
            match self.known.get_mut(&pid) {
                Some(process) if clock == Some(process.cpu) && process.ours >= ours.pids.contains(&pid) => {
                    process.round = self.round;
                }
                _ => ran.extend(self.visit(pid, clock, ours).map(|seen| (pid, seen))),
            }
        }
        // What parents were credited with is understood only once it is known who has ended.
        self.settle();
        for (pid, seen) in ran {
            self.count(pid, &seen, ours, at, usages, out);
        }
    }

    /// Forgets the processes that have ended. What they used is credited to who waited for them, where it counts only as
    /// far as it was not read before. A parent that ended too has passed its credit on.
    fn settle(&mut self) {
        let round = self.round;
        let ended: FxHashMap<u32, Process> = self.known.extract_if(|_, process| process.round != round).collect();
        for process in ended.values() {
            // No chain is longer than the number of ended processes.
            let up = std::iter::successors(Some(process.parent), |parent| Some(ended.get(parent)?.parent));
            let heir = up.take(ended.len() + 1).last().and_then(|heir| self.known.get_mut(&heir));
            if let Some(heir) = heir {
                heir.settled += process.cpu + process.credited;
            }
        }
    }

    fn visit(&mut self, pid: u32, clock: Option<Nanos>, ours: &TargetUsage) -> Option<Seen> {
        let seen = self.look(pid, clock)?;
        let same = self.known.remove(&pid).filter(|process| process.start_ticks == seen.start_ticks);
        let met = same.is_none();
        let mut process = same.unwrap_or_else(|| self.meet(pid, &seen));
        (process.round, process.parent) = (self.round, seen.parent);
        let heir = |parent| ours.pids.contains(&parent) || self.known.get(&parent).is_some_and(|known| known.ours);
        // A process that the target has just started appears here before the sampler reports it.
        process.ours |= ours.pids.contains(&pid) || (met && ours.children && heir(seen.parent));
        self.known.insert(pid, process);
        Some(seen)
    }

    fn count(
        &mut self,
        pid: u32,
        seen: &Seen,
        ours: &TargetUsage,
        at: Nanos,
        usages: &mut NeighbourUsage,
        out: &mut Vec<Event>,
    ) {
        let Some(mut process) = self.known.remove(&pid) else { return };
        process.credited = process.credited.max(seen.credited);
        // The two clocks may differ by a tick each.
        let unread = process.credited - process.settled;
        let children = if unread.0 > 2 * self.tick_ns { process.children.max(unread) } else { process.children };
        if !process.ours && seen.cpu + children > process.cpu_before {
            process.rename(seen);
            self.report(pid, &mut process, (seen, children), ours, at, usages, out);
        }
        let grown = (seen.cpu - process.cpu) + (children - process.children);
        (process.cpu, process.children) = (process.cpu.max(seen.cpu), children);
        // A process that got no number counts toward the rest.
        if process.ours {
            self.ours += grown;
        } else if process.reported.is_named() {
            self.others += grown;
        }
        self.known.insert(pid, process);
    }

    fn look(&mut self, pid: u32, clock: Option<Nanos>) -> Option<Seen> {
        let stat = procfs::task_stat(self.dir.read(pid, "stat", &mut self.scratch)?)?;
        let time = |which: usize| {
            let ticks = stat.user_ticks[which].saturating_add(stat.system_ticks[which]);
            Nanos(ticks.saturating_mul(self.tick_ns))
        };
        Some(Seen {
            start_ticks: stat.start_ticks,
            parent: stat.parent,
            kernel: stat.kernel_thread(),
            name: name(&stat),
            cpu: clock.unwrap_or(time(0)),
            credited: time(1),
            threads: stat.threads,
            on_cpu: stat.cpu,
        })
    }

    fn meet(&mut self, pid: u32, seen: &Seen) -> Process {
        let older = seen.start_ticks.saturating_add(1) < self.opened_ticks;
        let io = if older { self.storage(pid) } else { Some(0) };
        let (before, credited) = if older { (seen.cpu, seen.credited) } else { (Nanos(0), Nanos(0)) };
        Process {
            start_ticks: seen.start_ticks,
            name: seen.name.clone(),
            cpu: before,
            io,
            cpu_before: before,
            io_before: io,
            parent: seen.parent,
            credited,
            settled: credited,
            children: Nanos(0),
            reported: ReportedUsage::default(),
            ours: false,
            renamed: 0,
            round: self.round,
        }
    }

    #[expect(clippy::too_many_arguments, reason = "one step of a visit")]
    fn report(
        &mut self,
        pid: u32,
        process: &mut Process,
        (seen, children): (&Seen, Nanos),
        ours: &TargetUsage,
        at: Nanos,
        usages: &mut NeighbourUsage,
        out: &mut Vec<Event>,
    ) {
        let mut cgroup = None;
        if process.reported.is_to_be_named(at) {
            cgroup = self.group(pid);
            if let (Some((_, group)), Some(own)) = (&cgroup, &self.hierarchy)
                && ours.groups.iter().any(|target| within(own, group, target))
            {
                process.ours = true;
                return;
            }
        }
        // `None` if this process may not be read. A process that did not run has no new storage traffic.
        process.io = self.storage(pid);
        let io_bytes = process.io.zip(process.io_before).map(|(now, before)| now.saturating_sub(before));
        let used = NeighbourTotals {
            cpu: seen.cpu + children - process.cpu_before,
            on_cpu: self.running_on(pid, seen, process.cpu).or(seen.on_cpu),
            io_bytes,
            ..NeighbourTotals::default()
        };
        let name = process.name.clone();
        let kind = NeighbourKind::Process;
        let who = || NeighbourIdentity { kind, name, pid: Some(pid), cgroup: cgroup.map(|(name, _)| name) };
        usages.report(&mut process.reported, who, used, at, out);
    }

    /// The CPU of the running thread that has used most, of a process that used a clock tick or more since `before`: the
    /// leading thread of many programs only waits.
    fn running_on(&self, pid: u32, seen: &Seen, before: Nanos) -> Option<u32> {
        if seen.threads < 2 || (seen.cpu - before).0 < self.tick_ns {
            return None;
        }
        let threads = self.proc.threads(pid).ok()?;
        let texts =
            threads.iter().take(MOST_THREADS).filter_map(|tid| self.proc.read(format!("{pid}/task/{tid}/stat")).ok());
        let running = texts.filter_map(|text| {
            let stat = procfs::task_stat(&text).filter(|stat| stat.state == b'R')?;
            Some((stat.user_ticks[0].saturating_add(stat.system_ticks[0]), stat.cpu?))
        });
        running.max().map(|(_, cpu)| cpu)
    }

    fn storage(&mut self, pid: u32) -> Option<u64> {
        self.with_storage.then_some(())?;
        procfs::storage_bytes(&self.proc.read(format!("{pid}/io")).ok()?)
    }

    /// The control group of a process: its name as a neighbour, and its name in /proc.
    fn group(&mut self, pid: u32) -> Option<(String, String)> {
        let hierarchy = self.hierarchy.as_ref()?;
        let text = String::from_utf8_lossy(self.dir.read(pid, "cgroup", &mut self.scratch)?).into_owned();
        let group = membership(&text, hierarchy)?;
        Some((super::groups::name(hierarchy, &hierarchy.directory(group))?, group.to_string()))
    }
}

impl Process {
    /// A process that executes another program becomes another neighbour; its earlier usage stays with the old one.
    fn rename(&mut self, seen: &Seen) {
        if self.name == seen.name {
            return;
        }
        self.name.clone_from(&seen.name);
        if self.reported.is_named() && !seen.kernel && self.renamed < RENAMED {
            self.renamed += 1;
            self.reported = ReportedUsage::default();
            self.cpu_before = self.cpu + self.children;
            self.io_before = self.io;
        }
    }
}

/// Whether a process's group is the target's or below it, even if the two are seen through different hierarchies.
fn within(hierarchy: &Hierarchy, group: &str, target: &std::path::Path) -> bool {
    super::groups::same_place(hierarchy, target).is_some_and(|target| hierarchy.directory(group).starts_with(target))
}

/// Kernel threads are in brackets, as in `ps`; a worker's name loses its changing part, the current work.
fn name(stat: &TaskStat<'_>) -> String {
    let comm = String::from_utf8_lossy(stat.comm);
    if !stat.kernel_thread() {
        return comm.into_owned();
    }
    let work = comm.starts_with("kworker/").then(|| comm.find(['-', '+'])).flatten();
    format!("[{}]", &comm[..work.unwrap_or(comm.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_threads_stand_in_brackets_without_their_work() {
        let rest = " S 2 0 0 0 -1 FLAGS 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0\n";
        for (comm, flags, expected) in [
            ("redis-server", "4194560", "redis-server"),
            ("ksoftirqd/0", "69238848", "[ksoftirqd/0]"),
            ("kworker/u8:2-events_unbound", "69238848", "[kworker/u8:2]"),
            ("kworker/0:1H+kblockd", "69238848", "[kworker/0:1H]"),
            ("kworker/fake-name", "4194560", "kworker/fake-name"),
        ] {
            let text = format!("7 ({comm}){}", rest.replace("FLAGS", flags));
            let named = procfs::task_stat(text.as_bytes()).map(|stat| name(&stat));
            assert_eq!(named.as_deref(), Some(expected));
        }
    }
}
