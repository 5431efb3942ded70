//! The call tree: call paths merged from the root. The trees of a profile, of the two sides of a comparison and of a
//! function's callers and callees are the same arena; they differ in what a function and a cost are.

use rustc_hash::FxHashMap;
use std::cmp::Ordering;
use std::hash::Hash;
use std::ops::AddAssign;

/// A call path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node<C> {
    /// Its caller; `None` for a root.
    pub parent: Option<u32>,
    /// The function at its end: index into [`CallTree::functions`].
    pub function: u32,
    /// Cost of the stacks that end here.
    pub own: C,
}

/// Call paths with their own costs; a parent's index is always lower than its child's.
#[derive(Debug, Clone)]
pub struct CallTree<F, C> {
    /// Distinct functions.
    pub functions: Vec<F>,
    /// The call paths.
    pub nodes: Vec<Node<C>>,
    ids: FxHashMap<F, u32>,
    children: FxHashMap<(Option<u32>, u32), u32>,
}

/// The place of a call path in [`CallTree::breadth_first`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its index in [`CallTree::nodes`].
    pub node: u32,
    /// The place of its caller.
    pub parent: Option<u32>,
    /// The place of its first child; the others follow.
    pub first_child: u32,
    /// Number of its children.
    pub children: u32,
}

impl<F, C> Default for CallTree<F, C> {
    fn default() -> Self {
        CallTree { functions: Vec::new(), nodes: Vec::new(), ids: FxHashMap::default(), children: FxHashMap::default() }
    }
}

/// The same paths in the same order; the indices follow from them.
impl<F: PartialEq, C: PartialEq> PartialEq for CallTree<F, C> {
    fn eq(&self, other: &Self) -> bool {
        self.functions == other.functions && self.nodes == other.nodes
    }
}

impl<F: Clone + Eq + Hash, C: Default> CallTree<F, C> {
    /// Adds a function that the caller keeps apart from all others by itself, and returns its number.
    pub fn push_function(&mut self, function: F) -> u32 {
        self.functions.push(function);
        self.functions.len() as u32 - 1
    }

    /// The number of a function; a new one gets the next.
    pub fn number(&mut self, function: F) -> u32 {
        let next = self.functions.len() as u32;
        *self.ids.entry(function).or_insert_with_key(|function| {
            self.functions.push(function.clone());
            next
        })
    }

    /// The path that continues `parent` with a function.
    pub fn child(&mut self, parent: Option<u32>, function: u32) -> u32 {
        let next = self.nodes.len() as u32;
        let node = *self.children.entry((parent, function)).or_insert(next);
        if node == next {
            self.nodes.push(Node { parent, function, own: C::default() });
        }
        node
    }

    /// The path of these functions, root first; `None` without functions.
    pub fn insert(&mut self, functions: impl IntoIterator<Item = F>) -> Option<u32> {
        functions.into_iter().fold(None, |parent, function| {
            let function = self.number(function);
            Some(self.child(parent, function))
        })
    }
}

impl<F, C> CallTree<F, C> {
    /// The function at the end of a path.
    #[must_use]
    pub fn function(&self, node: u32) -> &F {
        &self.functions[self.nodes[node as usize].function as usize]
    }

    /// The functions from the root to the end of a path.
    #[must_use]
    pub fn path(&self, node: u32) -> Vec<&F> {
        let up = |node: &u32| self.nodes[*node as usize].parent;
        let mut path: Vec<&F> = std::iter::successors(Some(node), up).map(|node| self.function(node)).collect();
        path.reverse();
        path
    }

    /// The same tree with other functions.
    pub fn map_functions<G>(self, f: impl FnMut(F) -> G) -> CallTree<G, C> {
        let functions = self.functions.into_iter().map(f).collect();
        CallTree { functions, nodes: self.nodes, ..CallTree::default() }
    }

