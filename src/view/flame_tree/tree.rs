//! The cells of a flame graph, and how to find one.

use super::rates::FlameRates;
use crate::analysis::{CodeRate, Label};
use crate::view::code_ipc::CodeRates;
use crate::view::diff_flamegraph::DiffFlameGraph;
use serde::Serialize;

/// A call tree laid out for drawing: the children of a cell are adjacent and each cell holds its inclusive weight, so a
/// screen computes the visible cells without walking the rest. The arena it is built from, [`crate::analysis::CallTree`],
/// grows in any order and has neither.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FlameTree {
    /// Names of cells.
    pub labels: Vec<Label>,
    /// Cells. A parent's index is lower than its children's; the children of one parent are adjacent, sorted by name.
    pub nodes: Vec<Node>,
    /// How many of the first nodes have no parent.
    pub roots: u32,
    /// What the values count: `ns`, `cycles`, ...
    pub unit: &'static str,
    /// Sum over the roots.
    pub total: u64,
    /// Samples, or off-CPU spans, of all roots.
    pub samples: u64,
    /// Totals of the other side; `None` without a comparison.
    pub past: Option<ReferenceTotals>,
    /// Instructions per cycle and cache misses; `None` unless cycles and instructions were sampled.
    pub rates: Option<Box<FlameRates>>,
    /// Cost of each cell per operation at two points of a sweep, in the order of the nodes; `None` for one profile.
    pub difference: Option<Box<DiffFlameGraph>>,
}

/// A cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Node {
    /// Its caller.
    pub parent: Option<u32>,
    /// Index into [`FlameTree::labels`].
    pub label: u32,
    /// First of its children.
    pub first_child: u32,
    /// Number of its children.
    pub children: u32,
    /// Weight of it and everything it calls.
    pub value: u64,
    /// Weight of its own code.
    pub own: u64,
    /// Samples of it and everything it calls.
    pub samples: u64,
    /// Its weight on the other side; 0 if it was not there, or without a comparison.
    pub before: u64,
}

/// Totals of the other side of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ReferenceTotals {
    /// Sum of its weights.
    pub total: u64,
    /// Its samples.
    pub samples: u64,
}

/// How a cell's share changed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The difference of the shares, -1 to 1.
    pub points: f64,
    /// Its standard error from sampling alone.
    pub error: f64,
    /// From -2 (much less) to 2 (much more); 0 is within chance.
    pub step: i8,
}

impl FlameTree {
    /// A cell's name.
    #[must_use]
    pub fn label(&self, node: u32) -> Option<&Label> {
        self.labels.get(self.nodes.get(node as usize)?.label as usize)
    }

    /// A rate of a cell's function against that of all code; `None` if it is not known.
    #[must_use]
    pub fn rate_step(&self, node: u32, rate: CodeRate) -> Option<i8> {
        let rates = self.rates.as_ref()?;
        let steps = if rate == CodeRate::Cpi { &rates.cpi } else { &rates.mpki };
        *steps.get(self.nodes.get(node as usize)?.label as usize)?
    }

    /// The rates of a cell and everything it calls.
    #[must_use]
    pub fn path_rates(&self, node: u32) -> Option<CodeRates> {
        *self.rates.as_ref()?.paths.get(node as usize)?
    }

    /// The children of a cell, or the roots.
    pub fn below(&self, node: Option<u32>) -> std::ops::Range<u32> {
        match node.and_then(|node| self.nodes.get(node as usize)) {
            Some(node) => node.first_child..node.first_child + node.children,
            None if node.is_none() => 0..self.roots,
            None => 0..0,
        }
    }

    /// The cells from the root to this one.
    #[must_use]
    pub fn path(&self, node: u32) -> Vec<u32> {
        let up = |node: &u32| self.nodes.get(*node as usize).and_then(|node| node.parent);
        let mut path: Vec<u32> = std::iter::successors(Some(node), up).collect();
        path.reverse();
        path
    }

    /// The deepest cell found along these names from the root; names that are not found are skipped. If none of them is
    /// near the root, the heaviest cell with the last name, anywhere in the tree.
    #[must_use]
    pub fn find(&self, names: &[String]) -> Option<u32> {
        let mut at = None;
        for name in names {
            let same = |node: &u32| self.label(*node).is_some_and(|label| label.text == *name);
            let next = self.below(at).find(same).or_else(|| self.within(at, same));
            at = next.or(at);
        }
        at.or_else(|| self.heaviest(names.last()?))
    }

    fn heaviest(&self, name: &str) -> Option<u32> {
        let same = |node: &u32| self.label(*node).is_some_and(|label| label.text == name);
        (0..self.nodes.len() as u32).filter(same).max_by_key(|node| self.nodes[*node as usize].value)
    }

