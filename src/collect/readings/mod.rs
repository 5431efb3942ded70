//! Reads the counters of /proc, /sys and control groups once per interval: CPU time, switches, faults, run-queue delay,
//! throttling, pressure, steal, and ironlaw's own cost. Values are cumulative, so a reading that comes late, or is
//! omitted because nothing changed, loses nothing.
//!
//! Accuracy of the values:
//! - CPU time of a process is the kernel's own clock for it: nanoseconds, all threads, ended ones included. Threads
//!   have `schedstat`, control groups `cpu.stat` (microseconds), CPUs /proc/stat (10 ms).
//! - User and kernel time are that total split by clock ticks: each is accurate to 10 ms.
//! - Switches, migrations, run-queue delay and block I/O delay exist only per thread. The target's total misses what an
//!   ended thread did after its last reading, and threads that lived only between two rounds. The running over enabled
//!   time of these totals is the share of the CPU time that belongs to threads that were read. For a command that has
//!   ended, the kernel knows all switches.
//! - A counter that was not read in a window has no reading in it.
//!
//! The sampler, not this module, takes samples and reports births and ends of tasks.

mod cache;
mod canaries;
mod command;
mod group;
mod machine;
mod processes;
mod split;
mod thread;
mod threads;
mod unread;

use crate::collect::canaries::CanaryThread;
use crate::collect::catalog::{TASK_CLOCK, THREAD_TIME};
use crate::collect::neighbours::{NeighbourSources, Neighbours, TargetUsage};
use crate::collect::reading_schedule::ReadingSchedule;
use crate::error::{Error, ErrorKind, Result};
use crate::model::{Event, Note, Scope, Target, Tick};
use crate::sys::cgroupfs::{self, CgroupFs};
use crate::sys::clock::{self, CpuClock};
use crate::sys::procfs::{self, ProcFs, TaskDir};
use crate::units::Nanos;
use cache::{Moment, ReadingCache};
use canaries::Canaries;
use command::Command;
use group::Group;
use machine::{Machine, Tool};
use processes::Processes;
use rustc_hash::FxHashSet;
use std::path::PathBuf;
use thread::{COUNTERS, KNOWN_PER_PROCESS, KernelAccounting};
use threads::{Progress, Threads};
use unread::Unread;

/// Share of an interval that reading the threads may take, as a divisor: 5%.
const THREAD_BUDGET: u64 = 20;

/// Where the counters are, and how much reading them may use.
#[derive(Debug, Clone)]
pub struct Sources {
    /// /proc.
    pub proc: ProcFs,
    /// The control group hierarchies.
    pub cgroups: CgroupFs,
    /// Reads a process's CPU time in nanoseconds.
    pub cpu_clock: CpuClock,
    /// How many thread files may be held open: an open file makes its thread six times cheaper to read.
    pub open_files: usize,
}

impl Sources {
    /// The sources of this machine, with up to 1,024 files held open.
    pub fn live() -> Result<Sources> {
        let proc = ProcFs::new("/proc");
        let cgroups = CgroupFs::open(&proc)?;
        Ok(Sources { proc, cgroups, cpu_clock: clock::process_cpu_of, open_files: 1024 })
    }
}

/// The counters of one capture.
#[derive(Debug)]
pub struct Readings {
    proc: ProcFs,
    members: Members,
    threads: Threads,
    unread: Unread,
    command: Option<Command>,
    group: Option<Group>,
    machine: Machine,
    tool: Tool,
    sheet: ReadingCache,
    opened: Nanos,
    opened_ticks: u64,
    last_tick: Nanos,
    thread_time: f64,
    alive_before: usize,
    processes_due: ReadingSchedule,
    machine_due: ReadingSchedule,
    late_ticks: u32,
    neighbours: Option<Neighbours>,
    canaries: Option<Canaries>,
    notes: Vec<Note>,
}

/// The members of the target.
#[derive(Debug)]
enum Members {
    Processes(Box<Processes>),
    Threads(Vec<u32>),
    Group(PathBuf),
    Nobody,
}

