//! Reads the kernel's totals for a command that has ended but has not been waited for: CPU time and switches of all its
//! threads and of the processes it waited for, whether or not they were read while they ran.

use crate::collect::catalog::{INVOLUNTARY_SWITCHES, VOLUNTARY_SWITCHES};
use crate::model::CounterId;
use crate::sys::clock::CpuClock;
use crate::sys::procfs::{self, ProcFs};
use crate::sys::spawn::{self, Usage};
use crate::units::Nanos;

/// A command, and what its process had used before it ran.
#[derive(Debug)]
pub(super) struct Command {
    pid: u32,
    before: Usage,
}

impl Command {
    /// Takes the starting values of a process that waits to run.
    pub(super) fn open(proc: &ProcFs, pid: u32, cpu_clock: CpuClock) -> Command {
        let status = proc.read(format!("{pid}/status")).unwrap_or_default();
        let (voluntary, involuntary) = procfs::switches(&status).unwrap_or_default();
        let cpu_ns = cpu_clock(pid).map_or(0, |Nanos(ns)| ns);
        Command { pid, before: Usage { cpu_ns, voluntary, involuntary } }
    }

    /// What it has used since; `None` while it runs.
    pub(super) fn ended(&self) -> Option<Usage> {
        let all = spawn::usage_of_ended(self.pid)?;
        Some(Usage {
            cpu_ns: all.cpu_ns.saturating_sub(self.before.cpu_ns),
            voluntary: all.voluntary.saturating_sub(self.before.voluntary),
            involuntary: all.involuntary.saturating_sub(self.before.involuntary),
        })
    }
}

impl Usage {
    /// The value of a counter, if these totals include it.
    pub(super) fn count(&self, counter: CounterId) -> Option<u64> {
        match counter {
            VOLUNTARY_SWITCHES => Some(self.voluntary),
            INVOLUNTARY_SWITCHES => Some(self.involuntary),
            _ => None,
        }
    }
}
