//! Opens the counters of a target and reads their first values.

use super::cache::{ReadingCache, TickTiming};
use super::conditions::ConditionReadings;
use super::group::Group;
use super::limiting_groups::LimitingGroups;
use super::machine::{Machine, OwnUsage};
use super::processes::Processes;
use super::target::{Command, UnreadTime};
use super::thread::KernelAccounting;
use super::threads::Threads;
use super::{Members, Readings};
use crate::collect::memory_places::MemoryPlaces;
use crate::collect::reading_schedule::ReadingSchedule;
use crate::error::{Error, ErrorKind, Result};
use crate::model::Target;
use crate::sys::cgroupfs::CgroupFs;
use crate::sys::clock::{self, CpuClock};
use crate::sys::procfs::{self, ProcFs, TaskDir};
use crate::sys::sysfs::SysFs;
use crate::units::Nanos;
use std::path::Path;

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
    /// Whether the machine has several NUMA nodes.
    pub several_nodes: bool,
}

impl Sources {
    /// The sources of this machine, with up to 1,024 files held open.
    pub fn live() -> Result<Sources> {
        let proc = ProcFs::new("/proc");
        let cgroups = CgroupFs::open(&proc)?;
        let several_nodes = SysFs::new("/sys").nodes().len() > 1;
        Ok(Sources { proc, cgroups, cpu_clock: clock::process_cpu_of, open_files: 1024, several_nodes })
    }
}

impl Readings {
    /// Starts counting at `at`. `command` is the process of a command target, started but not yet run. Fails if no
    /// process or thread of the target exists.
    pub fn open(sources: Sources, target: &Target, command: Option<u32>, at: Nanos) -> Result<Readings> {
        let Sources { proc, cgroups, cpu_clock, open_files, several_nodes } = sources;
        let delay_accounting = proc.setting("kernel/task_delayacct").map(|on| on != 0);
        let accounting = KernelAccounting { tick_ns: procfs::clock_tick().0, delay_accounting };
        let processes =
            |children| Ok::<_, Error>(Processes::new(TaskDir::of_processes(&proc)?, cpu_clock, accounting, children));
        let cpus = if let Target::Cpus { cpus } = target { Some(cpus.clone()) } else { None };
        let (members, first) = match target {
            Target::Processes { pids, children } => (Members::Processes(Box::new(processes(*children)?)), pids.clone()),
            Target::Command { .. } => (Members::Processes(Box::new(processes(true)?)), command.into_iter().collect()),
            Target::Threads { tids } => (Members::Threads(tids.clone()), Vec::new()),
            Target::Cgroup { .. } => {
                let groups = target.outermost_cgroups().into_iter().map(Path::to_path_buf);
                (Members::Groups(groups.collect()), Vec::new())
            }
            Target::Cpus { .. } => (Members::Nobody, Vec::new()),
        };
        // What holds each of several groups up is known of each alone.
        let named = target.cgroups();
        let part = |(_, path): &(&str, &Path)| {
            (Group::open(cgroups.clone(), vec![path.to_path_buf()]), ReadingCache::default())
        };
        let parts = if named.len() > 1 { named.iter().map(part).collect() } else { Vec::new() };
        let conditions = ConditionReadings::new(cgroups.clone());
        let (group, limiting) = match &members {
            Members::Groups(paths) => (Some(Group::open(cgroups, paths.clone())), None),
            Members::Processes(_) | Members::Threads(_) => (None, Some(LimitingGroups::new(cgroups))),
            Members::Nobody => (None, None),
        };
        let by_process = !matches!(members, Members::Nobody);
        let mut readings = Readings {
            members,
            threads: Threads::new(accounting, open_files),
            unread: UnreadTime::default(),
            command: command.map(|pid| Command::open(&proc, pid, cpu_clock)),
            group,
            limiting,
            conditions,
            parts,
            machine: Machine::open(proc.clone(), accounting.tick_ns, cpus),
            tool: OwnUsage::open(proc.clone()),
            cache: ReadingCache::default(),
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
            uncore: None,
            // Of whole CPUs, pages are no process's in particular.
            memory: if by_process { Some(MemoryPlaces::start(proc.clone(), several_nodes)?) } else { None },
            notes: Vec::new(),
            proc,
        };
        readings.take_baseline(target, &first)?;
        Ok(readings)
    }

    fn take_baseline(&mut self, target: &Target, first: &[u32]) -> Result<()> {
        first.iter().for_each(|&pid| self.add(pid));
        if matches!(self.members, Members::Threads(_) | Members::Groups(_)) {
            self.threads.add_group(0, TaskDir::of_machine(&self.proc)?);
        }
        let moment = TickTiming::whole(self.opened, Nanos(0));
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
        self.read_limits(self.opened);
        Ok(())
    }
}
