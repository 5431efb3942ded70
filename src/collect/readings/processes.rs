//! Reads CPU time and faults of whole processes, ended threads included, and of the processes they start.
//!
//! A tree's total is the sum over its living processes of their own usage and of what the kernel credited them with for
//! children they waited for. A process that lived only between two ticks is therefore counted through its parent.
//! Credits are accurate to a clock tick (10 ms). A process that nobody waited for keeps its last reading. Only
//! processes that were added are followed.

use super::split::Split;
use super::thread::{KNOWN_PER_PROCESS, KernelAccounting};
use crate::sys::clock::CpuClock;
use crate::sys::procfs::{self, Scratch, TaskDir, TaskFile, TaskStat};
use rustc_hash::FxHashMap;

/// CPU, user and kernel time in nanoseconds, minor and major faults: the first counters of a thread, per process.
pub(super) type Values = [u64; KNOWN_PER_PROCESS];

/// The processes followed.
#[derive(Debug)]
pub(super) struct Processes {
    dir: TaskDir,
    cpu_clock: CpuClock,
    accounting: KernelAccounting,
    /// Whether children that were waited for count.
    children: bool,
    alive: FxHashMap<u32, Process>,
    /// What ended processes add to the total beyond what their parents were credited with.
    left: [i128; KNOWN_PER_PROCESS],
    scratch: Scratch,
}

#[derive(Debug, Default)]
struct Process {
    start_ticks: u64,
    parent: u32,
    threads: u32,
    file: Option<TaskFile>,
    split: Split,
    own: Values,
    credited: Values,
    baseline: Values,
}

impl Processes {
    pub(super) fn new(dir: TaskDir, cpu_clock: CpuClock, accounting: KernelAccounting, children: bool) -> Processes {
        Processes {
            dir,
            cpu_clock,
            accounting,
            children,
            alive: FxHashMap::default(),
            left: [0; KNOWN_PER_PROCESS],
            scratch: Scratch::default(),
        }
    }

    /// Whether child processes are followed.
    pub(super) fn follows_children(&self) -> bool {
        self.children
    }

    /// The living processes, each with its number of threads.
    pub(super) fn alive(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.alive.iter().map(|(&pid, process)| (pid, process.threads))
    }

    /// Adds a process. One born before `opened_ticks` (since boot) counts from now on, a later one from its birth.
    /// Returns whether it is new and alive.
    pub(super) fn add(&mut self, pid: u32, opened_ticks: u64) -> bool {
        if self.alive.contains_key(&pid) {
            return false;
        }
        let mut process = Process::default();
        if !self.read(pid, &mut process) {
            return false;
        }
        if process.start_ticks.saturating_add(1) < opened_ticks {
            process.baseline = sum(&process.own, &process.credited);
        }
        self.alive.insert(pid, process);
        true
    }

    /// Reads all processes and returns those that have ended.
    pub(super) fn refresh(&mut self) -> Vec<u32> {
        let mut ended = Vec::new();
        let mut credited: FxHashMap<u32, Values> = FxHashMap::default();
        for (pid, mut process) in std::mem::take(&mut self.alive) {
            let before = process.credited;
            if self.read(pid, &mut process) {
                credited.insert(pid, difference(&process.credited, &before));
                self.alive.insert(pid, process);
            } else {
                ended.push((pid, process));
            }
        }
        self.settle(&ended, &credited);
        ended.into_iter().map(|(pid, _)| pid).collect()
    }

    /// The total since the capture began. It may fall by a few clock ticks when a child's time, known to the
    /// nanosecond, is replaced by its parent's credit: callers keep the maximum.
    pub(super) fn total(&self) -> Values {
        let mut total = self.left;
        for process in self.alive.values() {
            for (index, total) in total.iter_mut().enumerate() {
                let used = i128::from(process.own[index]) + i128::from(process.credited[index]);
                *total += used - i128::from(process.baseline[index]);
            }
        }
        total.map(|value| u64::try_from(value.max(0)).unwrap_or(u64::MAX))
    }

