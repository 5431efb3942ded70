//! The call tree of a profile, for flame graphs. A stack without its outer frames hangs under the heading
//! `[truncated stack]`, so that its first frame is not taken for a root.

use super::calltree::CallTree;
use super::names::{CodeKind, Label, Names};
use super::observe::{Observation, observations};
use super::selection::Selection;
use super::tasks::Tasks;
use crate::model::profile::Profile;
use crate::model::{StackEnd, StackId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::AddAssign;

/// A sum over samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Weight {
    /// Their weight.
    pub weight: u64,
    /// Their number; for time off the CPU, the number of spans.
    pub samples: u64,
}

impl AddAssign for Weight {
    fn add_assign(&mut self, other: Weight) {
        self.weight = self.weight.saturating_add(other.weight);
        self.samples += other.samples;
    }
}

/// The call tree of a profile.
pub type ProfileTree = CallTree<Label, Weight>;

/// Heading of stacks whose outer frames are missing.
pub const TRUNCATED: &str = "[truncated stack]";
/// Name of a sample without any address.
pub const UNKNOWN: &str = "[unknown]";
/// Leaf on top of a stack: the time the thread was runnable again but waited for a CPU.
pub const QUEUED: &str = "[waiting for a CPU]";

impl ProfileTree {
    /// Merges the selection's stacks. With several processes, each gets a heading.
    #[must_use]
    pub fn of(profile: &Profile, names: &Names, tasks: &Tasks, selection: &Selection) -> ProfileTree {
        ProfileTree::grow(profile, names, tasks, selection, false)
    }

    /// Like [`ProfileTree::of`], with a heading for each thread.
    #[must_use]
    pub fn by_thread(profile: &Profile, names: &Names, tasks: &Tasks, selection: &Selection) -> ProfileTree {
        ProfileTree::grow(profile, names, tasks, selection, true)
    }

    /// Stacks are added in the order of their keys, so equal profiles yield equal trees.
    fn grow(profile: &Profile, names: &Names, tasks: &Tasks, selection: &Selection, threads: bool) -> ProfileTree {
        let who = selection.who(tasks);
        let mut sums: FxHashMap<Key, Sum> = FxHashMap::default();
        for observation in observations(profile, selection, &who) {
            sums.entry(Key::of(&observation, threads)).or_default().add(&observation);
        }
        let pids: FxHashSet<u32> = sums.keys().map(|key| key.pid).collect();
        let mut keys: Vec<_> = sums.into_iter().collect();
        keys.sort_unstable_by_key(|(key, _)| *key);

        let mut tree = ProfileTree::with_functions(names.labels.clone());
        for (key, sum) in keys {
            let process = (pids.len() > 1).then(|| process_heading(tasks, key.pid));
            let mut under = process.map(|name| tree.heading(None, &name));
            if let Some(tid) = key.tid {
                under = Some(tree.heading(under, &thread_heading(tasks, tid)));
            }
            tree.add_stack(profile, names, under, key, sum);
        }
        tree
    }

    fn add_stack(&mut self, profile: &Profile, names: &Names, under: Option<u32>, key: Key, sum: Sum) {
        let mut node = under;
        if key.incomplete {
            node = Some(self.heading(node, TRUNCATED));
        }
        let mut calls: Vec<_> = names.walk(profile, key.stack).collect();
        calls.reverse();
        for call in &calls {
            node = Some(self.child(node, call.label));
        }
        let leaf = match node {
            Some(leaf) if !calls.is_empty() => leaf,
            _ => self.heading(node, UNKNOWN),
        };
        self.nodes[leaf as usize].own += Weight { weight: sum.weight, samples: sum.samples };
        if sum.queued > 0 {
            let queue = self.heading(Some(leaf), QUEUED);
            self.nodes[queue as usize].own += Weight { weight: sum.queued, samples: sum.samples };
        }
    }

    fn heading(&mut self, parent: Option<u32>, text: &str) -> u32 {
        let label = self.number(Label { text: text.to_string(), kind: CodeKind::Heading, inlined: false });
        self.child(parent, label)
    }

