//! Lists processes, cgroups and recordings. Usage is relative to the previous call, so the caller sets the interval.

use super::cgroups::Cgroups;
use super::processes::Processes;
use super::recordings::Recordings;
use crate::error::Error;
use crate::model::{Measure, Why};
use crate::sys::cgroupfs::CgroupFs;
use crate::sys::clock;
use crate::sys::procfs::{ProcFs, clock_tick, cpu_times};
use crate::units::Nanos;
use crate::view::picker::{Choices, MachineChoice};
use std::path::PathBuf;

/// Creates successive listings. CPU usage is relative to the previous listing.
#[derive(Debug)]
pub(super) struct Lister {
    proc: ProcFs,
    tick: Nanos,
    machine_ticks: Option<u64>,
    processes: Processes,
    cgroups: Cgroups,
    recordings: Recordings,
    last: Option<Nanos>,
}

impl Lister {
    /// Lists this machine, and the recordings in the current directory.
    #[must_use]
    pub fn here() -> Lister {
        let proc = ProcFs::new("/proc");
        // Without cgroups there are none to list, which is not an error.
        let cgroups = CgroupFs::open(&proc).unwrap_or_default();
        Lister::new(proc, cgroups, PathBuf::from("."), std::process::id())
    }

    /// Lists the processes of `proc` except `own`, the cgroups of `cgroups` and the recordings in `folder`.
    #[must_use]
    pub fn new(proc: ProcFs, cgroups: CgroupFs, folder: PathBuf, own: u32) -> Lister {
        let processes = Processes::new(proc.clone(), own);
        Lister {
            proc,
            tick: clock_tick(),
            machine_ticks: None,
            processes,
            cgroups: Cgroups::new(cgroups),
            recordings: Recordings::new(folder),
            last: None,
        }
    }

    /// A listing at time `now` on a monotonic clock and `unix_ns` since the epoch.
    pub fn list(&mut self, now: Nanos, unix_ns: u64) -> Choices {
        let span = self.last.replace(now).map(|last| now - last).filter(|span| span.0 > 0);
        let (processes, problem) = match self.processes.list(span, self.tick) {
            Ok(processes) => (processes, None),
            Err(error) => (Vec::new(), Some(told(&error))),
        };
        Choices {
            machine: self.machine(span),
            processes,
            cgroups: self.cgroups.list(span),
            recordings: self.recordings.list(),
            unix_ns,
            problem,
        }
    }

    /// A listing at the current time.
    pub fn list_now(&mut self) -> Choices {
        self.list(Nanos(clock::monotonic_ns()), clock::unix_ns())
    }

    fn machine(&mut self, span: Option<Nanos>) -> MachineChoice {
        let text = self.proc.read("stat").unwrap_or_default();
        let cpus = cpu_times(&text).filter(|times| times.cpu.is_some()).count();
        let Some(total) = cpu_times(&text).find(|times| times.cpu.is_none()) else { return MachineChoice::default() };
        let before = self.machine_ticks.replace(total.busy());
        let cpu = use_of(before, total.busy(), self.tick, span);
        MachineChoice { cpus, cpu: cpu.map(|busy| busy.min(cpus as f64)) }
    }
}

/// Number of busy CPUs: the increase of a counter of CPU time in `unit`s, divided by the elapsed time.
pub(super) fn use_of(before: Option<u64>, now: u64, unit: Nanos, span: Option<Nanos>) -> Measure<f64> {
    match (before, span) {
        (Some(before), Some(span)) => {
            let grown = Nanos(now.saturating_sub(before).saturating_mul(unit.0));
            Measure::exact(grown.seconds() / span.seconds())
        }
        _ => Measure::Missing(Why::NotRecorded),
    }
}

fn told(error: &Error) -> String {
    match error.remedy() {
        Some(remedy) => format!("{error}: {remedy}"),
        None => error.to_string(),
    }
}
