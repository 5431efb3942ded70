//! Decides whose samples are wanted. The kernel filters most of them already; this covers what it cannot. New tasks get
//! their events by inheritance.

use crate::abi::perf::TaskRecord;
use crate::model::Target;
use rustc_hash::FxHashSet;

/// The tasks a capture follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FollowedTasks {
    /// Everything that the kernel delivers: the tasks of a CPU or control group.
    Everything,
    /// Processes, and those they fork if `children`.
    Processes {
        /// Alive now.
        pids: FxHashSet<u32>,
        /// Whether forked processes join.
        children: bool,
    },
    /// Profile single threads.
    Threads(FxHashSet<u32>),
}

impl FollowedTasks {
    /// Follows a target; a command's process joins when it has been started.
    pub fn new(target: &Target) -> FollowedTasks {
        match target {
            Target::Processes { pids, children } => {
                FollowedTasks::Processes { pids: pids.iter().copied().collect(), children: *children }
            }
            Target::Threads { tids } => FollowedTasks::Threads(tids.iter().copied().collect()),
            Target::Command { .. } => FollowedTasks::Processes { pids: FxHashSet::default(), children: true },
            Target::Cgroup { .. } | Target::Cpus { .. } => FollowedTasks::Everything,
        }
    }

    /// Adds a process.
    pub fn join(&mut self, pid: u32) {
        if let FollowedTasks::Processes { pids, .. } = self {
            pids.insert(pid);
        }
    }

    /// Whether this task's samples are wanted.
    pub fn wants(&self, pid: u32, tid: u32) -> bool {
        match self {
            FollowedTasks::Everything => true,
            FollowedTasks::Processes { pids, .. } => pids.contains(&pid),
            FollowedTasks::Threads(tids) => tids.contains(&tid),
        }
    }

    /// Whether changes to this process's mappings matter. The processes of single threads are unknown, so all matter.
    pub fn concerns(&self, pid: u32) -> bool {
        match self {
            FollowedTasks::Processes { pids, .. } => pids.contains(&pid),
            FollowedTasks::Everything | FollowedTasks::Threads(_) => true,
        }
    }

    /// Records a new task: a followed process's child joins if children do.
    pub fn born(&mut self, record: &TaskRecord) {
        if let FollowedTasks::Processes { pids, children: true } = self
            && pids.contains(&record.parent_pid)
        {
            pids.insert(record.pid);
        }
    }

    /// Removes a process that has ended: its id may be reused.
    pub fn leave(&mut self, pid: u32) {
        if let FollowedTasks::Processes { pids, .. } = self {
            pids.remove(&pid);
        }
    }

    /// Whether no followed task is left.
    pub fn is_over(&self, mut alive: impl FnMut(u32) -> bool) -> bool {
        match self {
            FollowedTasks::Everything => false,
            FollowedTasks::Processes { pids: ids, .. } | FollowedTasks::Threads(ids) => {
                !ids.iter().any(|id| alive(*id))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_join_only_when_asked_for_and_only_of_followed_parents() {
        let born =
            |pid, parent_pid| TaskRecord { pid, tid: pid, parent_pid, parent_tid: parent_pid, own_mappings: false };
        for (children, wanted) in [(true, [true, true, true, false]), (false, [true, false, false, false])] {
            let mut follow = FollowedTasks::new(&Target::Processes { pids: vec![5], children });
            for lineage in [born(6, 5), born(7, 6), born(9, 8)] {
                follow.born(&lineage);
            }
            assert_eq!([5, 6, 7, 9].map(|pid| follow.wants(pid, pid)), wanted, "children: {children}");
        }
    }

    #[test]
    fn a_thread_is_followed_alone_and_a_cpu_has_no_end() {
        let threads = FollowedTasks::new(&Target::Threads { tids: vec![8] });
        assert!(threads.wants(7, 8) && !threads.wants(8, 7) && threads.concerns(7));
        assert!(threads.is_over(|_| false) && !threads.is_over(|tid| tid == 8));
        assert!(!FollowedTasks::new(&Target::Cpus { cpus: vec![] }).is_over(|_| false));
    }
}
