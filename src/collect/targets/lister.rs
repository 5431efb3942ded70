//! Lists the machine, its processes and its cgroups. Usage is relative to the previous listing, so the caller sets the
//! interval.

use super::cgroups::Cgroups;
use super::processes::{Processes, cpus_used};
use crate::error::Result;
use crate::model::{CgroupChoice, MachineChoice, ProcessChoice};
use crate::sys::cgroupfs::CgroupFs;
use crate::sys::procfs::{ProcFs, clock_tick, cpu_times};
use crate::units::Nanos;

/// Creates successive listings.
#[derive(Debug)]
pub struct TargetLister {
    proc: ProcFs,
    tick: Nanos,
    machine_ticks: Option<u64>,
    processes: Processes,
    cgroups: Cgroups,
    last: Option<Nanos>,
}

/// What can be profiled at one moment.
#[derive(Debug)]
pub struct Targets {
    /// The machine.
    pub machine: MachineChoice,
    /// Processes, by id; without kernel threads and this program.
    pub processes: Result<Vec<ProcessChoice>>,
    /// Control groups with processes, by path; a parent comes before its children.
    pub cgroups: Vec<CgroupChoice>,
}

impl TargetLister {
    /// Lists this machine.
    #[must_use]
    pub fn here() -> TargetLister {
        let proc = ProcFs::new("/proc");
        // Without cgroups there are none to list, which is not an error.
        let cgroups = CgroupFs::open(&proc).unwrap_or_default();
        TargetLister {
            tick: clock_tick(),
            machine_ticks: None,
            processes: Processes::new(proc.clone(), std::process::id()),
            cgroups: Cgroups::new(cgroups),
            last: None,
            proc,
        }
    }

    /// The targets at time `now` on a monotonic clock.
    pub fn list(&mut self, now: Nanos) -> Targets {
        let span = self.last.replace(now).map(|last| now - last).filter(|span| span.0 > 0);
        let processes = self.processes.list(span, self.tick);
        Targets { machine: self.machine(span), processes, cgroups: self.cgroups.list(span) }
    }

    fn machine(&mut self, span: Option<Nanos>) -> MachineChoice {
        let text = self.proc.read("stat").unwrap_or_default();
        let cpus = cpu_times(&text).filter(|times| times.cpu.is_some()).count();
        let Some(total) = cpu_times(&text).find(|times| times.cpu.is_none()) else { return MachineChoice::default() };
        let before = self.machine_ticks.replace(total.busy());
        let cpu = cpus_used(before, total.busy(), self.tick, span);
        MachineChoice { cpus, cpu: cpu.map(|busy| busy.min(cpus as f64)) }
    }
}