impl Readings {
    /// Starts counting at `at`. `command` is the process of a command target, started but not yet run. Fails if no
    /// process or thread of the target exists.
    pub fn open(sources: Sources, target: &Target, command: Option<u32>, at: Nanos) -> Result<Readings> {
        let Sources { proc, cgroups, cpu_clock, open_files } = sources;
        let delay_accounting = proc.setting("kernel/task_delayacct").map(|on| on != 0);
        let accounting = KernelAccounting { tick_ns: procfs::clock_tick().0, delay_accounting };
        let processes =
            |children| Ok::<_, Error>(Processes::new(TaskDir::of_processes(&proc)?, cpu_clock, accounting, children));
        let cpus = if let Target::Cpus { cpus } = target { Some(cpus.clone()) } else { None };
        let (members, first) = match target {
            Target::Processes { pids, children } => (Members::Processes(Box::new(processes(*children)?)), pids.clone()),
            Target::Command { .. } => (Members::Processes(Box::new(processes(true)?)), command.into_iter().collect()),
            Target::Threads { tids } => (Members::Threads(tids.clone()), Vec::new()),
            Target::Cgroup { path, .. } => (Members::Group(path.clone()), Vec::new()),
            Target::Cpus { .. } => (Members::Nobody, Vec::new()),
        };
        let group = match target {
            Target::Cgroup { path, .. } => Some(Group::open(cgroups, path.clone(), true)),
            // A single process: its group may throttle it.
            _ => match first.as_slice() {
                [pid] => cgroups.limits_of(&proc, *pid).ok().flatten().map(|path| Group::open(cgroups, path, false)),
                _ => None,
            },
        };
        let mut readings = Readings {
            members,
            threads: Threads::new(accounting, open_files),
            unread: Unread::default(),
            command: command.map(|pid| Command::open(&proc, pid, cpu_clock)),
            group,
            machine: Machine::open(proc.clone(), accounting.tick_ns, cpus),
            tool: Tool::open(proc.clone()),
            sheet: ReadingCache::default(),
            opened: at,
            opened_ticks: u64::MAX,
            last_tick: at,
            thread_time: 0.0,
            alive_before: 0,
            processes_due: ReadingSchedule::default(),
            machine_due: ReadingSchedule::default(),
            late_ticks: 0,
            neighbours: None,
            canaries: None,
            notes: Vec::new(),
            proc,
        };
        readings.take_baseline(target, &first)?;
        Ok(readings)
    }

    /// Begins the first window: reports the values that later readings are compared with.
    pub fn begin(&mut self, at: Nanos, out: &mut Vec<Event>) {
        (self.opened, self.last_tick) = (at, at);
        self.read(at, out);
    }

    /// Ends the window that began with the last tick: reports the counters, then the tick itself. After a command has
    /// ended, one more tick before waiting for it still sees its last values.
    pub fn tick(&mut self, at: Nanos, out: &mut Vec<Event>) {
        let span = at - self.last_tick;
        self.read(at, out);
        self.last_tick = at;
        out.push(Event::Tick(Tick { at, span }));
    }

    /// Ends the last window: reads everything, even if it was read recently.
    pub fn end(&mut self, at: Nanos, out: &mut Vec<Event>) {
        (self.processes_due, self.machine_due) = (ReadingSchedule::default(), ReadingSchedule::default());
        self.tick(at, out);
    }

    /// Reads only the threads, `span` after their last reading; the window continues.
    pub fn read_threads_only(&mut self, at: Nanos, span: Nanos, out: &mut Vec<Event>) {
        self.read_threads(span, false, Moment::whole(at, at - self.opened), out);
    }

    fn read(&mut self, at: Nanos, out: &mut Vec<Event>) {
        let span = at - self.last_tick;
        let now = Moment::whole(at, at - self.opened);
        let fresh = self.processes_due.is_due(at);
        if fresh {
            let start = clock::thread_cpu();
            self.refresh_processes();
            self.processes_due.was_read(at, clock::thread_cpu() - start);
        }
        self.read_threads(span, fresh, now, out);
        self.note_late_rounds();
        self.count_thread_time(span);
        self.say_target(fresh, now, out);
        if self.machine_due.is_due(at) {
            let start = clock::thread_cpu();
            self.machine.tick(now, out);
            self.machine_due.was_read(at, clock::thread_cpu() - start);
        }
        self.tool.tick(now, out);
        if let Some(canaries) = &mut self.canaries {
            canaries.tick(now, out);
        }
        self.read_neighbours(at, out);
    }

    /// From now on each window also reports what others on the machine use. If the target is CPUs, its neighbours
    /// cannot be distinguished from it, and a note reports that instead.
    ///
    /// # Errors
    /// /proc cannot be opened.
    pub fn watch_neighbours(&mut self, places: NeighbourSources) -> Result<()> {
        if matches!(self.members, Members::Nobody) {
            self.notes.push(Note {
                topic: "neighbours".to_string(),
                text: "all that runs on the CPUs is the target, so it has no neighbours to record".to_string(),
                fix: Some("Name what is to be watched: -p PID or -G CGROUP.".to_string()),
            });
            return Ok(());
        }
        self.neighbours = Some(Neighbours::open(places, &self.ours())?);
        Ok(())
    }

    /// From now on each window also reports the canaries' measurements; the canaries end with these counters.
    pub fn watch_canaries(&mut self, probe: CanaryThread) {
        self.canaries = Some(Canaries::new(probe));
    }