    /// The paths that `keep` accepts, as long as it accepts their callers, and the number of roots. The children of one
    /// path are adjacent, ordered by their functions.
    pub fn breadth_first(&self, keep: impl Fn(u32) -> bool, order: impl Fn(&F, &F) -> Ordering) -> (Vec<Place>, u32) {
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); self.nodes.len()];
        let mut roots = Vec::new();
        for at in (0..self.nodes.len() as u32).filter(|at| keep(*at)) {
            let parent = self.nodes[at as usize].parent;
            parent.map_or(&mut roots, |parent| &mut children[parent as usize]).push(at);
        }
        let sort = |list: &mut Vec<u32>| list.sort_by(|a, b| order(self.function(*a), self.function(*b)));
        children.iter_mut().for_each(sort);
        sort(&mut roots);
        let place = |node: u32, parent| Place { node, parent, first_child: 0, children: 0 };
        let mut places: Vec<Place> = roots.iter().map(|root| place(*root, None)).collect();
        let mut at = 0;
        while at < places.len() {
            let below = &children[places[at].node as usize];
            (places[at].first_child, places[at].children) = (places.len() as u32, below.len() as u32);
            places.extend(below.iter().map(|child| place(*child, Some(at as u32))));
            at += 1;
        }
        (places, roots.len() as u32)
    }
}

impl<F, C: Copy + AddAssign> CallTree<F, C> {
    /// The cost of each path including its callees.
    #[must_use]
    pub fn inclusive(&self) -> Vec<C> {
        let mut sums: Vec<C> = self.nodes.iter().map(|node| node.own).collect();
        for at in (0..sums.len()).rev() {
            if let Some(parent) = self.nodes[at].parent {
                let below = sums[at];
                sums[parent as usize] += below;
            }
        }
        sums
    }
}

/// The own cost of a call path on the two sides of a comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SideCosts {
    /// At the base, and here.
    pub cost: [f64; 2],
    /// Samples behind the costs.
    pub samples: [u64; 2],
}

impl AddAssign for SideCosts {
    fn add_assign(&mut self, other: SideCosts) {
        for side in 0..2 {
            self.cost[side] += other.cost[side];
            self.samples[side] = self.samples[side].saturating_add(other.samples[side]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(paths: &[(&'static str, u64)]) -> CallTree<&'static str, u64> {
        let mut tree = CallTree::default();
        for (path, cost) in paths {
            if let Some(node) = tree.insert(path.split(';')) {
                tree.nodes[node as usize].own += cost;
            }
        }
        tree
    }

    #[test]
    fn paths_of_equal_functions_are_one_and_callers_hold_what_their_callees_cost() {
        let tree = tree(&[("main;work", 3), ("main;read;work", 4), ("main;work", 5), ("main", 1), ("", 0)]);
        let paths: Vec<_> = (0..tree.nodes.len() as u32)
            .map(|node| tree.path(node).iter().copied().copied().collect::<Vec<_>>().join(";"))
            .collect();
        assert_eq!(paths, ["main", "main;work", "main;read", "main;read;work", ""]);
        assert_eq!(tree.inclusive(), [13, 8, 4, 4, 0]);
    }

    #[test]
    fn children_lie_side_by_side_in_the_asked_order_and_what_is_not_kept_goes_with_all_below() {
        let tree = tree(&[("b;z", 1), ("b;y;q", 1), ("a", 1), ("b;y;p", 1)]);
        let names = |keep: fn(&str) -> bool| {
            let (places, roots) = tree.breadth_first(|node| keep(tree.function(node)), |a, b| a.cmp(b));
            let row = |place: &Place| format!("{}{}", tree.function(place.node), place.children);
            (places.iter().map(row).collect::<Vec<_>>().join(" "), roots)
        };
        assert_eq!(names(|_| true), ("a0 b2 y2 z0 p0 q0".to_string(), 2));
        assert_eq!(names(|name| name != "y"), ("a0 b1 z0".to_string(), 2));
    }
}