    /// Every stack with its weight, ordered by its names from the root.
    #[must_use]
    pub fn folded(&self) -> Vec<(Vec<&Label>, Weight)> {
        let ends = self.nodes.iter().enumerate().filter(|(_, node)| node.own.weight > 0);
        let mut lines: Vec<_> = ends.map(|(at, node)| (self.path(at as u32), node.own)).collect();
        lines.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        lines
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key {
    pid: u32,
    tid: Option<u32>,
    incomplete: bool,
    stack: Option<StackId>,
}

impl Key {
    /// Truncated stacks go under a heading. A sample recorded without a stack has only its leaf and needs none.
    fn of(observation: &Observation, threads: bool) -> Key {
        let incomplete = matches!(observation.end, StackEnd::Truncated | StackEnd::Broken);
        Key { pid: observation.pid, tid: threads.then_some(observation.tid), incomplete, stack: observation.stack }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    weight: u64,
    queued: u64,
    samples: u64,
}

impl Sum {
    fn add(&mut self, observation: &Observation) {
        self.weight = self.weight.saturating_add(observation.weight);
        self.queued = self.queued.saturating_add(observation.queued);
        self.samples += 1;
    }
}

fn thread_heading(tasks: &Tasks, tid: u32) -> String {
    let comm = tasks.get(tid).map_or("", |task| task.comm.as_str());
    format!("{comm} {tid}").trim_start().to_string()
}

/// The heading above a process's stacks, used if there are several processes.
pub(super) fn process_heading(tasks: &Tasks, pid: u32) -> String {
    format!("{} {pid}", tasks.process_name(pid)).trim_start().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::selection::Axis;
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::TaskState;

    fn check(synthetic: Synthetic, axis: Axis, expected: &[(&str, u64)]) {
        let profile = synthetic.finish();
        let selection = Selection { axis, ..Selection::default() };
        let tree = ProfileTree::of(&profile, &Names::of(&profile), &Tasks::of(&profile), &selection);
        let lines: Vec<_> = tree
            .folded()
            .iter()
            .map(|(path, sum)| {
                let path: Vec<_> = path.iter().map(|label| label.text.as_str()).collect();
                (path.join(";"), sum.weight)
            })
            .collect();
        let expected: Vec<_> = expected.iter().map(|(path, weight)| (path.to_string(), *weight)).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn equal_names_merge_and_truncated_stacks_have_their_own_root() {
        let mut synthetic = Synthetic::new();
        synthetic.samples(0, 41, "app!main;app!work", 2).samples(0, 42, "app!main;app!work", 3);
        synthetic.ended(0, 41, "app!work", 4, StackEnd::Truncated).ended(0, 41, "app!work", 1, StackEnd::Broken);
        synthetic.ended(0, 41, "app!leaf", 1, StackEnd::NotTaken).samples(0, 41, "", 1);
        let expected = [("[truncated stack];work", 5), ("[unknown]", 1), ("leaf", 1), ("main;work", 5)];
        check(synthetic, Axis::Event(0), &expected);
    }

    #[test]
    fn several_processes_have_their_headings() {
        let mut synthetic = Synthetic::new();
        synthetic.alive(41, "web").samples(0, 41, "app!main", 1);
        let mut profile = synthetic.finish();
        let mut other = profile.samples.get(0);
        if let Some(sample) = &mut other {
            (sample.pid, sample.tid) = (77, 77);
            profile.samples.push(sample);
        }
        let tree = ProfileTree::of(&profile, &Names::of(&profile), &Tasks::of(&profile), &Selection::default());
        let roots: Vec<_> = tree.folded().iter().map(|(path, ..)| path[0].text.clone()).collect();
        assert_eq!(roots, ["77", "web 41"]);
    }

    #[test]
    fn time_in_the_run_queue_stands_apart_from_blocked_time() {
        let mut synthetic = Synthetic::new();
        synthetic.off_cpu(0, 41, TaskState::Sleeping, 5, Some(2), "app!main;app!lock");
        synthetic.off_cpu(0, 41, TaskState::Runnable, 0, Some(3), "app!main");
        let expected =
            [("main;[waiting for a CPU]", ms(3).0), ("main;lock", ms(5).0), ("main;lock;[waiting for a CPU]", ms(2).0)];
        check(synthetic, Axis::OffCpu, &expected);
    }
}