    /// Adds a process started by one of the target's, as the sampler learns of it. Has no effect if the target does not
    /// follow children or the process is already known.
    pub fn follow(&mut self, pid: u32) {
        let Members::Processes(processes) = &mut self.members else { return };
        if processes.follows_children() && processes.add(pid, self.opened_ticks) {
            self.watch_threads_of(pid);
        }
    }

    /// Takes the notes for the recording that were added since the last call.
    pub fn take_notes(&mut self) -> Vec<Note> {
        if let Some(canaries) = &mut self.canaries {
            self.notes.extend(canaries.take_notes());
        }
        std::mem::take(&mut self.notes)
    }

    fn take_baseline(&mut self, target: &Target, first: &[u32]) -> Result<()> {
        first.iter().for_each(|&pid| self.add(pid));
        if matches!(self.members, Members::Threads(_) | Members::Group(_)) {
            self.threads.add_group(0, TaskDir::of_machine(&self.proc)?);
        }
        let moment = Moment::whole(self.opened, Nanos(0));
        // Children started before the capture belong to the target: each generation is found through the last one.
        let mut known = usize::MAX;
        while known != self.threads.alive() {
            known = self.threads.alive();
            self.begin_round(true);
            let progress = self.threads.advance(Nanos(u64::MAX), moment, &mut Vec::new());
            self.note_progress(&progress);
        }
        if self.threads.alive() == 0 && matches!(self.members, Members::Processes(_) | Members::Threads(_)) {
            return Err(Error::new(ErrorKind::NotFound, format!("{} has ended", target.label())));
        }
        self.opened_ticks = self.proc.ticks_since_boot().unwrap_or(0);
        self.threads.opened(self.opened_ticks);
        Ok(())
    }

    fn add(&mut self, pid: u32) {
        let Members::Processes(processes) = &mut self.members else { return };
        if processes.add(pid, self.opened_ticks) {
            self.watch_threads_of(pid);
        }
    }

    fn watch_threads_of(&mut self, pid: u32) {
        if let Ok(dir) = TaskDir::of_process(&self.proc, pid) {
            self.threads.add_group(pid, dir);
        }
    }

    fn refresh_processes(&mut self) {
        let Members::Processes(processes) = &mut self.members else { return };
        for pid in processes.refresh() {
            self.threads.remove_group(pid);
        }
    }

    /// `fresh`: whether the processes have just been read.
    fn read_threads(&mut self, span: Nanos, fresh: bool, now: Moment, out: &mut Vec<Event>) {
        // All later readings are compared with the first one, so it covers every thread.
        let budget = if span.0 == 0 { Nanos(u64::MAX) } else { Nanos(span.0 / THREAD_BUDGET) };
        let start = clock::thread_cpu();
        if self.threads.round_is_over() {
            self.begin_round(fresh);
        }
        let progress = self.threads.advance(budget - (clock::thread_cpu() - start), now, out);
        self.note_progress(&progress);
    }

    fn note_late_rounds(&mut self) {
        self.late_ticks = if self.threads.round_is_over() { 0 } else { self.late_ticks + 1 };
        if self.late_ticks == 2 && !self.notes.iter().any(|note| note.topic == "threads-in-turn") {
            self.notes.push(Note {
                topic: "threads-in-turn".to_string(),
                text: format!(
                    "{} threads are too many to read each within 5% of an interval: they are read in turn, each every \
                     few intervals. Values are cumulative, so nothing is lost by it",
                    self.threads.alive()
                ),
                fix: Some("Use a longer --interval.".to_string()),
            });
        }
    }

    fn begin_round(&mut self, fresh: bool) {
        let groups = match &mut self.members {
            Members::Processes(processes) => {
                let known = self.threads.alive_by_group();
                let listing = |(pid, threads): (u32, u32)| {
                    let unchanged = fresh && known.get(&pid) == Some(&(threads as usize));
                    (pid, if unchanged { None } else { Some(self.proc.threads(pid).unwrap_or_default()) })
                };
                processes.alive().map(listing).collect()
            }
            Members::Threads(tids) => vec![(0, Some(tids.clone()))],
            // A removed group has no members.
            Members::Group(path) => vec![(0, Some(cgroupfs::threads(path).unwrap_or_default().into_iter().collect()))],
            Members::Nobody => Vec::new(),
        };
        self.threads.begin_round(groups);
    }

    /// Drops ended threads, because their ids may be reused, and adds processes started by threads that ran.
    fn note_progress(&mut self, progress: &Progress) {
        match &mut self.members {
            Members::Threads(tids) => tids.retain(|&tid| !progress.ended.contains(&(0, tid))),
            Members::Processes(processes) if processes.follows_children() => {
                for &place in &progress.ran {
                    let children: Vec<u32> = self
                        .threads
                        .file(place, "children")
                        .map(|text| procfs::children(text).collect())
                        .unwrap_or_default();
                    children.into_iter().for_each(|pid| self.add(pid));
                }
            }
            _ => {}
        }
    }

