//! Keeps the conditions of the target's process whose thread used the most CPU time: a command may be a wrapper that sets the
//! conditions and then executes or starts what is measured.

use super::{Members, Readings};
use crate::collect::process_conditions::of_process;
use crate::collect::reading_schedule::ReadingSchedule;
use crate::model::ProcessConditions;
use crate::sys::cgroupfs::CgroupFs;
use crate::sys::clock;
use crate::units::Nanos;

/// They may take this much less than other readings, where programs are executed all the time: 0.2%.
const SPARING: u64 = 10;

/// The conditions as last read.
#[derive(Debug)]
pub(super) struct ConditionReadings {
    cgroups: CgroupFs,
    found: Option<Found>,
    /// Limits what reading them costs.
    due: ReadingSchedule,
    /// The next reading without a cause.
    settled: Nanos,
}

#[derive(Debug)]
struct Found {
    pid: u32,
    cpu_ns: u64,
    conditions: ProcessConditions,
}

impl ConditionReadings {
    pub(super) fn new(cgroups: CgroupFs) -> ConditionReadings {
        ConditionReadings { cgroups, found: None, due: ReadingSchedule::default(), settled: Nanos(0) }
    }
}

impl Readings {
    /// The conditions of the target's busiest process; `None` if none could be read.
    #[must_use]
    pub fn conditions(&self) -> Option<&ProcessConditions> {
        self.conditions.found.as_ref().map(|found| &found.conditions)
    }

    /// Reads the conditions unless they were read lately: they seldom change, so each reading waits as long again as the
    /// capture has lasted.
    pub(super) fn read_conditions(&mut self, at: Nanos) {
        if at >= self.conditions.settled {
            self.read_conditions_now(at);
        }
    }

    /// Reads the conditions after a process executed a program, as often as their cost allows.
    pub(super) fn read_conditions_now(&mut self, at: Nanos) {
        if !self.conditions.due.is_due(at) {
            return;
        }
        let start = clock::thread_cpu();
        if let Some((pid, cpu_ns)) = self.busiest()
            && self.conditions.found.as_ref().is_none_or(|found| found.pid == pid || found.cpu_ns <= cpu_ns)
            && let Some(conditions) = of_process(&self.proc, &self.conditions.cgroups, pid)
        {
            self.conditions.keep(Found { pid, cpu_ns, conditions });
        }
        self.conditions.settled = at + (at - self.opened);
        let cost = clock::thread_cpu() - start;
        self.conditions.due.was_read(at, Nanos(cost.0.saturating_mul(SPARING)));
    }

    /// The process whose thread has used the most CPU time, with that time, or that thread itself if the target is threads:
    /// of a pool, each thread may have a CPU of its own.
    fn busiest(&self) -> Option<(u32, u64)> {
        let ((pid, tid), cpu_ns) = self.threads.busiest()?;
        let place = match &self.members {
            Members::Processes(_) => pid,
            Members::Threads(_) => tid,
            Members::Groups(_) => self.proc.status(tid).ok()?.tgid?,
            Members::Nobody => return None,
        };
        Some((place, cpu_ns))
    }
}

impl ConditionReadings {
    /// Replaces the conditions. A program that writes its title over its environment keeps the switches it started with.
    fn keep(&mut self, mut now: Found) {
        if let Some(before) = self.found.take()
            && before.pid == now.pid
            && before.conditions.name == now.conditions.name
        {
            now.conditions.switches = now.conditions.switches.or(before.conditions.switches);
        }
        self.found = Some(now);
    }
}
