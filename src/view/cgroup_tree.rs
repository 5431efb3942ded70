//! The control groups of a profile as a tree: those that threads are in, and those that hold several of them.

use crate::analysis::Cgroups;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A control group of the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Node {
    path: String,
    /// The nearest group of the tree that it lies in.
    parent: Option<u32>,
}

/// The tree. Groups that threads are in keep their number of [`Cgroups`]; others have higher ones.
#[derive(Debug, Clone, Default)]
pub(super) struct CgroupTree {
    nodes: FxHashMap<u32, Node>,
}

/// The groups that a path lies in, innermost first, without the root: that holds everything.
fn outer(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |path| path.rsplit_once('/').map(|(outer, _)| outer))
        .skip(1)
        .filter(|path| !path.is_empty())
}

impl CgroupTree {
    pub(super) fn of(cgroups: &Cgroups<'_>) -> CgroupTree {
        let own: Vec<&str> = (0..).map_while(|number| cgroups.path(number)).collect();
        // Each group with those directly in it.
        let mut inside: FxHashMap<&str, BTreeSet<&str>> = FxHashMap::default();
        for path in &own {
            let mut inner = *path;
            for outer in outer(path) {
                inside.entry(outer).or_default().insert(inner);
                inner = outer;
            }
        }
        let mut numbers: FxHashMap<&str, u32> = own.iter().copied().zip(0..).collect();
        let mut several: Vec<&str> = inside
            .iter()
            .filter(|(path, inside)| inside.len() > 1 && !numbers.contains_key(*path))
            .map(|(path, _)| *path)
            .collect();
        several.sort_unstable();
        numbers.extend(several.into_iter().zip(own.len() as u32..));
        let node = |(path, number): (&&str, &u32)| {
            let parent = outer(path).find_map(|outer| numbers.get(outer).copied());
            (*number, Node { path: (*path).to_string(), parent })
        };
        CgroupTree { nodes: numbers.iter().map(node).collect() }
    }

    /// The path of a group.
    pub(super) fn path(&self, number: u32) -> Option<&str> {
        self.nodes.get(&number).map(|node| node.path.as_str())
    }

    /// The group that it lies in.
    pub(super) fn parent(&self, number: u32) -> Option<u32> {
        self.nodes.get(&number)?.parent
    }

    /// A group and those that it lies in, innermost first.
    pub(super) fn with_outer(&self, number: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(number), |number| self.parent(*number))
    }

    /// Of a group and those that it lies in, the one on that level: 0 is the outermost. A group that is not known is alone.
    pub(super) fn on_level(&self, number: u32, level: usize) -> Option<u32> {
        let chain: Vec<u32> = self.with_outer(number).collect();
        chain.len().checked_sub(level + 1).map(|at| chain[at])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::testing::Synthetic;

    #[test]
    fn groups_that_hold_several_are_there_and_those_that_hold_one_are_not() {
        let mut synthetic = Synthetic::new();
        let paths = ["/a/b/web/main", "/a/b/db", "/a/b/web/side", "/x/y/only", "/", "/x/y/only/in"];
        for (tid, path) in (41..).zip(paths) {
            synthetic.joins(0, tid, path);
        }
        let profile = synthetic.finish();
        let tree = CgroupTree::of(&Cgroups::of(&profile));
        let chain = |number: u32| tree.with_outer(number).filter_map(|it| tree.path(it)).collect::<Vec<_>>();
        assert_eq!(chain(0), ["/a/b/web/main", "/a/b/web", "/a/b"]);
        assert_eq!(chain(1), ["/a/b/db", "/a/b"]);
        assert_eq!(chain(3), ["/x/y/only"]);
        assert_eq!(chain(4), ["/"]);
        assert_eq!(chain(5), ["/x/y/only/in", "/x/y/only"]);
        assert_eq!(tree.nodes.len(), 8, "{tree:?}");
    }
}
