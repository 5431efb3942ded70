//! Sorts and filters the choices: busiest first or as a tree, and only those that match the search.

use super::{CgroupChoice, Choices, Filter, ProcessChoice, RecordingChoice};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Maximum indentation of a branch, because a line has limited width.
const DEEPEST: usize = 40;

/// A row in the list of processes.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessRow<'a> {
    /// The process.
    pub process: &'a ProcessChoice,
    /// For each ancestor shown above it, outermost first: whether more of its siblings follow. The last entry is the
    /// row's own. Empty in a flat list and for roots.
    pub branches: Vec<bool>,
}

/// A row in the list of control groups.
#[derive(Debug, Clone, PartialEq)]
pub struct CgroupRow<'a> {
    /// The group.
    pub cgroup: &'a CgroupChoice,
    /// As for processes.
    pub branches: Vec<bool>,
}

/// The processes to show. A tree keeps a process below its parent, the busiest branch first. A search returns a flat
/// list, the best matches first.
#[must_use]
pub fn processes<'a>(choices: &'a Choices, filter: &Filter, tree: bool) -> Vec<ProcessRow<'a>> {
    if tree && filter.is_empty() {
        return Forest::new(&choices.processes).rows();
    }
    let mut ranked: Vec<(usize, &ProcessChoice)> = choices
        .processes
        .iter()
        .filter_map(|process| {
            let pid = process.pid.to_string();
            Some((filter.rank(&[&process.comm, &process.command, &pid])?, process))
        })
        .collect();
    ranked.sort_by_key(|(rank, process)| (*rank, idleness(process)));
    ranked.into_iter().map(|(_, process)| ProcessRow { process, branches: Vec::new() }).collect()
}

/// The control groups to show: a tree, or a flat list of those that match the search.
#[must_use]
pub fn cgroups<'a>(choices: &'a Choices, filter: &Filter) -> Vec<CgroupRow<'a>> {
    let all = &choices.cgroups;
    if !filter.is_empty() {
        let found = all.iter().filter(|cgroup| filter.rank(&[&cgroup.path]).is_some());
        return found.map(|cgroup| CgroupRow { cgroup, branches: Vec::new() }).collect();
    }
    let at: HashMap<&str, usize> = all.iter().enumerate().map(|(at, cgroup)| (cgroup.path.as_str(), at)).collect();
    let parents: Vec<Option<usize>> = all
        .iter()
        .map(|cgroup| {
            let parent = cgroup.path.rfind('/').map(|cut| &cgroup.path[..cut.max(1)])?;
            at.get(parent).copied().filter(|_| parent != cgroup.path)
        })
        .collect();
    let order: Vec<usize> = (0..all.len()).collect();
    let rows = walk(&parents, &order);
    rows.into_iter().map(|(at, branches)| CgroupRow { cgroup: &all[at], branches }).collect()
}

/// The recordings to show.
#[must_use]
pub fn recordings<'a>(choices: &'a Choices, filter: &Filter) -> Vec<&'a RecordingChoice> {
    let fits =
        |recording: &&RecordingChoice| filter.rank(&[&recording.path.to_string_lossy(), &recording.target]).is_some();
    choices.recordings.iter().filter(fits).collect()
}

/// Sort key, busiest first. CPU use is in whole percents, so that idle processes do not swap places every second.
fn idleness(process: &ProcessChoice) -> impl Ord + use<> {
    (Reverse(percent(process)), process.above, Reverse(process.memory.value().copied()), process.pid)
}

fn percent(process: &ProcessChoice) -> u64 {
    process.cpu.value().map_or(0, |cpus| (cpus * 100.0).round() as u64)
}

/// The forest of processes, each below its parent.
struct Forest<'a> {
    processes: &'a [ProcessChoice],
    parents: Vec<Option<usize>>,
}

impl<'a> Forest<'a> {
    fn new(processes: &'a [ProcessChoice]) -> Forest<'a> {
        let at: HashMap<u32, usize> = processes.iter().enumerate().map(|(at, process)| (process.pid, at)).collect();
        let parent =
            |process: &ProcessChoice| at.get(&process.parent).copied().filter(|_| process.parent != process.pid);
        Forest { processes, parents: processes.iter().map(parent).collect() }
    }

    fn rows(&self) -> Vec<ProcessRow<'a>> {
        let busy = self.branch_percents();
        let mut order: Vec<usize> = (0..self.processes.len()).collect();
        order.sort_by_key(|&at| (Reverse(busy[at]), idleness(&self.processes[at])));
        let rows = walk(&self.parents, &order);
        rows.into_iter().map(|(at, branches)| ProcessRow { process: &self.processes[at], branches }).collect()
    }

    /// CPU use of each process including all its descendants.
    fn branch_percents(&self) -> Vec<u64> {
        let mut busy: Vec<u64> = self.processes.iter().map(percent).collect();
        let any_order: Vec<usize> = (0..busy.len()).collect();
        // In reverse order, children come before their parents.
        for (at, _) in walk(&self.parents, &any_order).into_iter().rev() {
            if let Some(parent) = self.parents[at] {
                busy[parent] += busy[at];
            }
        }
        busy
    }
}

