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
mod conditions;
mod group;
mod limiting_groups;
mod machine;
mod open;
mod processes;
mod rounds;
mod split;
mod target;
mod thread;
mod threads;
mod uncore;
mod window;

pub use open::Sources;

use crate::collect::memory_places::MemoryPlaces;
use crate::collect::neighbours::Neighbours;
use crate::collect::reading_schedule::ReadingSchedule;
use crate::model::Note;
use crate::sys::procfs::ProcFs;
use crate::units::Nanos;
use cache::ReadingCache;
use canaries::Canaries;
use conditions::ConditionReadings;
use group::Group;
use limiting_groups::LimitingGroups;
use machine::{Machine, OwnUsage};
use processes::Processes;
use std::path::PathBuf;
use target::{Command, UnreadTime};
use threads::Threads;
use uncore::Uncore;

/// The counters of one capture.
#[derive(Debug)]
pub struct Readings {
    proc: ProcFs,
    members: Members,
    threads: Threads,
    unread: UnreadTime,
    command: Option<Command>,
    group: Option<Group>,
    /// The groups that processes or threads are in; `None` where the target is groups or CPUs.
    limiting: Option<LimitingGroups>,
    conditions: ConditionReadings,
    /// Each control group of several, by its position in the target.
    parts: Vec<(Group, ReadingCache)>,
    machine: Machine,
    tool: OwnUsage,
    cache: ReadingCache,
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
    memory: Option<MemoryPlaces>,
    uncore: Option<Uncore>,
    notes: Vec<Note>,
}

/// The members of the target.
#[derive(Debug)]
enum Members {
    Processes(Box<Processes>),
    Threads(Vec<u32>),
    /// Control groups of which none lies in another.
    Groups(Vec<PathBuf>),
    Nobody,
}

#[cfg(test)]
mod tests;