    /// Keeps what ended processes used unless their parent was credited with it. Children of one parent are settled
    /// together, because the credit does not show which of them it is for. A parent that ended too has passed its
    /// credit on to its own parent.
    fn settle(&mut self, ended: &[(u32, Process)], credited: &FxHashMap<u32, Values>) {
        let parents: FxHashMap<u32, u32> = ended.iter().map(|(pid, process)| (*pid, process.parent)).collect();
        // No chain is longer than the number of ended processes.
        let heir = |parent: u32| {
            let up = std::iter::successors(Some(parent), |parent| parents.get(parent).copied());
            up.take(ended.len() + 1).last().unwrap_or(parent)
        };
        let mut by_parent: FxHashMap<u32, (Values, u64)> = FxHashMap::default();
        for (_, process) in ended {
            let (used, count) = by_parent.entry(heir(process.parent)).or_default();
            *used = sum(used, &sum(&process.own, &process.credited));
            *count += 1;
            for (left, baseline) in self.left.iter_mut().zip(process.baseline) {
                *left -= i128::from(baseline);
            }
        }
        for (parent, (used, count)) in by_parent {
            let credit = credited.get(&parent).copied().unwrap_or_default();
            for (index, left) in self.left.iter_mut().enumerate() {
                // Credits are rounded down to clock ticks, user and kernel time separately; faults are exact.
                let ticks = if index < 3 { 2 * (count + 1) } else { 0 };
                let missing = used[index].saturating_sub(credit[index]);
                let waited_for = credit[index] > 0 && missing <= ticks.saturating_mul(self.accounting.tick_ns);
                *left += if waited_for { 0 } else { i128::from(missing) };
            }
        }
    }

    /// Reads one process; false if it has ended. A zombie has not: its values are final and still readable.
    fn read(&mut self, pid: u32, process: &mut Process) -> bool {
        if process.file.is_none() {
            process.file = self.dir.keep(pid, "stat", &mut self.scratch);
        }
        let text = process.file.as_ref().and_then(|file| file.read(&mut self.scratch));
        let Some(stat) = text.and_then(procfs::task_stat) else { return false };
        process.start_ticks = stat.start_ticks;
        process.parent = stat.parent;
        process.threads = if stat.zombie() && stat.threads <= 1 { 0 } else { stat.threads };
        let tick = self.accounting.tick_ns;
        let ticks = |which: usize| stat.user_ticks[which].saturating_add(stat.system_ticks[which]).saturating_mul(tick);
        let clock = (self.cpu_clock)(pid).map_or(ticks(0), |clock| clock.0);
        process.split.update(clock, stat.user_ticks[0], stat.system_ticks[0]);
        process.own = [
            clock.max(process.own[0]),
            process.split.user,
            process.split.system,
            stat.minor_faults[0],
            stat.major_faults[0],
        ];
        if self.children {
            process.credited = credit(&stat, tick);
        }
        true
    }
}

/// What the kernel credited a process with for children it waited for.
fn credit(stat: &TaskStat<'_>, tick_ns: u64) -> Values {
    let (user, system) = (stat.user_ticks[1].saturating_mul(tick_ns), stat.system_ticks[1].saturating_mul(tick_ns));
    [user.saturating_add(system), user, system, stat.minor_faults[1], stat.major_faults[1]]
}

fn sum(a: &Values, b: &Values) -> Values {
    std::array::from_fn(|index| a[index].saturating_add(b[index]))
}

