//! Tracks the live tasks of the recorded machine and each process's mappings, from the file's records only: the
//! processes that now have these ids on this machine are different ones.

use crate::abi::perf::{CgroupRecord, CommRecord, TaskRecord};
use crate::collect::sampler::{AddressMap, Placed};
use crate::model::{Event, Membership, MembershipSource, TaskChange, TaskEvent};
use crate::units::Nanos;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::sync::Arc;

/// Samples may arrive after their task has ended, so mappings are kept until this many more processes have ended.
const REMEMBERED: usize = 1024;

/// A process's mappings. Two with the same version are equal: a child has its parent's until either is changed.
#[derive(Debug, Clone, Default)]
pub(super) struct Space {
    pub map: AddressMap,
    pub version: u64,
}

/// Tasks and their processes' mappings.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    names: FxHashMap<u32, String>,
    /// The path of each control group, by its id.
    cgroups: FxHashMap<u64, Arc<str>>,
    /// The group of each task's last sample.
    memberships: FxHashMap<u32, u64>,
    spaces: FxHashMap<u32, Arc<Space>>,
    /// The last version given to a process's mappings.
    version: u64,
    /// Processes whose main thread ended, in that order.
    ended: VecDeque<u32>,
    /// The mappings of an unknown process; the only ones of version 0.
    nowhere: Space,
}

impl Tasks {
    /// The mappings of a process.
    pub(super) fn space(&self, pid: u32) -> &Space {
        self.spaces.get(&pid).map_or(&self.nowhere, |space| space)
    }

    /// Adds a mapping to a process.
    pub(super) fn mapped(&mut self, pid: u32, start: u64, end: u64, placed: &Placed) {
        self.version += 1;
        let space = Arc::make_mut(self.spaces.entry(pid).or_default());
        space.map.map(start, end, placed);
        space.version = self.version;
    }

    /// Registers a sample's task. Only the idle task needs this, because perf never names it.
    pub(super) fn meet(&mut self, at: Nanos, pid: u32, tid: u32) -> Option<Event> {
        if tid != 0 || self.names.contains_key(&0) {
            return None;
        }
        self.names.insert(0, "swapper".into());
        Some(event(at, pid, 0, TaskChange::Alive { comm: "swapper".into() }))
    }

    /// A control group was named.
    pub(super) fn cgroup(&mut self, record: &CgroupRecord<'_>) {
        self.cgroups.insert(record.id, String::from_utf8_lossy(record.path).into());
    }

    /// A task's sample carried its control group. Returns the membership if it is another than before.
    pub(super) fn joined(&mut self, at: Nanos, pid: u32, tid: u32, id: u64) -> Option<Event> {
        if self.memberships.insert(tid, id) == Some(id) {
            return None;
        }
        let cgroup = self.cgroups.get(&id).map_or_else(|| format!("[id {id}]").into(), Arc::clone);
        Some(Event::Membership(Membership { at, pid, tid, cgroup, source: MembershipSource::Sample }))
    }

    /// A task was renamed. `at` is `None` for a name it had before the recording.
    pub(super) fn named(&mut self, at: Option<Nanos>, record: &CommRecord<'_>) -> Event {
        let CommRecord { pid, tid, comm, exec } = *record;
        let comm = String::from_utf8_lossy(comm).into_owned();
        if exec {
            self.spaces.remove(&pid);
        }
        self.names.insert(tid, comm.clone());
        match at {
            None => event(Nanos(0), pid, tid, TaskChange::Alive { comm }),
            Some(at) => event(at, pid, tid, TaskChange::Renamed { comm, exec }),
        }
    }

    /// A task was born, with its parent's name and, in a new process, a copy of the parent's mappings. `None` if it
    /// existed before the recording.
    pub(super) fn born(&mut self, at: Option<Nanos>, record: &TaskRecord) -> Option<Event> {
        let TaskRecord { pid, tid, parent_pid, parent_tid, own_mappings } = *record;
        let comm = self.names.get(&parent_tid).cloned().unwrap_or_default();
        if pid != parent_pid {
            match self.spaces.get(&parent_pid).filter(|_| !own_mappings).cloned() {
                Some(space) => self.spaces.insert(pid, space),
                None => self.spaces.remove(&pid),
            };
        }
        self.ended.retain(|ended| *ended != pid);
        self.names.insert(tid, comm.clone());
        Some(event(at?, pid, tid, TaskChange::Born { parent: parent_tid, comm }))
    }

    /// A task ended. Also returns the process whose data can be dropped.
    pub(super) fn ended(&mut self, at: Nanos, pid: u32, tid: u32) -> (Event, Option<u32>) {
        self.names.remove(&tid);
        self.memberships.remove(&tid);
        let mut forgotten = None;
        if pid == tid {
            self.ended.push_back(pid);
            if self.ended.len() > REMEMBERED {
                forgotten = self.ended.pop_front();
                forgotten.map(|pid| self.spaces.remove(&pid));
            }
        }
        (event(at, pid, tid, TaskChange::Ended), forgotten)
    }
}

fn event(at: Nanos, pid: u32, tid: u32, change: TaskChange) -> Event {
    Event::Task(TaskEvent { at, pid, tid, change })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ModuleId;

    fn place(tasks: &mut Tasks, pid: u32, start: u64) {
        tasks.mapped(pid, start, start + 16, &Placed { module: ModuleId(1), base: start, code: None });
    }

    fn birth(pid: u32, parent: u32, own_mappings: bool) -> TaskRecord {
        TaskRecord { pid, tid: pid, parent_pid: parent, parent_tid: parent, own_mappings }
    }

    #[test]
    fn a_child_has_its_parents_mappings_unless_perf_tells_of_its_own() {
        let mut tasks = Tasks::default();
        place(&mut tasks, 5, 0x1000);
        tasks.born(Some(Nanos(1)), &birth(6, 5, false));
        tasks.born(Some(Nanos(1)), &birth(7, 5, true));
        place(&mut tasks, 6, 0x2000);
        let found = |pid, address| tasks.space(pid).map.find(address).is_some();
        assert_eq!([found(6, 0x1000), found(7, 0x1000), found(5, 0x2000), found(9, 0)], [true, false, false, false]);
    }

    #[test]
    fn an_exec_clears_and_a_name_told_beforehand_is_no_renaming() {
        let mut tasks = Tasks::default();
        place(&mut tasks, 5, 0x1000);
        let before = tasks.named(None, &CommRecord { pid: 5, tid: 5, comm: b"a", exec: false });
        assert!(matches!(before, Event::Task(TaskEvent { change: TaskChange::Alive { .. }, .. })));
        tasks.named(Some(Nanos(2)), &CommRecord { pid: 5, tid: 5, comm: b"b", exec: true });
        assert!(tasks.space(5).map.find(0x1000).is_none());
    }

    #[test]
    fn ended_processes_are_forgotten_in_time_and_not_when_their_number_is_used_again() {
        let mut tasks = Tasks::default();
        let all = 2000;
        for pid in 1..=all {
            place(&mut tasks, pid, 0x1000);
            tasks.ended(Nanos(1), pid, pid);
            if pid == 1 {
                tasks.born(Some(Nanos(1)), &birth(1, 1, false));
            }
        }
        assert_eq!(tasks.spaces.len(), REMEMBERED + 1);
        assert!(tasks.space(1).map.find(0x1000).is_some());
    }
}
