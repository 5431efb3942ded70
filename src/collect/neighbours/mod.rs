//! Reports what others on the machine use while the target runs: processes, control groups and resctrl groups, read at
//! the end of a window within 2% of one CPU. Everything is read-only.
//!
//! Accuracy of the numbers:
//! - A process's CPU time is the kernel's own clock for it: nanoseconds, ended threads included. A process that has not
//!   run since the last reading is skipped after one cheap call, so thousands of sleeping ones cost next to nothing.
//! - A process that lived between two readings, and the last moments of an ended one, count for the process that waited
//!   for it, as the kernel credits them: a compiler that runs for 50 ms counts for its `make`.
//! - The rest is the machine's busy time minus all usage seen, the target and ironlaw. It contains ended processes that
//!   nobody waited for yet, and interrupts. Busy time is counted in clock ticks, and sampled at them on most kernels, so
//!   a small rest is noise.
//! - A control group that contains the target, or part of it, is left out: its numbers include the target's.
//! - The reported CPU is the one on which the leading thread last ran or, of a process with several threads, the one
//!   whose running thread has used most.

mod groups;
mod monitors;
mod processes;
mod reader;
mod usage;

pub use reader::Neighbours;

use crate::error::Result;
use crate::sys::cgroupfs::CgroupFs;
use crate::sys::clock::{self, CpuClock};
use crate::sys::procfs::ProcFs;
use crate::units::Nanos;
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};

/// What is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeighbourScope {
    /// Processes with their storage traffic, control groups and resctrl groups.
    All,
    /// The CPU time of processes.
    CpuTime,
}

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
    /// Directories of the target's control groups, if the target is some.
    pub groups: Vec<PathBuf>,
    /// CPU time of the target since the capture began.
    pub cpu: Nanos,
    /// CPU time of ironlaw since the capture began.
    pub tool: Nanos,
}

/// Whether the group in `directory` contains part of the target, or lies inside one of the target's groups.
fn is_ours(directory: &Path, holding: &[PathBuf], targets: &[PathBuf]) -> bool {
    holding.iter().any(|held| held.starts_with(directory)) || targets.iter().any(|target| directory.starts_with(target))
}

#[cfg(test)]
mod tests;