    fn alive(&self) -> usize {
        match &self.members {
            Members::Processes(processes) => processes.alive().map(|(_, threads)| threads as usize).sum(),
            _ => self.threads.alive(),
        }
    }

    /// Estimates thread time from the threads alive at both ends of the window. This approximates their births and
    /// ends, which the stream also contains unless records were lost.
    fn count_thread_time(&mut self, span: Nanos) {
        let (before, now) = (self.alive_before, self.alive());
        self.alive_before = now;
        // A target that has ended did so at the window's end, or the window would have ended before.
        let alive = if now == 0 { before as f64 } else { (before + now) as f64 / 2.0 };
        self.thread_time += alive * span.as_f64();
    }

    fn read_neighbours(&mut self, at: Nanos, out: &mut Vec<Event>) {
        if let Some(mut neighbours) = self.neighbours.take_if(|neighbours| neighbours.is_due(at)) {
            neighbours.tick(at, &self.ours(), out);
            self.neighbours = Some(neighbours);
        }
    }

    /// Everything that does not count as a neighbour.
    fn ours(&self) -> TargetUsage {
        let (mut pids, mut group, mut children) = (FxHashSet::default(), None, false);
        match &self.members {
            Members::Processes(processes) => {
                pids.extend(processes.alive().map(|(pid, _)| pid));
                children = processes.follows_children();
            }
            // Other threads of these processes are not the target, but share its process ids.
            Members::Threads(tids) => {
                pids.extend(tids.iter().filter_map(|&tid| self.proc.status(tid).ok()?.tgid));
            }
            Members::Group(path) => {
                pids.extend(cgroupfs::processes(path).unwrap_or_default());
                group = Some(path.clone());
            }
            Members::Nobody => {}
        }
        let group_cpu = self.group.as_ref().filter(|_| group.is_some()).and_then(Group::cpu);
        let cpu = match &self.members {
            Members::Processes(processes) => Some(processes.total()[0]),
            _ => group_cpu.or(self.threads.totals()[0]),
        };
        TargetUsage { pids, children, group, cpu: Nanos(cpu.unwrap_or(0)), tool: self.tool.cpu() }
    }

    /// Uses the best source of each counter: the group's or the processes' own, else the sum of the threads. `fresh`:
    /// whether the processes have just been read.
    fn say_target(&mut self, fresh: bool, now: Moment, out: &mut Vec<Event>) {
        let own = match &self.members {
            Members::Processes(processes) => Some(processes.total()),
            _ => None,
        };
        let group = self.group.as_ref().map(Group::values).unwrap_or_default();
        let group_cpu = group.iter().find_map(|&(counter, value)| (counter == TASK_CLOCK).then_some(value));
        let ended = self.command.as_ref().and_then(Command::ended);
        let cpu = own.map(|own| own[0].max(ended.map_or(0, |ended| ended.cpu_ns))).or(group_cpu);
        let threads = *self.threads.totals();
        // During a round, some threads have been read in this window and some before.
        let covered = self.threads.round_is_over().then(|| match cpu {
            Some(cpu) => self.unread.moment(cpu, threads[0].unwrap_or(0), now),
            None => now,
        });
        for (index, counter) in COUNTERS.into_iter().enumerate() {
            let found = match (own, ended.and_then(|ended| ended.count(counter))) {
                (Some(_), _) if index < KNOWN_PER_PROCESS && !fresh => None,
                (Some(_), _) if index == 0 => cpu.map(|cpu| (cpu, now)),
                (Some(own), _) if index < KNOWN_PER_PROCESS => Some((own[index], now)),
                (Some(_), Some(count)) => {
                    let covered = ended.map_or(0, |ended| ended.cpu_ns).min(cpu.unwrap_or(0));
                    let enabled = Nanos(cpu.unwrap_or(0));
                    Some((count, Moment { enabled, running: Nanos(covered), ..now }))
                }
                _ => threads[index].zip(covered),
            };
            if let Some((value, when)) = found.filter(|_| !group.iter().any(|(better, _)| *better == counter)) {
                self.sheet.sum(Scope::Target, counter, value, when, out);
            }
        }
        for (counter, value) in group {
            self.sheet.sum(Scope::Target, counter, value, now, out);
        }
        if !matches!(self.members, Members::Nobody) {
            self.sheet.sum(Scope::Target, THREAD_TIME, self.thread_time as u64, now, out);
        }
    }
}

#[cfg(test)]
mod tests;