    /// The heaviest match at most a few levels below `node`: headings and kernel entries may lie in between.
    fn within(&self, node: Option<u32>, fits: impl Fn(&u32) -> bool) -> Option<u32> {
        const NEAR: usize = 4;
        let mut level: Vec<u32> = self.below(node).collect();
        for _ in 0..NEAR {
            let found = level.iter().copied().filter(&fits);
            if let Some(found) = found.max_by_key(|node| self.nodes[*node as usize].value) {
                return Some(found);
            }
            level = level.iter().flat_map(|node| self.below(Some(*node))).collect();
        }
        None
    }

    /// Fraction of the total, 0 to 1.
    #[must_use]
    pub fn share(&self, value: u64) -> f64 {
        if self.total == 0 { 0.0 } else { value as f64 / self.total as f64 }
    }

    /// How a cell's share changed; `None` without a comparison.
    #[must_use]
    pub fn change(&self, node: u32) -> Option<Change> {
        let (past, node) = (self.past?, self.nodes.get(node as usize)?);
        let before = if past.total == 0 { 0.0 } else { node.before as f64 / past.total as f64 };
        let now = self.share(node.value);
        let variance = |share: f64, samples: u64| share * (1.0 - share).max(0.0) / (samples.max(1) as f64);
        // The formula yields no variance for a share of zero. One sample more or less is within chance then.
        let least = 1.0 / (self.samples.max(1) as f64).powi(2) + 1.0 / (past.samples.max(1) as f64).powi(2);
        let error = (variance(now, self.samples) + variance(before, past.samples)).max(least).sqrt();
        let points = now - before;
        let step = match points.abs() {
            small if small <= 2.0 * error => 0,
            large if large >= 0.05 || now >= 2.0 * before || before >= 2.0 * now => 2,
            _ => 1,
        };
        Some(Change { points, error, step: if points < 0.0 { -step } else { step } })
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::flame_tree;
    use super::*;

    fn named(flame_tree: &FlameTree, name: &str) -> u32 {
        (0..flame_tree.nodes.len() as u32)
            .find(|node| flame_tree.label(*node).is_some_and(|label| label.text == name))
            .unwrap_or(u32::MAX)
    }

    #[test]
    fn cells_weigh_what_lies_below_them_and_children_are_neighbours_by_name() {
        let flame_tree = flame_tree("main;parse 10 main;work;b 30 main;work;a 50 main;work 5 other 5", None);
        assert_eq!((flame_tree.total, flame_tree.roots), (100, 2));
        let work = named(&flame_tree, "work");
        let node = flame_tree.nodes[work as usize];
        assert_eq!((node.value, node.own), (85, 5));
        let names: Vec<_> = flame_tree
            .below(Some(work))
            .filter_map(|child| flame_tree.label(child))
            .map(|label| label.text.as_str())
            .collect();
        assert_eq!(names, ["a", "b"]);
        for (at, node) in flame_tree.nodes.iter().enumerate() {
            assert!(
                flame_tree
                    .below(Some(at as u32))
                    .all(|child| flame_tree.nodes[child as usize].parent == Some(at as u32))
            );
            assert!(node.parent.is_none_or(|parent| (parent as usize) < at));
        }
    }

    #[test]
    fn a_path_is_found_by_names_with_gaps() {
        let flame_tree = flame_tree("[p 1];start;main;work;leaf 10 [p 1];start;idle 5 a;b;c;d;e;f;deep 1", None);
        for (names, expected) in [
            (&["main", "work"][..], "work"),
            (&["start", "main", "work", "gone", "leaf"], "leaf"),
            (&["start", "gone"], "start"),
            (&["deep"], "deep"),
        ] {
            let names: Vec<_> = names.iter().map(ToString::to_string).collect();
            let found =
                flame_tree.find(&names).and_then(|node| flame_tree.label(node)).map(|label| label.text.as_str());
            assert_eq!(found, Some(expected), "{names:?}");
        }
        assert_eq!(flame_tree.find(&["nothing".to_string()]), None);
    }

    #[test]
    fn a_change_is_told_from_chance() {
        let changed = flame_tree("main;a 500 main;b 480 main;new 20", Some("main;a 100 main;b 880 main;gone 20"));
        let step = |name| changed.change(named(&changed, name)).map(|change| change.step);
        assert_eq!((step("a"), step("b"), step("new"), step("main")), (Some(2), Some(-2), Some(2), Some(0)));
        let alike = flame_tree("main;a 52 main;b 48", Some("main;a 50 main;b 50"));
        assert_eq!(alike.change(named(&alike, "a")).map(|change| change.step), Some(0));
    }
}
