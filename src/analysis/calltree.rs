//! Stacks merged from the root by name, for flame graphs. A stack without its outer frames hangs under the heading
//! `[truncated stack]`, so that its first frame is not taken for a root. Stacks are ordered by name, not by weight, so
//! equal profiles yield equal trees.

use super::names::{CodeKind, Label, Names};
use super::observe::{Observation, observations};
use super::selection::Selection;
use super::tasks::Tasks;
use crate::model::profile::Profile;
use crate::model::{StackEnd, StackId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A cell of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    /// Its caller; `None` for a root.
    pub parent: Option<u32>,
    /// Index into [`CallTree::labels`].
    pub label: u32,
    /// Weight of the stacks that end here.
    pub self_weight: u64,
    /// Observations of the stacks that end here.
    pub self_samples: u64,
}

/// Stacks merged by name; a parent's index is always lower than its child's.
#[derive(Debug, Clone, Default)]
pub struct CallTree {
    /// Distinct cells.
    pub labels: Vec<Label>,
    /// The tree's cells; each refers to a label.
    pub nodes: Vec<Node>,
    children: FxHashMap<(Option<u32>, u32), u32>,
    headings: FxHashMap<String, u32>,
}

/// Heading of stacks whose outer frames are missing.
pub const TRUNCATED: &str = "[truncated stack]";
/// Name of a sample without any address.
pub const UNKNOWN: &str = "[unknown]";
/// Leaf on top of a stack: the time the thread was runnable again but waited for a CPU.
pub const QUEUED: &str = "[waiting for a CPU]";

impl CallTree {
    /// Merges the selection's stacks. With several processes, each gets a heading.
    #[must_use]
    pub fn of(profile: &Profile, names: &Names, tasks: &Tasks, selection: &Selection) -> CallTree {
        CallTree::grow(profile, names, tasks, selection, false)
    }

    /// Like [`CallTree::of`], with a heading for each thread.
    #[must_use]
    pub fn by_thread(profile: &Profile, names: &Names, tasks: &Tasks, selection: &Selection) -> CallTree {
        CallTree::grow(profile, names, tasks, selection, true)
    }

    fn grow(profile: &Profile, names: &Names, tasks: &Tasks, selection: &Selection, threads: bool) -> CallTree {
        let who = selection.who(tasks);
        let mut sums: FxHashMap<Key, Sum> = FxHashMap::default();
        for seen in observations(profile, selection, &who) {
            sums.entry(Key::of(&seen, threads)).or_default().add(&seen);
        }
        let pids: FxHashSet<u32> = sums.keys().map(|key| key.pid).collect();
        let mut keys: Vec<_> = sums.into_iter().collect();
        keys.sort_unstable_by_key(|(key, _)| *key);

        let mut tree = CallTree { labels: names.labels.clone(), ..CallTree::default() };
        for (key, sum) in keys {
            let process = (pids.len() > 1).then(|| process_heading(tasks, key.pid));
            let mut under = process.map(|name| tree.heading(None, &name));
            if let Some(tid) = key.tid {
                under = Some(tree.heading(under, &thread_heading(tasks, tid)));
            }
            tree.insert(profile, names, under, key, sum);
        }
        tree
    }

    fn insert(&mut self, profile: &Profile, names: &Names, under: Option<u32>, key: Key, sum: Sum) {
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
        self.add(leaf, sum.weight, sum.samples);
        if sum.queued > 0 {
            let queue = self.heading(Some(leaf), QUEUED);
            self.add(queue, sum.queued, sum.samples);
        }
    }

    fn add(&mut self, node: u32, weight: u64, samples: u64) {
        let node = &mut self.nodes[node as usize];
        node.self_weight = node.self_weight.saturating_add(weight);
        node.self_samples += samples;
    }

    fn heading(&mut self, parent: Option<u32>, text: &str) -> u32 {
        let label = match self.headings.get(text) {
            Some(label) => *label,
            None => {
                let label = self.labels.len() as u32;
                self.labels.push(Label { text: text.to_string(), kind: CodeKind::Heading, inlined: false });
                self.headings.insert(text.to_string(), label);
                label
            }
        };
        self.child(parent, label)
    }

    fn child(&mut self, parent: Option<u32>, label: u32) -> u32 {
        let next = self.nodes.len() as u32;
        let node = *self.children.entry((parent, label)).or_insert(next);
        if node == next {
            self.nodes.push(Node { parent, label, self_weight: 0, self_samples: 0 });
        }
        node
    }

    /// The cells from the root to this node.
    #[must_use]
    pub fn path(&self, node: u32) -> Vec<&Label> {
        let mut path = Vec::new();
        let mut next = Some(node);
        while let Some(node) = next.and_then(|at| self.nodes.get(at as usize)) {
            path.push(&self.labels[node.label as usize]);
            next = node.parent;
        }
        path.reverse();
        path
    }

    /// Every stack with its weight and number of samples, ordered by its names from the root.
    #[must_use]
    pub fn folded(&self) -> Vec<(Vec<&Label>, u64, u64)> {
        let ends = self.nodes.iter().enumerate().filter(|(_, node)| node.self_weight > 0);
        let mut lines: Vec<_> =
            ends.map(|(at, node)| (self.path(at as u32), node.self_weight, node.self_samples)).collect();
        lines.sort_unstable();
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
    fn of(seen: &Observation, threads: bool) -> Key {
        let incomplete = matches!(seen.end, StackEnd::Truncated | StackEnd::Broken);
        Key { pid: seen.pid, tid: threads.then_some(seen.tid), incomplete, stack: seen.stack }
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    weight: u64,
    queued: u64,
    samples: u64,
}

impl Sum {
    fn add(&mut self, seen: &Observation) {
        self.weight = self.weight.saturating_add(seen.weight);
        self.queued = self.queued.saturating_add(seen.queued);
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
        let tree = CallTree::of(&profile, &Names::of(&profile), &Tasks::of(&profile), &selection);
        let lines: Vec<_> = tree
            .folded()
            .iter()
            .map(|(path, weight, _)| {
                let path: Vec<_> = path.iter().map(|label| label.text.as_str()).collect();
                (path.join(";"), *weight)
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
        let tree = CallTree::of(&profile, &Names::of(&profile), &Tasks::of(&profile), &Selection::default());
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
