//! Reports what others on the machine use while the target runs: processes, control groups and resctrl groups, read at
//! the end of a window within 2% of one CPU. Everything is read-only.
//!
//! Accuracy of the numbers:
//! - A process's CPU time is the kernel's own clock for it: nanoseconds, ended threads included. A process that has not
//!   run since the last reading is skipped after one cheap call, so thousands of sleeping ones cost next to nothing.
//! - The rest is the machine's busy time minus all usage seen, the target and ironlaw. It contains processes that lived
//!   between two readings, the last moments of ended ones, and interrupts. Busy time is counted in clock ticks, and
//!   sampled at them on most kernels, so a small rest is noise.
//! - A control group that contains the target, or part of it, is left out: its numbers include the target's.
//! - The reported CPU is the one on which the leading thread last ran.

mod groups;
mod monitors;
mod processes;
mod usage;

use crate::collect::reading_schedule::ReadingSchedule;
use crate::error::Result;
use crate::model::{Event, NeighbourKind};
use crate::sys::cgroupfs::CgroupFs;
use crate::sys::clock;
use crate::sys::clock::CpuClock;
use crate::sys::procfs::{self, ProcFs};
use crate::sys::resctrl::ResctrlFs;
use crate::units::Nanos;
use groups::Groups;
use monitors::Monitors;
use processes::Processes;
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};
use usage::{NeighbourUsage, ReportedUsage, Used, Who};

/// Where neighbours are read from.
#[derive(Debug, Clone)]
pub struct NeighbourSources {
    /// /proc.
    pub proc: ProcFs,
    /// The control group hierarchies.
    pub cgroups: CgroupFs,
    /// Mount point of resctrl, whether or not it is mounted.
    pub resctrl: PathBuf,
    /// Reads a process's CPU time in nanoseconds.
    pub cpu_clock: CpuClock,
    /// The process id of ironlaw.
    pub own_pid: u32,
}

impl NeighbourSources {
    /// The sources of this machine.
    ///
    /// # Errors
    /// /proc does not list the mounts.
    pub fn live() -> Result<NeighbourSources> {
        let proc = ProcFs::new("/proc");
        Ok(NeighbourSources {
            cgroups: CgroupFs::open(&proc)?,
            resctrl: PathBuf::from("/sys/fs/resctrl"),
            cpu_clock: clock::process_cpu_of,
            own_pid: std::process::id(),
            proc,
        })
    }
}

/// The current target and ironlaw: everything that does not count as a neighbour.
#[derive(Debug, Default)]
pub struct TargetUsage {
    /// The target's processes.
    pub pids: FxHashSet<u32>,
    /// Whether their child processes belong to the target.
    pub children: bool,
    /// Directory of the target's control group, if the target is one.
    pub group: Option<PathBuf>,
    /// CPU time of the target since the capture began.
    pub cpu: Nanos,
    /// CPU time of ironlaw since the capture began.
    pub tool: Nanos,
}

/// The neighbours of one capture.
#[derive(Debug)]
pub struct Neighbours {
    proc: ProcFs,
    tick_ns: u64,
    ledger: NeighbourUsage,
    processes: Processes,
    groups: Groups,
    monitors: Option<Monitors>,
    busy_before: Option<u64>,
    rest: Nanos,
    rest_said: ReportedUsage,
    processes_due: ReadingSchedule,
    groups_due: ReadingSchedule,
}

impl Neighbours {
    /// Starts counting: usage before this call is excluded.
    ///
    /// # Errors
    /// /proc cannot be opened.
    pub fn open(places: NeighbourSources, ours: &TargetUsage) -> Result<Neighbours> {
        let tick_ns = procfs::clock_tick().0;
        let hierarchy = groups::hierarchy(&places.cgroups);
        let mut neighbours = Neighbours {
            processes: Processes::open(&places, hierarchy.clone(), tick_ns)?,
            groups: Groups::new(places.cgroups, hierarchy, places.proc.clone()),
            monitors: ResctrlFs::open(places.resctrl).map(Monitors::new),
            proc: places.proc,
            tick_ns,
            ledger: NeighbourUsage::default(),
            busy_before: None,
            rest: Nanos(0),
            rest_said: ReportedUsage::default(),
            processes_due: ReadingSchedule::default(),
            groups_due: ReadingSchedule::default(),
        };
        neighbours.processes.take_baseline(ours);
        neighbours.groups.take_baseline(ours);
        neighbours.monitors.iter_mut().for_each(|monitors| monitors.take_baseline(ours));
        neighbours.busy_before = neighbours.busy();
        Ok(neighbours)
    }

    /// Whether any of them may be read again within the CPU budget.
    #[must_use]
    pub fn is_due(&self, at: Nanos) -> bool {
        self.processes_due.is_due(at) || self.groups_due.is_due(at)
    }

    /// Ends a window: reports which neighbours used something since the last one. A reading that would exceed the
    /// budget is postponed; values are cumulative, so nothing is lost.
    pub fn tick(&mut self, at: Nanos, ours: &TargetUsage, out: &mut Vec<Event>) {
        if self.processes_due.is_due(at) {
            let start = clock::thread_cpu();
            self.processes.scan(ours, at, &mut self.ledger, out);
            self.say_rest(at, ours, out);
            self.processes_due.was_read(at, clock::thread_cpu() - start);
        }
        if self.groups_due.is_due(at) {
            let start = clock::thread_cpu();
            self.groups.scan(ours, at, &mut self.ledger, out);
            if let Some(monitors) = &mut self.monitors {
                monitors.scan(ours, at, &mut self.ledger, out);
            }
            self.groups_due.was_read(at, clock::thread_cpu() - start);
        }
    }

    /// Keeps the maximum: the sum may fall, because clock ticks are coarser than a process's clock.
    fn say_rest(&mut self, at: Nanos, ours: &TargetUsage, out: &mut Vec<Event>) {
        let Some((before, now)) = self.busy_before.zip(self.busy()) else { return };
        let known = self.processes.others().0.saturating_add(ours.cpu.max(self.processes.ours()).0);
        let rest = now.saturating_sub(before).saturating_sub(known).saturating_sub(ours.tool.0);
        self.rest = self.rest.max(Nanos(rest));
        let who = || Who { kind: NeighbourKind::Rest, name: "the rest".to_string(), pid: None, cgroup: None };
        let used = Used { cpu: self.rest, ..Used::default() };
        self.ledger.say(&mut self.rest_said, who, used, at, out);
    }

    /// Busy time of all CPUs since boot in nanoseconds, without stolen time.
    fn busy(&self) -> Option<u64> {
        let text = self.proc.read("stat").ok()?;
        let all = procfs::cpu_times(&text).find(|times| times.cpu.is_none())?;
        Some(all.user.saturating_add(all.system).saturating_mul(self.tick_ns))
    }
}

/// Whether the group in `directory` contains part of the target, or lies inside the target's group.
fn is_ours(directory: &Path, holding: &[PathBuf], target: Option<&Path>) -> bool {
    holding.iter().any(|held| held.starts_with(directory)) || target.is_some_and(|target| directory.starts_with(target))
}

#[cfg(test)]
mod tests;