fn difference(a: &Values, b: &Values) -> Values {
    std::array::from_fn(|index| a[index].saturating_sub(b[index]))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;
    use crate::sys::procfs::ProcFs;
    use std::path::Path;

    const TICK: u64 = 10_000_000;

    fn write(root: &Path, pid: u32, parent: u32, own_ticks: u64, credited_ticks: u64) {
        std::fs::create_dir_all(root.join(pid.to_string())).unwrap();
        let text = format!(
            "{pid} (x) S {parent} 1 1 0 -1 0 {own_ticks} {credited_ticks} 0 0 {own_ticks} 0 {credited_ticks} 0 20 0 1 0 500 0\n"
        );
        std::fs::write(root.join(format!("{pid}/stat")), text).unwrap();
    }

    fn end(root: &Path, pid: u32) {
        std::fs::write(root.join(format!("{pid}/stat")), "").unwrap();
    }

    fn processes(root: &Path, children: bool) -> Processes {
        let accounting = KernelAccounting { tick_ns: TICK, delay_accounting: None };
        Processes::new(TaskDir::of_processes(&ProcFs::new(root)).unwrap(), |_| None, accounting, children)
    }

    /// CPU time of the tree in clock ticks, and its minor faults.
    fn total(processes: &Processes) -> (u64, u64) {
        (processes.total()[0] / TICK, processes.total()[3])
    }

    #[test]
    fn a_child_that_was_waited_for_counts_once() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), 1, 0, 100, 50);
        write(root.path(), 2, 1, 30, 0);
        let mut tree = processes(root.path(), true);
        assert!(tree.add(1, u64::MAX) && tree.add(2, u64::MAX) && !tree.add(2, u64::MAX));
        assert_eq!(total(&tree), (0, 0));
        write(root.path(), 1, 0, 110, 50);
        write(root.path(), 2, 1, 35, 0);
        assert!(tree.refresh().is_empty());
        assert_eq!(total(&tree), (15, 15));
        end(root.path(), 2);
        write(root.path(), 1, 0, 110, 50 + 40);
        assert_eq!(tree.refresh(), [2]);
        assert_eq!(total(&tree), (20, 20), "the child's 40 ticks less the 30 it had used before");
    }

    /// As with `timeout` between a shell and a program: all of them end within one tick.
    #[test]
    fn a_grandchild_that_ends_with_its_parent_counts_once() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), 1, 0, 100, 0);
        write(root.path(), 2, 1, 1, 0);
        write(root.path(), 3, 2, 50, 0);
        let mut tree = processes(root.path(), true);
        assert!(tree.add(1, u64::MAX) && tree.add(2, 0) && tree.add(3, 0), "two were born during the capture");
        assert_eq!(total(&tree), (51, 51));
        end(root.path(), 2);
        end(root.path(), 3);
        write(root.path(), 1, 0, 100, 52);
        tree.refresh();
        assert_eq!(total(&tree), (52, 52));
    }

    #[test]
    fn a_child_nobody_waited_for_stays_in_with_its_last_reading() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), 1, 0, 100, 0);
        write(root.path(), 2, 1, 30, 0);
        let mut tree = processes(root.path(), true);
        assert!(tree.add(1, u64::MAX) && tree.add(2, 0), "the second was born during the capture");
        assert_eq!(total(&tree), (30, 30));
        end(root.path(), 2);
        tree.refresh();
        tree.refresh();
        assert_eq!(total(&tree), (30, 30));
    }

    #[test]
    fn a_child_never_seen_appears_in_its_parent_if_children_count() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), 1, 0, 100, 0);
        let (mut tree, mut alone) = (processes(root.path(), true), processes(root.path(), false));
        assert!(tree.add(1, u64::MAX) && alone.add(1, u64::MAX));
        write(root.path(), 1, 0, 101, 70);
        tree.refresh();
        alone.refresh();
        assert_eq!((total(&tree), total(&alone)), ((71, 71), (1, 1)));
    }

    #[test]
    fn a_whole_tree_that_ends_keeps_its_total() {
        let root = tempfile::tempdir().unwrap();
        write(root.path(), 1, 0, 100, 0);
        let mut tree = processes(root.path(), true);
        assert!(tree.add(1, u64::MAX));
        write(root.path(), 1, 0, 160, 20);
        tree.refresh();
        end(root.path(), 1);
        assert_eq!(tree.refresh(), [1]);
        assert_eq!((total(&tree), tree.alive().count()), ((80, 80), 0));
    }
}
