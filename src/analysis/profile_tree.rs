//! The call tree of a profile, for flame graphs. A stack without its outer frames hangs under the heading
//! `[truncated stack]`, so that its first frame is not taken for a root.

use super::calltree::CallTree;
use super::names::{CodeKind, Label, Names};
use super::stack_counts::{StackCount, StackCounts};
use super::stack_paths::StackPaths;
use super::tasks::Tasks;
use crate::model::StackId;
use crate::model::profile::Profile;
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
    /// Merges the stacks of a selection. With several processes, each gets a heading.
    #[must_use]
    pub fn of(profile: &Profile, names: &Names, tasks: &Tasks, counts: &StackCounts) -> ProfileTree {
        ProfileTree::grow(profile, names, tasks, &counts.rows, false, |_, _| {})
    }

    /// Like [`ProfileTree::of`], with a heading for each thread.
    #[must_use]
    pub fn by_thread(profile: &Profile, names: &Names, tasks: &Tasks, counts: &StackCounts) -> ProfileTree {
        ProfileTree::grow(profile, names, tasks, &counts.rows, true, |_, _| {})
    }

    /// Merges rows; `ends` gets each with the path that it ends. Stacks are added in the order of their keys, so equal
    /// profiles yield equal trees.
    pub(super) fn grow(
        profile: &Profile,
        names: &Names,
        tasks: &Tasks,
        rows: &[StackCount],
        threads: bool,
        mut ends: impl FnMut(&StackCount, u32),
    ) -> ProfileTree {
        let mut rows: Vec<(Key, &StackCount)> = rows.iter().map(|row| (Key::of(row, threads), row)).collect();
        rows.sort_unstable_by_key(|(key, _)| *key);
        let several = rows.iter().any(|(key, _)| key.pid != rows[0].0.pid);
        let mut tree = ProfileTree::default();
        let mut cells = vec![None; names.label_count()];
        let mut paths = StackPaths::of(profile, names);
        for group in rows.chunk_by(|(a, _), (b, _)| a.heading() == b.heading()) {
            let (key, _) = group[0];
            let process = several.then(|| process_heading(tasks, key.pid));
            let mut under = process.map(|name| tree.heading(None, &name));
            if let Some(tid) = key.tid {
                under = Some(tree.heading(under, &thread_heading(tasks, tid)));
            }
            if key.incomplete {
                under = Some(tree.heading(under, TRUNCATED));
            }
            paths.restart(under);
            for rows in group.chunk_by(|(a, _), (b, _)| a == b) {
                let leaf = paths.end(rows[0].0.stack, |parent, call| {
                    let cell = &mut cells[call.label as usize];
                    let cell = *cell.get_or_insert_with(|| tree.push_function(names.label(call.label)));
                    tree.child(parent, cell)
                });
                // Those without any address have a cell of their own.
                let leaf = leaf.unwrap_or_else(|| tree.heading(under, UNKNOWN));
                tree.add(leaf, rows.iter().map(|(_, row)| *row));
                rows.iter().for_each(|(_, row)| ends(row, leaf));
            }
        }
        tree
    }

    /// Adds rows at the end of their path.
    fn add<'r>(&mut self, leaf: u32, rows: impl Iterator<Item = &'r StackCount>) {
        let (mut own, mut queued) = (Weight::default(), 0_u64);
        for row in rows {
            own += Weight { weight: row.weight, samples: row.samples };
            queued = queued.saturating_add(row.queued);
        }
        self.nodes[leaf as usize].own += own;
        if queued > 0 {
            let queue = self.heading(Some(leaf), QUEUED);
            self.nodes[queue as usize].own += Weight { weight: queued, samples: own.samples };
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    pid: u32,
    tid: Option<u32>,
    incomplete: bool,
    stack: Option<StackId>,
}

impl Key {
    /// Truncated stacks go under a heading. A sample recorded without a stack has only its leaf and needs none.
    fn of(row: &StackCount, threads: bool) -> Key {
        Key { pid: row.pid, tid: threads.then_some(row.tid), incomplete: row.is_incomplete(), stack: row.stack }
    }

    /// What its headings depend on.
    fn heading(&self) -> (u32, Option<u32>, bool) {
        (self.pid, self.tid, self.incomplete)
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
    use crate::analysis::selection::{Axis, Selection};
    use crate::analysis::testing::{Synthetic, ms};
    use crate::model::{StackEnd, TaskState};

    fn check(synthetic: Synthetic, axis: Axis, expected: &[(&str, u64)]) {
        let profile = synthetic.finish();
        let selection = Selection { axis, ..Selection::default() };
        let tasks = Tasks::of(&profile);
        let counts = StackCounts::of(&profile, &tasks, &selection);
        let tree = ProfileTree::of(&profile, &Names::of(&profile), &tasks, &counts);
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
        let tasks = Tasks::of(&profile);
        let counts = StackCounts::of(&profile, &tasks, &Selection::default());
        let tree = ProfileTree::of(&profile, &Names::of(&profile), &tasks, &counts);
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
