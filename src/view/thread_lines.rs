//! The lines of the threads view.

use crate::analysis::{ThreadRow, remainder};
use crate::model::{Measure, Why};
use crate::units::Nanos;
use serde::Serialize;

/// A thread, or several of one process or control group, or a CPU. A thread's shares are of its lifetime within the
/// window; others' are sums over their threads, in units of one CPU's time.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThreadLine {
    /// Thread id; of other lines, the process's id, the group's number or the CPU's.
    pub tid: u32,
    /// Process id.
    pub pid: u32,
    /// The control group that it lies in, by its number; `None` for other lines.
    pub parent: Option<u32>,
    /// Number of threads.
    pub threads: u64,
    /// Its name.
    pub name: String,
    /// Its process's name.
    pub process: String,
    /// Whether it was alive at the window's end.
    pub alive: bool,
    /// Share of its time on a CPU.
    pub running: Measure<f64>,
    /// Share of its time waiting for a CPU.
    pub queued: Measure<f64>,
    /// Share of its time blocked: the remainder.
    pub blocked: Measure<f64>,
    /// Instructions per cycle.
    pub ipc: Measure<f64>,
    /// Share of its time blocked on each cause, largest first.
    pub waits: Vec<WaitLine>,
    /// Pressure and throttling of a control group of the target: shares of the window.
    pub held_up: Vec<WaitLine>,
    /// Context switches because it blocked, per second.
    pub voluntary: Measure<f64>,
    /// Context switches because it was preempted, per second.
    pub involuntary: Measure<f64>,
    /// Migrations to another CPU, per second.
    pub migrations: Measure<f64>,
    /// The CPU of its last sample.
    pub cpu: Option<u32>,
    /// That CPU's NUMA node.
    pub node: Option<u32>,
    /// Samples.
    pub samples: u64,
    /// Share of a CPU over time, oldest first.
    pub history: Vec<Option<f64>>,
    /// Change of the running share; `None` without a comparison.
    pub change: Option<f64>,
}

/// A cause of waiting.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WaitLine {
    /// The cause in words.
    pub cause: &'static str,
    /// Share of the thread's time.
    pub share: f64,
}

/// A CPU.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct CpuLine {
    /// Its number.
    pub cpu: u32,
    /// Its core within the package.
    pub core: u32,
    /// Its package.
    pub package: u32,
    /// Its NUMA node.
    pub node: u32,
    /// The target's share of it, sampled; see [`ThreadsView::cpu_share_of`].
    pub share: f64,
}

/// Assumed length of a wait for a CPU. A row does not count the waits; this is a long one on a busy machine.
const LONG_WAIT: Nanos = Nanos(20_000_000);

impl ThreadLine {
    /// A line that nothing is known of yet.
    pub(super) fn empty(number: u32, name: String) -> ThreadLine {
        let missing = Measure::Missing(Why::NotRecorded);
        ThreadLine {
            tid: number,
            pid: number,
            parent: None,
            threads: 0,
            process: name.clone(),
            name,
            alive: true,
            running: missing,
            queued: missing,
            blocked: missing,
            ipc: missing,
            waits: Vec::new(),
            held_up: Vec::new(),
            voluntary: missing,
            involuntary: missing,
            migrations: missing,
            cpu: None,
            node: None,
            samples: 0,
            history: Vec::new(),
            change: None,
        }
    }

    /// A line of what was read of a thread; `end` is the window's end.
    pub(super) fn plain(row: &ThreadRow, end: Nanos) -> ThreadLine {
        let life = row.lifetime.seconds();
        let per_second =
            |count: Measure<f64>| count.ratio(Measure::exact(life), |count, life| (life > 0.0).then(|| count / life));
        let (running, queued) = (row.utilisation(), row.queued());
        ThreadLine {
            tid: row.task.tid,
            pid: row.task.pid,
            parent: None,
            threads: 1,
            name: row.task.comm.clone(),
            process: String::new(),
            alive: row.task.ended.is_none_or(|at| at >= end),
            running,
            queued,
            blocked: remainder(
                running.ratio(queued, |running, queued| Some(running + queued)),
                row.lifetime,
                LONG_WAIT,
            ),
            ipc: row.ipc,
            waits: Vec::new(),
            held_up: Vec::new(),
            voluntary: per_second(row.voluntary),
            involuntary: per_second(row.involuntary),
            migrations: per_second(row.migrations),
            cpu: None,
            node: None,
            samples: row.samples,
            history: Vec::new(),
            change: None,
        }
    }
}
