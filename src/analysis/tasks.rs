//! Every thread of a profile with its process, name and lifetime. A thread that no event names has an empty name.

use crate::model::TaskChange;
use crate::model::profile::Profile;
use crate::units::Nanos;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Kernel thread id.
    pub tid: u32,
    /// Its process.
    pub pid: u32,
    /// Its last name; empty if none was reported.
    pub comm: String,
    /// When it was born; `None` if before the recording, or not reported.
    pub born: Option<Nanos>,
    /// When it ended; `None` if after the recording, or not reported.
    pub ended: Option<Nanos>,
    /// Its last control group; `None` if it was found in none.
    pub cgroup: Option<Arc<str>>,
}

impl Task {
    /// How long it lived within a recording of this length.
    #[must_use]
    pub fn lifetime(&self, duration: Nanos) -> Nanos {
        self.ended.unwrap_or(duration) - self.born.unwrap_or_default()
    }
}

/// The threads of a profile, by id.
#[derive(Debug, Clone, Default)]
pub struct Tasks {
    by_tid: BTreeMap<u32, Task>,
}

impl Tasks {
    /// Collects them from the task events, the samples and the off-CPU spans.
    #[must_use]
    pub fn of(profile: &Profile) -> Tasks {
        let mut tasks = Tasks::default();
        for event in &profile.tasks {
            let task = tasks.entry(event.pid, event.tid);
            match &event.change {
                TaskChange::Alive { comm } | TaskChange::Renamed { comm, .. } => task.comm.clone_from(comm),
                // A reused id names the later thread.
                TaskChange::Born { comm, .. } => {
                    let (comm, born) = (comm.clone(), Some(event.at));
                    *task = Task { tid: event.tid, pid: event.pid, comm, born, ended: None, cgroup: None };
                }
                TaskChange::Ended => task.ended = Some(event.at),
            }
        }
        for it in &profile.memberships {
            tasks.entry(it.pid, it.tid).cgroup = Some(Arc::clone(&it.cgroup));
        }
        let sampled = profile.samples.pid.iter().copied().zip(profile.samples.tid.iter().copied());
        let mut seen = FxHashSet::default();
        let mut last = None;
        for (pid, tid) in sampled.chain(profile.off_cpu.iter().map(|span| (span.pid, span.tid))) {
            if last.replace(tid) != Some(tid) && seen.insert(tid) {
                tasks.entry(pid, tid);
            }
        }
        tasks
    }

    fn entry(&mut self, pid: u32, tid: u32) -> &mut Task {
        let unknown = || Task { tid, pid, comm: String::new(), born: None, ended: None, cgroup: None };
        self.by_tid.entry(tid).or_insert_with(unknown)
    }

    /// The thread of that id.
    #[must_use]
    pub fn get(&self, tid: u32) -> Option<&Task> {
        self.by_tid.get(&tid)
    }

    /// All threads, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Task> {
        self.by_tid.values()
    }

    /// A process's name: that of its first thread; empty if unknown.
    #[must_use]
    pub fn process_name(&self, pid: u32) -> &str {
        self.get(pid).map_or("", |task| &task.comm)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::analysis::testing::{Synthetic, ms};

    #[test]
    fn the_last_name_stays_and_an_id_used_again_names_the_later_thread() {
        let born = |comm: &str| TaskChange::Born { parent: 41, comm: comm.to_string() };
        let mut synthetic = Synthetic::new();
        synthetic
            .alive(41, "bash")
            .task(5, 41, 41, TaskChange::Renamed { comm: "redis".to_string(), exec: true })
            .task(10, 41, 50, born("first"))
            .task(20, 41, 50, TaskChange::Ended)
            .task(30, 41, 50, born("second"))
            .samples(1, 77, "app!main", 1);
        let tasks = Tasks::of(&synthetic.finish());
        assert_eq!(tasks.process_name(41), "redis");
        assert_eq!(tasks.get(50).unwrap().lifetime(ms(100)), ms(70));
        assert_eq!(tasks.get(50).unwrap().comm, "second");
        assert_eq!(tasks.get(77).unwrap().comm, "", "seen by a sample alone");
    }
}
