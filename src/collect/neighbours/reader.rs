//! Reads the neighbours whenever the budget allows, and reports the rest of the busy time.

use super::groups::{self, Groups};
use super::monitors::Monitors;
use super::processes::Processes;
use super::usage::{NeighbourIdentity, NeighbourTotals, NeighbourUsage, ReportedUsage};
use super::{NeighbourScope, NeighbourSources, TargetUsage};
use crate::collect::reading_schedule::ReadingSchedule;
use crate::error::Result;
use crate::model::{Event, NeighbourKind};
use crate::sys::clock;
use crate::sys::procfs::{self, ProcFs};
use crate::sys::resctrl::ResctrlFs;
use crate::units::Nanos;

/// The neighbours of one capture.
#[derive(Debug)]
pub struct Neighbours {
    proc: ProcFs,
    tick_ns: u64,
    usages: NeighbourUsage,
    processes: Processes,
    /// `None` if processes alone are read.
    groups: Option<Groups>,
    monitors: Option<Monitors>,
    busy_before: Option<u64>,
    pub(super) rest: Nanos,
    rest_said: ReportedUsage,
    processes_due: ReadingSchedule,
    groups_due: ReadingSchedule,
}

impl Neighbours {
    /// Starts counting: usage before this call is excluded.
    ///
    /// # Errors
    /// /proc cannot be opened.
    pub fn open(places: NeighbourSources, ours: &TargetUsage, scope: NeighbourScope) -> Result<Neighbours> {
        let tick_ns = procfs::clock_tick().0;
        let hierarchy = groups::hierarchy(&places.cgroups);
        let all = scope == NeighbourScope::All;
        let mut neighbours = Neighbours {
            processes: Processes::open(&places, hierarchy.clone(), tick_ns, all)?,
            groups: all.then(|| Groups::new(places.cgroups, hierarchy, places.proc.clone())),
            monitors: ResctrlFs::open(places.resctrl).filter(|_| all).map(Monitors::new),
            proc: places.proc,
            tick_ns,
            usages: NeighbourUsage::default(),
            busy_before: None,
            rest: Nanos(0),
            rest_said: ReportedUsage::default(),
            processes_due: ReadingSchedule::default(),
            groups_due: ReadingSchedule::default(),
        };
        neighbours.processes.take_baseline(ours);
        neighbours.groups.iter_mut().for_each(|groups| groups.take_baseline(ours));
        neighbours.monitors.iter_mut().for_each(|monitors| monitors.take_baseline(ours));
        neighbours.busy_before = neighbours.busy();
        Ok(neighbours)
    }

    /// Whether any of them may be read again within the CPU budget.
    #[must_use]
    pub fn is_due(&self, at: Nanos) -> bool {
        self.processes_due.is_due(at) || self.groups.is_some() && self.groups_due.is_due(at)
    }

    /// Ends a window: reports which neighbours used something since the last one. A reading that would exceed the
    /// budget is postponed; values are cumulative, so nothing is lost.
    pub fn tick(&mut self, at: Nanos, ours: &TargetUsage, out: &mut Vec<Event>) {
        if self.processes_due.is_due(at) {
            let start = clock::thread_cpu();
            self.processes.scan(ours, at, &mut self.usages, out);
            self.say_rest(at, ours, out);
            self.processes_due.was_read(at, clock::thread_cpu() - start);
        }
        if let Some(groups) = self.groups.as_mut().filter(|_| self.groups_due.is_due(at)) {
            let start = clock::thread_cpu();
            groups.scan(ours, at, &mut self.usages, out);
            if let Some(monitors) = &mut self.monitors {
                monitors.scan(ours, at, &mut self.usages, out);
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
        let who =
            || NeighbourIdentity { kind: NeighbourKind::Rest, name: "the rest".to_string(), pid: None, cgroup: None };
        let used = NeighbourTotals { cpu: self.rest, ..NeighbourTotals::default() };
        self.usages.report(&mut self.rest_said, who, used, at, out);
    }

    /// Busy time of all CPUs since boot in nanoseconds, without stolen time.
    fn busy(&self) -> Option<u64> {
        let text = self.proc.read("stat").ok()?;
        let all = procfs::cpu_times(&text).find(|times| times.cpu.is_none())?;
        Some(all.user.saturating_add(all.system).saturating_mul(self.tick_ns))
    }
}
