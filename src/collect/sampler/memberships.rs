//! Follows the control group of every task. The kernel's samples name it by its id, the inode of its directory; where
//! they do not, it is the group that the task's process was in when the task was first seen.

use super::event_queue::EventQueue;
use super::proc_source::ProcSource;
use crate::abi::perf::TaskRecord;
use crate::model::{Event, Membership, MembershipSource};
use crate::units::Nanos;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// How often all groups are searched for an id that no record has named.
const MOST_SEARCHES: usize = 64;

/// The group of a task.
#[derive(Debug, Clone)]
struct Known {
    /// Its id, once a sample has carried it.
    id: Option<u64>,
    path: Arc<str>,
}

/// The groups of all living tasks.
#[derive(Debug, Default)]
pub struct Memberships {
    tasks: FxHashMap<u32, Known>,
    /// The path of each id; `None` if it was not found.
    paths: FxHashMap<u64, Option<Arc<str>>>,
    searches: usize,
    /// The process whose group was read last: its threads are mostly met one after the other.
    last: Option<(u32, Arc<str>)>,
}

impl Memberships {
    /// A group was created.
    pub fn created(&mut self, id: u64, path: &[u8]) {
        self.paths.insert(id, Some(String::from_utf8_lossy(path).into()));
    }

    /// A sample of a task carried its group.
    #[inline]
    pub fn sampled<W: ProcSource>(
        &mut self,
        at: Nanos,
        (pid, tid): (u32, u32),
        id: u64,
        proc: &mut W,
        out: &mut EventQueue,
    ) {
        if self.tasks.get(&tid).is_none_or(|known| known.id != Some(id)) {
            self.moved(at, (pid, tid), id, proc, out);
        }
    }

    fn moved<W: ProcSource>(&mut self, at: Nanos, (pid, tid): (u32, u32), id: u64, proc: &mut W, out: &mut EventQueue) {
        let Some(path) = self.path(id, pid, proc) else { return };
        let before = self.tasks.insert(tid, Known { id: Some(id), path: Arc::clone(&path) });
        if before.is_none_or(|before| before.path != path) {
            out.push(joined(at, pid, tid, path, MembershipSource::Sample));
        }
    }

    /// A task was seen that has not been announced.
    pub fn met<W: ProcSource>(&mut self, at: Nanos, pid: u32, tid: u32, proc: &mut W, out: &mut EventQueue) {
        if self.tasks.contains_key(&tid) {
            return;
        }
        let read = match &self.last {
            Some((last, path)) if *last == pid => Some(Arc::clone(path)),
            _ => proc.cgroup(pid).map(Arc::from),
        };
        let Some(path) = read else { return };
        self.last = Some((pid, Arc::clone(&path)));
        self.tasks.insert(tid, Known { id: None, path: Arc::clone(&path) });
        out.push(joined(at, pid, tid, path, MembershipSource::Process));
    }

    /// A task was born, into its parent's group unless its samples tell otherwise.
    pub fn born(&mut self, at: Nanos, task: &TaskRecord, out: &mut EventQueue) {
        self.tasks.remove(&task.tid);
        if let Some(parent) = self.tasks.get(&task.parent_tid).cloned() {
            out.push(joined(at, task.pid, task.tid, Arc::clone(&parent.path), MembershipSource::Parent));
            self.tasks.insert(task.tid, parent);
        }
    }

    /// A task ended: its number may name another.
    pub fn ended(&mut self, tid: u32) {
        self.tasks.remove(&tid);
        self.last = None;
    }

    fn path<W: ProcSource>(&mut self, id: u64, pid: u32, proc: &mut W) -> Option<Arc<str>> {
        if let Some(path) = self.paths.get(&id) {
            return path.clone();
        }
        let mut path = proc.cgroup(pid).filter(|path| proc.cgroup_id(path) == Some(id));
        if path.is_none() && self.searches < MOST_SEARCHES {
            self.searches += 1;
            path = proc.cgroup_of(id);
        }
        let path = path.map(Arc::from);
        self.paths.insert(id, path.clone());
        path
    }
}

fn joined(at: Nanos, pid: u32, tid: u32, cgroup: Arc<str>, source: MembershipSource) -> Event {
    Event::Membership(Membership { at, pid, tid, cgroup, source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::sampler::proc_source::fake::Tables;

    const AT: Nanos = Nanos(7);

    fn taken(out: &mut EventQueue) -> Vec<(u32, String, MembershipSource)> {
        let joined = |event| match event {
            Event::Membership(Membership { tid, cgroup, source, .. }) => Some((tid, cgroup.to_string(), source)),
            _ => None,
        };
        out.take().into_iter().filter_map(joined).collect()
    }

    #[test]
    fn a_task_is_in_the_group_of_its_latest_sample_and_first_in_its_processs_or_parents() {
        use MembershipSource::{Parent, Process, Sample};
        let mut proc = Tables { cgroups: [(5, (50, "/web".to_string()))].into(), ..Tables::default() };
        let (mut all, mut out) = (Memberships::default(), EventQueue::default());
        all.met(AT, 5, 5, &mut proc, &mut out);
        all.met(AT, 5, 5, &mut proc, &mut out);
        all.sampled(AT, (5, 5), 50, &mut proc, &mut out);
        assert_eq!(taken(&mut out), [(5, "/web".to_string(), Process)], "its samples confirm it");
        all.born(AT, &TaskRecord { pid: 5, tid: 6, parent_pid: 5, parent_tid: 5, own_mappings: false }, &mut out);
        all.created(51, b"/web/new");
        all.sampled(AT, (5, 6), 51, &mut proc, &mut out);
        all.sampled(AT, (5, 6), 51, &mut proc, &mut out);
        assert_eq!(taken(&mut out), [(6, "/web".to_string(), Parent), (6, "/web/new".to_string(), Sample)]);
        all.ended(6);
        all.sampled(AT, (9, 6), 50, &mut proc, &mut out);
        assert_eq!(taken(&mut out), [(6, "/web".to_string(), Sample)], "another task with its number");
    }

    #[test]
    fn an_id_that_nothing_names_is_searched_for_once() {
        let (mut all, mut out, mut proc) = (Memberships::default(), EventQueue::default(), Tables::default());
        for _ in 0..3 {
            all.sampled(AT, (5, 5), 77, &mut proc, &mut out);
        }
        assert_eq!((taken(&mut out), all.searches), (vec![], 1));
    }
}