/// Returns all nodes, parents before children and siblings in `order`, each with the branches that lead to it.
/// A cycle has no root: it is cut at its first node in `order`.
fn walk(parents: &[Option<usize>], order: &[usize]) -> Vec<(usize, Vec<bool>)> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); parents.len()];
    for &at in order {
        if let Some(parent) = parents[at] {
            children[parent].push(at);
        }
    }
    let mut rows = Vec::with_capacity(parents.len());
    let mut seen = vec![false; parents.len()];
    let roots = order.iter().filter(|&&at| parents[at].is_none());
    for &root in roots.chain(order) {
        let mut next = vec![(root, Vec::new())];
        while let Some((at, branches)) = next.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            for (place, &child) in children[at].iter().rev().enumerate() {
                let mut below: Vec<bool> = branches.clone();
                if below.len() < DEEPEST {
                    below.push(place > 0);
                }
                next.push((child, below));
            }
            rows.push((at, branches));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Measure, Why};
    use proptest::prelude::*;

    fn process(pid: u32, parent: u32, comm: &str, cpu: f64) -> ProcessChoice {
        ProcessChoice {
            pid,
            parent,
            comm: comm.into(),
            command: format!("/usr/bin/{comm} --flag"),
            threads: 1,
            cpu: Measure::exact(cpu),
            memory: Measure::exact(u64::from(pid)),
            ours: true,
            above: false,
        }
    }

    fn choices() -> Choices {
        let processes = vec![
            process(1, 0, "init", 0.0),
            process(10, 1, "shell", 0.0),
            process(11, 10, "make", 0.1),
            process(12, 11, "cc1", 0.9),
            process(20, 1, "redis", 0.5),
            process(30, 1, "idle", 0.001),
        ];
        Choices { processes, ..Choices::default() }
    }

    fn pids(rows: &[ProcessRow<'_>]) -> Vec<u32> {
        rows.iter().map(|row| row.process.pid).collect()
    }

    #[test]
    fn a_flat_list_has_the_busiest_first_and_the_larger_of_the_idle() {
        let mut choices = choices();
        choices.processes[4].cpu = Measure::Missing(Why::NotRecorded);
        assert_eq!(
            pids(&processes(&choices, &Filter::default(), false)),
            [12, 11, 30, 20, 10, 1],
            "20's use is unknown"
        );
    }

    #[test]
    fn a_tree_has_the_busiest_branch_first() {
        let choices = choices();
        let rows = processes(&choices, &Filter::default(), true);
        assert_eq!(pids(&rows), [1, 10, 11, 12, 20, 30]);
        let branches: Vec<&[bool]> = rows.iter().map(|row| row.branches.as_slice()).collect();
        let expected: [&[bool]; 6] = [&[], &[true], &[true, false], &[true, false, false], &[true], &[false]];
        assert_eq!(branches, expected);
    }

    #[test]
    fn a_search_looks_at_names_command_lines_and_ids_and_gives_a_flat_list() {
        let choices = choices();
        let rows =
            [("cc", vec![12]), ("10", vec![10]), ("1", vec![12, 11, 10, 1]), ("flag redis", vec![20]), ("no", vec![])];
        for (typed, expected) in rows {
            assert_eq!(pids(&processes(&choices, &Filter::new(typed), true)), expected, "{typed}");
        }
        let found = pids(&processes(&choices, &Filter::new("i"), false));
        assert_eq!(found[..2], [30, 1], "names that begin with it come first");
        assert_eq!(found.len(), 6, "/usr/bin holds it as well");
    }

    #[test]
    fn groups_stand_below_the_nearest_group_that_is_listed() {
        let group =
            |path: &str| CgroupChoice { path: path.into(), processes: 1, cpu: Measure::Missing(Why::NotRecorded) };
        let all = ["/a.slice", "/a.slice/b", "/a.slice/b/c", "/a.slice/d", "/e"].map(group).to_vec();
        let choices = Choices { cgroups: all, ..Choices::default() };
        let rows = cgroups(&choices, &Filter::default());
        let depths: Vec<usize> = rows.iter().map(|row| row.branches.len()).collect();
        assert_eq!(depths, [0, 1, 2, 1, 0]);
        let found = cgroups(&choices, &Filter::new("b"));
        assert_eq!(
            found.iter().map(|row| row.cgroup.path.as_str()).collect::<Vec<_>>(),
            ["/a.slice/b", "/a.slice/b/c"]
        );
    }

    proptest! {
        #[test]
        fn every_process_stands_once_in_a_tree_whatever_its_parents_are(parents in prop::collection::vec(0u32..12, 0..12)) {
            let processes: Vec<_> = parents.iter().enumerate().map(|(pid, &parent)| process(pid as u32, parent, "p", 0.1)).collect();
            let choices = Choices { processes, ..Choices::default() };
            let mut listed = pids(&super::processes(&choices, &Filter::default(), true));
            listed.sort_unstable();
            prop_assert_eq!(listed, (0..parents.len() as u32).collect::<Vec<_>>());
        }
    }
}
